import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.sampling.convergence import bulk_effective, split_r_hat
from sfumato.kernels.sampling.hamiltonian import ACCEPT, hamiltonian_chains

COVARIANCE = np.array([[1.0, 9.0, 0.0], [9.0, 100.0, 0.0], [0.0, 0.0, 1e-4]])
PRECISION = np.linalg.inv(COVARIANCE)


def normal(x):
    """Mean (1, 2, 3), a correlation of .9, scales from .01 to 10."""
    gap = x - [1.0, 2.0, 3.0]
    return -0.5 * float(gap @ PRECISION @ gap), -PRECISION @ gap


@pytest.mark.slow
def test_a_normal_density_from_a_wrong_guess_of_its_shape():
    """4,000 draws of some 3,000 effective: means to 4 sd/√3,000, variances to 4 √(2/3,000)."""
    rng = np.random.default_rng(1)
    chains = hamiltonian_chains(normal, rng.normal(size=(4, 3)) * [2, 20, 0.02], np.diag([1.0, 1.0, 1.0]), 1000, rng)
    flat, sd = chains.draws.reshape(-1, 3), np.sqrt(np.diagonal(COVARIANCE))
    np.testing.assert_allclose((flat.mean(axis=0) - [1, 2, 3]) / sd, 0, atol=4 / np.sqrt(3000))
    np.testing.assert_allclose(np.cov(flat.T) / np.outer(sd, sd), COVARIANCE / np.outer(sd, sd), atol=0.11)
    assert max(split_r_hat(chains.draws[:, :, j]) for j in range(3)) < 1.01
    assert min(bulk_effective(chains.draws[:, :, j]) for j in range(3)) > 1500
    assert chains.acceptance.mean() == pytest.approx(ACCEPT, abs=0.12)
    assert not chains.diverging.any()
    np.testing.assert_allclose(chains.log_density[2, 5], normal(chains.draws[2, 5])[0])


@pytest.mark.slow
def test_a_skew_density_is_drawn_as_it_is():
    """The logarithm of a gamma variable of shape .5, far from normal: its distribution function at every tenth.

    Shares of 8,000 draws, of which a third count: standard error at most .01; four of these.
    """
    rng = np.random.default_rng(2)
    chains = hamiltonian_chains(
        lambda x: (float(0.5 * x[0] - np.exp(x[0])), 0.5 - np.exp(x)), rng.normal(size=(4, 1)), np.eye(1), 2000, rng
    )
    deciles = np.log(stats.gamma(0.5).ppf(np.arange(1, 10) / 10))
    np.testing.assert_allclose((chains.draws.ravel()[:, None] < deciles).mean(axis=0), np.arange(1, 10) / 10, atol=0.04)


@pytest.mark.slow
def test_places_without_density_are_never_entered():
    """A normal density on positive numbers only: its mean is √(2/π). Standard error .6/√300; four of these."""
    rng = np.random.default_rng(3)

    def half(x):
        return (-0.5 * float(x @ x), -x) if x[0] > 0 else (-np.inf, np.zeros(1))

    chains = hamiltonian_chains(half, rng.uniform(0.5, 2, size=(4, 1)), np.eye(1), 500, rng)
    assert (chains.draws > 0).all()
    assert chains.draws.mean() == pytest.approx(np.sqrt(2 / np.pi), abs=4 * 0.6 / np.sqrt(300))
    assert chains.diverging.any()


def test_modes_apart_are_told():
    """Two normal densities 40 standard deviations apart: chains stay where they began, and R-hat says so."""

    def two(x):
        near = 20 * np.sign(x)
        return -0.5 * float(((x - near) ** 2).sum()), near - x

    starts = np.array([[-20.0], [-20.0], [20.0], [20.0]])
    rng = np.random.default_rng(4)
    chains = hamiltonian_chains(two, starts, np.eye(1), 200, rng, warm_up=(50,))
    assert split_r_hat(chains.draws[:, :, 0]) > 1.5
