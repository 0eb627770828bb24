"""The integral over random effects against closed forms, and its score against differences."""

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture, Group
from sfumato.kernels.likelihood.mixture import Factors, Mixture, Patterns
from sfumato.kernels.likelihood.random_effects import RandomEffects, product_rule
from sfumato.kernels.likelihood.response import Binary, Linear

RNG = np.random.default_rng(1)
N = 32
GROUP = RNG.permutation(np.repeat(np.arange(8), 4))
S = RNG.normal(size=N)
X = {1: np.ones((N, 1)), 2: np.column_stack([np.ones(N), S])}
NONE = np.full(N, np.nan)


def linear(rng):
    return Linear(rng.normal(size=N), np.zeros(N), NONE, NONE)


def binary(logit, rng):
    y = rng.integers(0, 2, N).astype(float)
    return Binary(np.log(0.05 + 0.9 * np.column_stack([1 - y, y])), logit)


def exact(response, rng=None):
    E = np.column_stack([np.ones(N), S])
    nothing = Patterns(np.zeros((1, 0)), np.zeros((N, 0)))
    return Mixture(E, np.ones((1, 2)), response, nothing, None, np.arange(N + 1), np.ones(N))


def hidden(response, rng):
    """A hidden binary covariate (column 2) and two hidden continuous ones, of which some rows lack the second."""
    E = np.column_stack([np.ones(N), S, np.ones(N), np.ones(N), np.ones(N)])
    Q = np.array([[1.0, 1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    factors = Factors([rng.uniform(0.1, 1, (N, 2))], [np.array([0, 1])], rng.normal(size=N))
    noise = np.array([[0.3, 0.1], [0.1, 0.4]])
    groups = [Group(0, 20, np.array([0, 1]), noise), Group(20, N, np.array([0]), noise[:1, :1])]
    owner = np.array([-1, -1, -1, 0, 1])
    patterns = Patterns(np.array([[0.0], [1.0]]), S[:, None])
    return GaussianMixture(
        E, Q, owner, response, patterns, factors, rng.normal(size=(N, 2)), np.eye(2), groups, np.ones(N)
    )


def build(model, d, nodes=15):
    return RandomEffects(model, np.arange(N), GROUP, X[d], nodes)


def parameters(work, rng):
    theta = 0.3 * rng.normal(size=work.size)
    theta[work.model.size :] = [0.7] if work.effects == 1 else [0.7, -0.2, 0.5]
    return theta


@pytest.mark.parametrize("d", [1, 2])
def test_a_linear_model_is_a_normal_vector(d):
    """The integrand is normal, so that the quadrature is exact up to rounding."""
    rng = np.random.default_rng(2)
    work = build(exact(linear(rng)), d)
    theta = parameters(work, rng)
    root = work.split(theta)[1]
    mean, sigma = theta[0] + theta[1] * S, np.exp(theta[2])
    wanted = 0.0
    for g in range(8):
        rows = g == GROUP
        z = X[d][rows] @ root
        covariance = z @ z.T + sigma**2 * np.eye(4)
        wanted += stats.multivariate_normal.logpdf(work.model.response.y[rows], mean[rows], covariance)
    assert work.look(theta).log_likelihood == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("make", [linear, lambda rng: binary(False, rng), lambda rng: binary(True, rng)])
@pytest.mark.parametrize("build_model", [exact, hidden])
def test_the_score_is_the_slope_of_the_log_likelihood(build_model, make, d):
    """Differences are good to about 1e-6; 2e-4 leaves room for the quadrature, whose own slope differs a little.

    Along five directions, in each of which every parameter moves.
    """
    rng = np.random.default_rng(5)
    work = build(build_model(make(rng), rng), d, 21)
    theta = parameters(work, rng)
    gradient = work.look(theta).gradient
    h = 1e-5 * rng.choice([-1.0, 1.0], (5, work.size)) * rng.uniform(0.5, 1.0, (5, work.size))
    rises = [work.look(theta + e).log_likelihood - work.look(theta - e).log_likelihood for e in h]
    np.testing.assert_allclose(h @ gradient, np.array(rises) / 2, atol=2e-9)


def test_order_of_rows_changes_nothing():
    rng = np.random.default_rng(3)
    work = build(exact(binary(True, rng)), 2)
    theta = parameters(work, rng)
    order = rng.permutation(N)
    model = work.model
    other = Mixture(
        model.E[order], model.Q, model.response.take(order), Patterns(np.zeros((1, 0)), np.zeros((N, 0))), None,
        np.arange(N + 1), np.ones(N),
    )  # fmt: skip
    moved = RandomEffects(other, np.arange(N), (GROUP + 3)[order], X[2][order])
    one, two = work.look(theta), moved.look(theta)
    assert two.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(two.gradient, one.gradient, atol=1e-10)


def test_the_rule_is_exact_for_polynomials():
    """Five nodes a dimension integrate polynomials up to degree nine: moments of a standard normal."""
    points, log_weights = product_rule(5, 2)
    w = np.exp(log_weights)
    np.testing.assert_allclose(w @ points[:, 0] ** 8, 105, rtol=1e-12)
    np.testing.assert_allclose(w @ (points[:, 0] ** 4 * points[:, 1] ** 6), 45, rtol=1e-12)
