"""Mixtures seen through noise: EM climbs, finds parts that are clear, and hangs on no order of rows."""

import numpy as np
import pytest

from sfumato.kernels.likelihood.deconvolution import deconvolve, thinned


def drawn(seed=0):
    """Two thousand of 0.8 N(−0.5, 0.4²) + 0.2 N(2, 0.6²), with noise of variance 0.25."""
    rng = np.random.default_rng(seed)
    high = rng.random(2000) < 0.2
    x = np.where(high, rng.normal(2, 0.6, 2000), rng.normal(-0.5, 0.4, 2000))
    return (x + rng.normal(0, 0.5, 2000))[:, None]


def test_clear_parts_are_found():
    """Within 0.15: some three standard errors of the smaller part's mean and deviation, which EM has not settled."""
    *_, two = deconvolve(drawn(), np.ones(2000), np.array([[0.25]]), 2)
    order = np.argsort(two.means[:, 0])
    np.testing.assert_allclose(two.weights[order], [0.8, 0.2], atol=0.05)
    np.testing.assert_allclose(two.means[order, 0], [-0.5, 2.0], atol=0.15)
    np.testing.assert_allclose(np.sqrt(two.covariances[order, 0, 0]), [0.4, 0.6], atol=0.15)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_order_of_rows_changes_nothing(columns):
    u = np.column_stack([drawn(seed) for seed in range(columns)])
    other = np.random.default_rng(1).permutation(len(u))
    noise = 0.25 * np.eye(columns)
    for a, b in zip(deconvolve(u, np.ones(2000), noise, 3), deconvolve(u[other], np.ones(2000), noise, 3), strict=True):
        np.testing.assert_allclose(a.means, b.means, rtol=1e-6, atol=1e-8)


def test_points_keep_mean_and_nearly_the_variance():
    """Intervals of width h take h²/12 off the variance at most: 0.02% at h = 0.05 standard deviations."""
    u = drawn()
    points, weight = thinned(u, np.ones(2000))
    assert len(points) < 250
    assert weight @ points[:, 0] / 2000 == pytest.approx(u.mean(), abs=1e-12)
    assert weight @ points[:, 0] ** 2 / 2000 == pytest.approx((u**2).mean(), rel=1e-3)
