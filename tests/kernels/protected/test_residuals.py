"""Residuals: against their definitions, summed over all responses that a record could have."""

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.protected.residuals import CLIP, Count, Number, Probit

ETA = np.array([-3.0, -1.6, -0.5, 0.0, 0.7, 2.0])
STEP = 1e-6


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 4.0, 30.0, 2000.0])
@pytest.mark.parametrize("root", [0.5, 1.0, 3.0])
def test_counts_have_residuals_of_expectation_zero(mu, root):
    """Whatever the clip, and whatever the mean: that is Cantoni and Ronchetti's correction."""
    y = np.arange(0.0, mu + 60 * np.sqrt(mu) + 40)
    share = stats.poisson.pmf(y, mu)
    r, slope = Count(np.full(len(y), root)).at(y, np.full(len(y), np.log(mu)), slice(None))
    assert share @ r == pytest.approx(0, abs=1e-9 * (1 + mu))
    assert slope[0] == pytest.approx(
        share @ (r * (y - mu)), rel=1e-6
    )  # what falls with log μ, as for any such residual
    assert np.abs(r).max() <= Count(np.full(1, root)).most(np.log([mu]), slice(None))[0] * root + 1e-9


def test_counts_inside_the_clip_are_poisson_scores():
    r, slope = Count(np.full(3, 100.0)).at(np.array([0.0, 2.0, 5.0]), np.log(np.full(3, 2.0)), slice(None))
    np.testing.assert_allclose(r, [-2.0, 0.0, 3.0], atol=1e-9)
    np.testing.assert_allclose(slope, 2.0, rtol=1e-9)


def test_probit_residuals_are_scores_where_nothing_is_clipped():
    eta = ETA[np.abs(ETA) < 1.5]  # Pearson residuals stay below 4 for probabilities between 1/17 and 16/17
    for y in (0.0, 1.0):
        r, _ = Probit().at(np.full(len(eta), y), eta, slice(None))
        up, down = (np.log(stats.norm.cdf((2 * y - 1) * (eta + s))) for s in (STEP, -STEP))
        np.testing.assert_allclose(r, (up - down) / (2 * STEP), rtol=1e-6)


def test_probit_residuals_by_their_definition():
    """ψ of Pearson's residual, less its expectation, times φ / √V."""
    p, density = stats.norm.cdf(ETA), stats.norm.pdf(ETA)
    root = np.sqrt(p * (1 - p))
    one, zero = np.minimum((1 - p) / root, CLIP), -np.minimum(p / root, CLIP)
    mean = p * one + (1 - p) * zero
    for y, psi in ((1.0, one), (0.0, zero)):
        r, slope = Probit().at(np.full(len(ETA), y), ETA, slice(None))
        np.testing.assert_allclose(r, (psi - mean) * density / root, rtol=1e-10)
    np.testing.assert_allclose(slope, (one - zero) / root * density**2, rtol=1e-10)


def test_probit_residuals_never_differ_by_more_than_their_bound():
    eta = np.linspace(-12, 12, 4801)
    gap = Probit().at(np.ones(len(eta)), eta, slice(None))[0] - Probit().at(np.zeros(len(eta)), eta, slice(None))[0]
    assert gap.max() <= Probit().bound * (1 + 1e-12)
    assert gap.max() >= 0.999 * Probit().bound
    assert np.isfinite(Probit().at(np.ones(2), np.array([-40.0, 40.0]), slice(None))[0]).all()


def test_numbers_are_clipped():
    r, slope = Number(4.0).at(np.array([-9.0, 0.5, 9.0]), np.zeros(3), slice(None))
    assert r.tolist() == [-4.0, 0.5, 4.0]
    assert slope.tolist() == [0.0, 1.0, 0.0]
