"""Densities of released values against scipy's distributions; masses and densities must sum to 1."""

import numpy as np
import pytest
from scipy import integrate, stats

from sfumato.kernels.likelihood.released import Law, gaussian_table, released_table

X, SD = np.array([0.0, 1.0, 2.5]), np.array([0.5, 0.5, 0.8])
Z = np.array([-0.7, 0.2, 1.4, 3.0])
DISTRIBUTIONS = {
    "gaussian": lambda x, s: stats.norm(x, s),
    "laplace": lambda x, s: stats.laplace(x, s / np.sqrt(2)),
    "uniform": lambda x, s: stats.uniform(x - s * np.sqrt(3), 2 * s * np.sqrt(3)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_plain_noise_has_scipys_density(name):
    ours = np.exp(released_table(Z, X, SD, Law(name)))
    wanted = np.column_stack([DISTRIBUTIONS[name](x, s).pdf(Z) for x, s in zip(X, SD, strict=True)])
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_clipped_noise_has_masses_at_the_bounds(name):
    law = Law(name, 0.0, 1.0)
    at = np.exp(released_table(np.array([0.0, 1.0]), X, SD, law))
    for j, (x, s) in enumerate(zip(X, SD, strict=True)):
        true = DISTRIBUTIONS[name](x, s)
        np.testing.assert_allclose(at[:, j], [true.cdf(0), true.sf(1)], rtol=1e-9, atol=1e-12)
        between, _ = integrate.quad(
            lambda z, x=x, s=s: np.exp(released_table(np.array([z]), np.array([x]), np.array([s]), law))[0, 0],
            1e-9, 1 - 1e-9, limit=200, points=[0.134, 0.866],
        )  # fmt: skip
        assert at[:, j].sum() + between == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_rounded_noise_is_a_mass_for_each_multiple(name):
    grid = np.arange(-40, 48) * 0.5
    bounded = grid[(grid >= -1) & (grid <= 3)]
    for law, values in ((Law(name, rounded=0.5), grid), (Law(name, -1.0, 3.0, 0.5), bounded)):
        masses = np.exp(released_table(values, X, SD, law))
        np.testing.assert_allclose(masses.sum(axis=0), 1, atol=1e-7)
    true = DISTRIBUTIONS[name](1.0, 0.5)
    ours = np.exp(released_table(np.array([1.5]), X, SD, Law(name, rounded=0.5)))[0, 1]
    assert ours == pytest.approx(true.cdf(1.75) - true.cdf(1.25), rel=1e-9)


def test_missing_says_nothing_and_no_noise_says_all():
    table = released_table(np.array([np.nan, 1.0]), X, np.zeros(3), Law())
    np.testing.assert_array_equal(table, [[0, 0, 0], [-np.inf, 0, -np.inf]])


def test_correlated_noise_has_scipys_density_also_with_gaps():
    covariance = np.array([[0.4, 0.1], [0.1, 0.3]])
    x = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    z = np.array([[0.3, -0.2], [np.nan, 0.8], [np.nan, np.nan]])
    table = gaussian_table(z, x, covariance)
    for k, true in enumerate(x):
        assert table[0, k] == pytest.approx(stats.multivariate_normal(true, covariance).logpdf(z[0]))
        assert table[1, k] == pytest.approx(stats.norm(true[1], 0.3**0.5).logpdf(0.8))
    np.testing.assert_array_equal(table[2], 0)
