"""Quantiles and correlations: closed forms, and what their weights leave as it is."""

import math

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.protected.simple import correlation, plain_correlation, plain_quantile, quantile


def all_of(n):
    return {"keep": np.ones(n, dtype=bool), "noise": np.zeros(1), "tau": 1.0}


@pytest.mark.parametrize("count", [4, 9])
def test_a_quantile_is_the_mean_of_its_neighbours(count):
    """2 · count + 3 of them, around rank n p."""
    y = np.random.default_rng(1).permutation(np.arange(1000.0) ** 2)
    side = count + 1
    expected = (np.arange(299 - side, 300 + side) ** 2.0).mean()
    assert len(range(299 - side, 300 + side)) == 2 * count + 3
    assert quantile(y, 0.3, count, **all_of(1000)).estimate[0] == pytest.approx(expected)


def test_a_quantiles_standard_error_is_that_of_its_rank_over_the_density():
    n = 200_001
    y = stats.norm.ppf((np.arange(n) + 0.5) / n)
    for probability in (0.5, 0.9):
        found = quantile(y, probability, 4, **all_of(n))
        expected = math.sqrt(probability * (1 - probability) / n) / stats.norm.pdf(stats.norm.ppf(probability))
        assert found.se[0] == pytest.approx(expected, rel=0.01)
        assert plain_quantile(y, probability).se[0] == pytest.approx(expected, rel=0.01)
        most = max(probability, 1 - probability) / math.sqrt(probability * (1 - probability))
        assert found.bound == pytest.approx(most)
        assert found.se_added[0] / found.se[0] == pytest.approx(most / math.sqrt(n), rel=0.01)


@pytest.mark.parametrize("r", [-0.9, 0.0, 0.6])
def test_a_correlation_of_normal_columns(r):
    """Its bound is half the 99th percentile of χ² with 2 degrees of freedom, its standard error (1 − r²) / √n."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=(40_000, 2))
    y = r * z[:, 0] + math.sqrt(1 - r**2) * z[:, 1]
    ours, theirs = correlation(z[:, 0], y, **all_of(40_000)), plain_correlation(z[:, 0], y)
    assert ours.estimate[0] == pytest.approx(theirs.estimate[0], abs=0.5 * theirs.se[0])
    assert ours.bound == pytest.approx(stats.chi2(2).ppf(0.99) / 2, rel=0.05)
    assert ours.se[0] == pytest.approx((1 - r**2) / 200, rel=0.03)
    assert theirs.estimate[0] == pytest.approx(stats.pearsonr(z[:, 0], y).statistic, rel=1e-10)


def test_units_change_nothing_and_signs_only_the_sign():
    rng = np.random.default_rng(3)
    x, e = rng.normal(size=(2, 500))
    one, two = (correlation(a, b, **all_of(500)) for a, b in ((x, x + e), (1e6 + 1e3 * x, -1e-4 * (x + e))))
    assert two.estimate[0] == pytest.approx(-one.estimate[0], rel=1e-6)
    assert two.se[0] == pytest.approx(one.se[0], rel=1e-6)


def test_noise_never_takes_a_correlation_beyond_one():
    rng = np.random.default_rng(4)
    x, e = rng.normal(size=(2, 60))
    for noise in (-5.0, 5.0):
        given = all_of(60) | {"noise": np.array([noise]), "tau": 10.0}
        assert -1 < correlation(x, x + 0.1 * e, **given).estimate[0] < 1


def test_two_groups_have_their_point_biserial_correlation():
    rng = np.random.default_rng(5)
    group = (rng.random(20_000) < 0.3).astype(float)
    y = group + rng.normal(size=20_000)
    ours, theirs = correlation(group, y, **all_of(20_000)), plain_correlation(group, y)
    assert abs(ours.estimate[0] - theirs.estimate[0]) < theirs.se[0]
