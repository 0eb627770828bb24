import numpy as np
import polars as pl

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people

FRAME = people()


def test_the_mean_of_all():
    cost = FRAME["cost"].to_numpy()
    fit = exact_fit(asked("mean", "cost ~ 1"))
    np.testing.assert_allclose(fit.estimate, [cost.mean()], rtol=1e-10)
    np.testing.assert_allclose(fit.se, [cost.std(ddof=1) / np.sqrt(len(cost))], rtol=1e-10)
    near("mean", "cost ~ 1", [cost.mean()])


def test_the_means_of_groups():
    wanted = FRAME.group_by("ward").agg(pl.col("cost").mean()).sort("ward")["cost"].to_numpy()
    np.testing.assert_allclose(exact_fit(asked("mean", "cost ~ ward")).estimate, wanted, rtol=1e-10)
    near("mean", "cost ~ ward", wanted)
