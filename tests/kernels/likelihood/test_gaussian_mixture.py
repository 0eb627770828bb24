"""Gradients against central differences of the log-likelihood, which is checked against integration over x."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture, Group
from sfumato.kernels.likelihood.mixture import Factors, Patterns
from sfumato.kernels.likelihood.response import Binary, Linear, Poisson


def binary(y, logit):
    with np.errstate(divide="ignore"):
        return Binary(np.log(np.column_stack([1 - y, y])), logit)


def model(response, seed=3):
    """Nine rows, a hidden binary d, two hidden continuous x, one exact w; columns 1, w, d, x0, x1, x0:d, x1:w."""
    rng = np.random.default_rng(seed)
    n = 9
    w, z = rng.normal(size=(n, 1)), rng.normal(size=(n, 2))
    E = np.column_stack([np.ones(n), w, np.ones((n, 4)), w])
    d = np.array([0.0, 1.0])
    Q = np.column_stack([np.ones((2, 2)), d, np.ones((2, 2)), d, np.ones(2)])
    owner = np.array([-1, -1, -1, 0, 1, 0, 1])
    counts = rng.integers(0, 4, n).astype(float)
    y = (counts > 1).astype(float)
    given = {
        "probit": binary(y, False),
        "logit": binary(y, True),
        "poisson": Poisson(counts),
        "linear": Linear(rng.normal(size=n), np.full(n, 0.1), np.full(n, np.nan), np.full(n, np.nan)),
    }[response]
    table = rng.uniform(0.2, 1.0, size=(n, 2))
    noise = np.array([[0.5, 0.1], [0.1, 0.3]])
    groups = [
        Group(0, 4, np.array([0, 1]), noise),
        Group(4, 7, np.array([1]), noise[1:, 1:]),
        Group(7, 9, np.array([], dtype=int), np.zeros((0, 0))),
    ]
    T = np.column_stack([np.ones(2), d])
    factors = Factors([table], [np.array([0, 1])], rng.normal(size=n))
    weight = rng.uniform(0.5, 2.0, n)
    built = GaussianMixture(E, Q, owner, given, Patterns(d[:, None], w), factors, z, T, groups, weight)
    return built, 0.4 * rng.normal(size=built.size)


@pytest.mark.parametrize("response", ["probit", "logit", "poisson", "linear"])
def test_gradients_are_those_of_the_likelihood(response):
    built, theta = model(response)
    _, gradient, outer = built.evaluate(theta)
    h = 1e-5
    for j in range(built.size):
        step = h * np.eye(built.size)[j]
        up, down = built.evaluate(theta + step, False)[0], built.evaluate(theta - step, False)[0]
        assert gradient[j] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-6), j
    u = built.scores(theta)
    np.testing.assert_allclose(built.weight @ u, gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(u.T @ (u * built.weight[:, None]), outer, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("response", ["probit", "logit", "poisson", "linear"])
@pytest.mark.parametrize("row", [1, 5, 8])
def test_the_likelihood_is_the_integral_over_the_hidden_covariates(response, row):
    """Row 1 has both components, row 5 one, row 8 none. Gauss-Legendre on ±8 sd with 200² points is good to 1e-8."""
    built, theta = model(response)
    built.weight = np.eye(len(built.weight))[row]
    b, extra, gamma, A, root = built.split(theta)
    S, w = root[0] @ root[0].T, built.patterns.w[row, 0]
    odds = np.exp(gamma[0] + gamma[1] * w)
    group = next(g for g in built.groups if g.start <= row < g.stop)
    t, weights = np.polynomial.legendre.leggauss(200)
    total = 0.0
    for k, pi in enumerate([1 / (1 + odds), odds / (1 + odds)]):
        mu = A[0] + k * A[1] + w * A[2]
        sd = np.sqrt(np.diagonal(S))
        x0, x1 = mu[0] + 8 * sd[0] * t, mu[1] + 8 * sd[1] * t
        x = np.stack(np.meshgrid(x0, x1, indexing="ij"), axis=-1)
        eta = b[0] + b[1] * w + b[2] * k + x[..., 0] * (b[3] + b[5] * k) + x[..., 1] * (b[4] + b[6] * w)
        f = np.exp(built.response.take(np.array([row])).slope(eta.reshape(1, -1), 0.0, extra).log_f).reshape(eta.shape)
        f = f * stats.multivariate_normal(mu, S).pdf(x)
        if len(group.seen):
            f = f * stats.multivariate_normal(built.z[row, group.seen], group.noise).pdf(x[..., group.seen])
        area = 64 * sd[0] * sd[1]
        total += pi * built.factors.tables[0][row, k] * area * (weights @ f @ weights)
    ours = built.evaluate(theta, False)[0] - built.factors.log_scale[row]
    assert ours == pytest.approx(np.log(total), abs=1e-6)


def test_the_posterior_mean_is_bayess():
    built, theta = model("linear")
    _, _, _, A, root = built.split(theta)
    found = next(iter(built.posterior(theta)))
    S, noise = root[0] @ root[0].T, built.groups[0].noise
    mu = A[0] + built.patterns.w[0, 0] * A[2]
    wanted = mu + S @ np.linalg.solve(S + noise, built.z[0] - mu)
    np.testing.assert_allclose(found.mean[0, 0], wanted, rtol=1e-10)
    np.testing.assert_allclose(found.covariance[0], S - S @ np.linalg.solve(S + noise, S), rtol=1e-9)
    np.testing.assert_allclose(found.r.sum(axis=1), 1.0)


def test_parameters_can_be_taken_apart_and_joined():
    built, theta = model("linear")
    b, extra, gamma, A, root = built.split(theta)
    np.testing.assert_allclose(
        built.join(b, extra, gamma, A, root @ root.transpose(0, 2, 1)), theta, rtol=1e-12, atol=1e-14
    )


def test_many_parameters_at_once():
    built, theta = model("probit")
    wanted = [built.evaluate(t, False)[0] for t in (theta, theta + 0.1)]
    np.testing.assert_allclose(built.log_likelihoods(np.stack([theta, theta + 0.1])), wanted, rtol=1e-12)


@pytest.mark.parametrize("response", ["probit", "logit", "poisson", "linear"])
def test_gradients_of_a_mixture_are_those_of_its_likelihood(response):
    """Two normals, penalty included: by central differences of the log-likelihood."""
    one, _ = model(response)
    two = replace(
        one,
        Q=np.tile(one.Q, (2, 1)),
        patterns=Patterns(np.tile(one.patterns.T, (2, 1)), one.patterns.w),
        factors=Factors(one.factors.tables, [np.tile([0, 1], 2)], one.factors.log_scale),
        T=np.column_stack([np.tile(one.T, (2, 1)), [0, 0, 1, 1]]),
        parts=2,
        size_of_parts=np.array([[1.0, 0.2], [0.2, 0.5]]),
    )
    theta = 0.4 * np.random.default_rng(12).normal(size=two.size)
    _, gradient, _ = two.evaluate(theta)
    h = 1e-5
    for j in range(two.size):
        step = h * np.eye(two.size)[j]
        up, down = two.evaluate(theta + step, False)[0], two.evaluate(theta - step, False)[0]
        assert gradient[j] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-6), j


def test_equal_parts_are_one_normal():
    one, theta = model("logit")
    b, extra, gamma, A, root = one.split(theta)
    two = replace(
        one,
        Q=np.tile(one.Q, (2, 1)),
        patterns=Patterns(np.tile(one.patterns.T, (2, 1)), one.patterns.w),
        factors=Factors(one.factors.tables, [np.tile([0, 1], 2)], one.factors.log_scale),
        T=np.column_stack([np.tile(one.T, (2, 1)), [0, 0, 1, 1]]),
        parts=2,
    )
    odds = np.log(0.3 / 0.7)
    both = two.join(
        b,
        extra,
        np.concatenate([gamma[:1], [odds, odds + gamma[0]], gamma[1:]]),
        np.concatenate([A[:2], np.zeros((1, 2)), A[2:]]),
        np.tile(root[0] @ root[0].T, (2, 1, 1)),
    )
    assert two.evaluate(both, False)[0] == pytest.approx(one.evaluate(theta, False)[0], abs=1e-10)
