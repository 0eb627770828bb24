"""Against sums and integrals over all that can be released: the mean of an indicator's estimate is the indicator."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.corrected.categories import fitted_shares, released_points, unbiased_indicators
from sfumato.kernels.likelihood.released import Law

LEVELS = np.array([0.0, 1.0, 2.5])
SD = np.array([0.6, 0.6, 0.9])
SHARES = np.array([0.2, 0.5, 0.3])


def estimates(z, law, points):
    density = np.exp(law.log_density(np.asarray(z)[:, None], LEVELS, SD))
    return unbiased_indicators(density, SHARES, *points)


def standard(distribution):
    return {
        "gaussian": stats.norm(),
        "laplace": stats.laplace(scale=0.5**0.5),
        "uniform": stats.uniform(-(3**0.5), 2 * 3**0.5),
    }[distribution]


def mean(level, law):
    """E φ given a true level: bounds by their probability, between them piece by piece where densities bend or jump."""
    noise, sd, x = standard(law.distribution), SD[level], LEVELS[level]
    out, points = np.zeros(len(LEVELS)), released_points(LEVELS, SD, law)[1:]
    for bound, probability in ((law.low, noise.cdf), (law.high, noise.sf)):
        if math.isfinite(bound) and (p := probability((bound - x) / sd)) > 0:
            out += p * estimates([bound], law, points)[0]
    jumps = np.concatenate([LEVELS, LEVELS - 3**0.5 * SD, LEVELS + 3**0.5 * SD])
    low, high = max(law.low, x - 22 * sd), min(law.high, x + 22 * sd)
    edges = np.unique(np.clip([low, *jumps, high], low, high))
    t, w = np.polynomial.legendre.leggauss(400)
    for a, b in itertools.pairwise(edges):
        z = (a + b) / 2 + (b - a) / 2 * t
        pdf = noise.pdf((z - x) / sd) / sd
        there = pdf > 0
        out += (b - a) / 2 * (w * pdf)[there] @ estimates(z[there], law, points)
    return out


@pytest.mark.parametrize("law", [
    Law(),
    Law("laplace"),
    Law(low=0.0, high=2.5),
    Law("laplace", low=-0.2),
    Law("uniform"),
    Law("uniform", high=2.0),
])  # fmt: skip
def test_noise_on_categories(law):
    for level in range(3):
        np.testing.assert_allclose(mean(level, law), np.eye(3)[level], atol=2e-4)


@pytest.mark.parametrize("law", [Law(rounded=0.5), Law(rounded=0.5, low=0.0, high=2.0), Law(rounded=0.3, high=2.5)])
def test_rounded_noise_on_categories(law):
    """Probabilities of what is released, by simulating none of it: differences of normal distribution functions."""
    bounds = [b for b in (law.low, law.high) if math.isfinite(b)]
    z = law.rounded * np.arange(-30, 60)
    z = np.concatenate([z[(z > law.low) & (z < law.high)], bounds])
    low, high = law.edges
    for level in range(3):
        cdf = stats.norm(LEVELS[level], SD[level]).cdf
        probability = cdf(np.minimum(z + law.rounded / 2, high)) - cdf(np.maximum(z - law.rounded / 2, low))
        probability = np.where(z <= law.low, cdf(low), np.where(z >= law.high, 1 - cdf(high), probability))
        assert probability.sum() == pytest.approx(1)
        np.testing.assert_allclose(
            probability @ estimates(z, law, released_points(LEVELS, SD, law)[1:]), np.eye(3)[level], atol=1e-6
        )


def test_exchanged_categories_have_the_inverse_matrix():
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])  # of a true category, what is released
    for shares in (SHARES, np.ones(3) / 3):
        ours = unbiased_indicators(matrix.T, shares, matrix.T, np.ones(3))
        np.testing.assert_allclose(ours, np.linalg.inv(matrix), atol=1e-12)


def test_what_cannot_be_told_apart_has_no_estimate():
    alike = np.full((2, 2), 0.5)
    assert unbiased_indicators(alike, np.array([0.5, 0.5]), alike, np.ones(2)) is None


def test_they_sum_to_one_and_vary_less_than_the_released_value():
    """The notes' case: of a 0/1 column z itself has mean x as well; φ is at least as precise where shares are right."""
    law, x, sd = Law(), np.array([0.0, 1.0]), np.full(2, 0.5)

    def phi(z):
        density = np.exp(law.log_density(np.atleast_1d(z)[:, None], x, sd))
        return unbiased_indicators(density, np.array([0.6, 0.4]), *points)

    points = released_points(x, sd, law)[1:]
    t, w = np.polynomial.hermite_e.hermegauss(80)
    np.testing.assert_allclose(phi(t).sum(axis=1), 1)
    spread = [w @ (phi(true + 0.5 * t)[:, 1] - true) ** 2 / w.sum() for true in x]
    assert 0.6 * spread[0] + 0.4 * spread[1] < 0.9 * 0.25


def test_shares_of_true_categories():
    """By the likelihood: of 200 records of which .7 stay, 95 and 105 come out of true shares .4375 and .5625."""
    density = np.repeat([[0.7, 0.3], [0.3, 0.7]], [95, 105], axis=0)
    np.testing.assert_allclose(fitted_shares(density, np.ones(200)), [0.4375, 0.5625], atol=2e-3)
    weights = np.where(np.arange(200) < 95, 105 / 95, 95 / 105)
    np.testing.assert_allclose(fitted_shares(density, weights), [0.5625, 0.4375], atol=2e-3)
    never = fitted_shares(np.repeat([[1.0, 0.0]], 5, axis=0), np.ones(5))
    assert 0 < never[1] < 0.01
