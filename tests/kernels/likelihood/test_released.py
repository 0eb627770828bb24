"""Densities of released values against scipy's distributions; masses and densities must sum to 1."""

import numpy as np
import pytest
from scipy import integrate, stats

from sfumato.kernels.grid import round_within
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


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize(("low", "high"), [(-0.5, 1.5), (-0.63, 1.41), (-0.41, 1.63)])
def test_bounds_that_are_no_multiples_have_what_is_rounded_beyond_them(name, low, high):
    """By scipy's distribution: masses sum to 1, and each is that of the sums that `round_within` brings there."""
    law, step = Law(name, low, high, 0.5), 0.5
    z = np.unique(np.clip(np.arange(-1.5, 3, step), low, high))
    mass = np.exp(released_table(z, X, SD, law))
    np.testing.assert_allclose(mass.sum(axis=0), 1, rtol=1e-12)
    sums = np.linspace(-12, 16, 2_800_001)
    for j, (x, s) in enumerate(zip(X, SD, strict=True)):
        weight = np.diff(DISTRIBUTIONS[name](x, s).cdf(np.append(sums, 16 + 1e-5)))
        there = round_within(sums + 5e-6, step, low, high)
        wanted = [weight[there == value].sum() for value in z]
        np.testing.assert_allclose(mass[:, j], wanted, atol=2e-5)  # sums lie 1e-5 apart


def test_intervals_of_true_values_are_those_that_are_released_so():
    """Without noise a value is released as itself, rounded within bounds off the grid."""
    law = Law("gaussian", 0.3, 9.8, 1.0)
    x = np.linspace(-1, 11, 12_001) + 1e-4
    z = round_within(x, 1.0, 0.3, 9.8)
    low, high = law.interval(z)
    assert ((low <= x) & (x <= high)).all()
    ends = np.unique(np.concatenate([low, high]))
    assert ends[np.isfinite(ends)].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]
