"""Quantiles of banded numbers against those of the distributions they were drawn from."""

import itertools

import numpy as np
import pytest
from scipy import stats

from sfumato.inference.covariates.band_scores import band_scores

U = np.linspace(-2.5, 2.5, 101)
OPEN = (-np.inf, np.inf)


def scores(law, cuts, ends=OPEN):
    """Scores from exact shares of the bands."""
    shares = np.diff([0.0, *law.cdf(cuts), 1.0])
    return band_scores(list(itertools.pairwise([ends[0], *cuts, ends[1]])), shares * 1e9)


@pytest.mark.parametrize(
    ("law", "cuts", "ends", "within"),
    [
        (stats.norm(45, 12), [30, 40, 50, 60], OPEN, 1e-6),
        (stats.norm(45, 12), [30, 40], OPEN, 1e-6),
        (stats.lognorm(0.5, scale=20), [10, 20, 30, 50], OPEN, 0.06),
        (stats.uniform(18, 72), [30, 45, 60, 75], (18, 90), 0.02),
        (stats.uniform(18, 72), [40], (18, 90), 1e-6),
    ],
)
def test_numbers_have_the_quantiles_of_their_law(law, cuts, ends, within):
    """As a share of the law's standard deviation, where the law's own quantile is within 2.5 scores of its median."""
    found = scores(law, cuts, ends).values(U)
    assert np.all(np.diff(found) > 0)
    assert np.abs(found - law.ppf(stats.norm.cdf(U))).max() < within * law.std()


def test_cut_points_stand_where_the_shares_put_them():
    law = stats.expon(scale=30)
    found = scores(law, [10, 20, 50], (0, np.inf))
    np.testing.assert_allclose(found.values(stats.norm.ppf(law.cdf([10, 20, 50]))), [10, 20, 50])


def test_bands_with_a_gap_leave_it_empty():
    found = band_scores([(0.0, 1.0), (1.0, 2.0), (5.0, 6.0), (6.0, np.inf)], [20, 30, 30, 20])
    values = found.values(U)
    assert not np.any((values > 2.0 + 1e-9) & (values < 5.0 - 1e-9))
