import numpy as np
import polars as pl
from scipy.stats import ttest_ind

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people

FRAME = people()


def test_the_difference_of_two_means():
    groups = [FRAME.filter(pl.col("sex") == sex)["cost"].to_numpy() for sex in "FM"]
    fit = exact_fit(asked("t", "cost ~ sex"))
    np.testing.assert_allclose(fit.estimate, [groups[0].mean(), groups[1].mean() - groups[0].mean()], rtol=1e-10)
    found = ttest_ind(groups[1], groups[0])
    np.testing.assert_allclose(fit.estimate[1] / fit.se[1], found.statistic, rtol=1e-9)
    near("t", "cost ~ sex", fit.estimate)
