import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.masking.noise import factor, nearest_correlation, standard

U = (np.arange(200_000) + 0.5) / 200_000  # every quantile once, so that moments are those of the distribution


@pytest.mark.parametrize(
    ("distribution", "peer"),
    [
        ("gaussian", stats.norm()),
        ("laplace", stats.laplace(scale=0.5**0.5)),
        ("uniform", stats.uniform(-(3**0.5), 12**0.5)),
    ],
)
def test_draws_follow_the_distribution_with_variance_one(distribution, peer):
    e = standard(U, distribution)
    np.testing.assert_allclose(e, peer.ppf(U), rtol=1e-9, atol=1e-9)
    assert abs(e.mean()) < 1e-9
    assert e.var() == pytest.approx(1, abs=5e-4)  # the grid leaves out the last 1/400,000 of each tail


@pytest.mark.parametrize("seed", range(5))
def test_factor_of_any_covariance(seed):
    a = np.random.default_rng(seed).normal(size=(6, 4))
    covariance = a @ a.T  # of rank 4
    lower = factor(covariance)
    np.testing.assert_allclose(lower @ lower.T, covariance, atol=1e-9)
    assert np.all(np.triu(lower, 1) == 0)
    np.testing.assert_allclose(factor(covariance[:3, :3]), np.linalg.cholesky(covariance[:3, :3]), atol=1e-9)


def test_a_correlation_that_rounding_broke_is_mended_and_little_moved():
    r = np.array([[1, 0.999, 0.5], [0.999, 1, 0.46], [0.5, 0.46, 1]])
    assert np.linalg.eigvalsh(r).min() < 0
    mended = nearest_correlation(r)
    assert np.linalg.eigvalsh(mended).min() >= -1e-12
    assert np.abs(mended - r).max() < 0.01
    assert np.all(np.diag(mended) == 1)
