"""Against sums over all that can be released, and differences of the estimates themselves."""

import itertools

import numpy as np
import pytest

from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.noise import Noise
from sfumato.kernels.corrected.tilted import Tilted

COVARIANCE = np.array([[0.5, 0.2], [0.2, 0.8]])
KEPT = np.array([[0.8, 0.2], [0.3, 0.7]])
X, LEVEL, W = np.array([0.7, -0.6]), 1, 1.4
POWERS = np.array([[0, 0], [1, 0], [0, 1], [1, 0], [0, 1], [0, 0]])
LEVELS = np.array([[1, 1], [1, 1], [1, 1], [1, 1], [0, 1], [0, 1]], dtype=float)
FACTORS = np.array([1, 1, 1, W, 1, 1])
"""Columns: 1, x₁, x₂, w x₁, x₂ [b], [b]."""
B = np.array([0.2, 0.4, -0.3, 0.2, 0.3, -0.5])


def tilted(z, told, noise, group=None):
    n = len(z)
    group = np.zeros(n, dtype=np.int64) if group is None else group
    design = Design(np.tile(FACTORS, (n, 1)), POWERS, z, noise, group, [LEVELS], [told])
    return Tilted(design, (np.round(told.clip(0, 1)),))


def test_exponentials_are_unbiased():
    t, w = np.polynomial.hermite_e.hermegauss(40)
    u = np.array(list(itertools.product(t, t))) @ np.linalg.cholesky(COVARIANCE).T
    weight = np.outer(w, w).ravel() / (2 * np.pi)
    probability = np.concatenate([KEPT[LEVEL, 0] * weight, KEPT[LEVEL, 1] * weight])
    ours = tilted(np.tile(X + u, (2, 1)), np.repeat(np.linalg.inv(KEPT), len(u), axis=0), [Noise(COVARIANCE)])
    x = FACTORS * (X**POWERS).prod(axis=1) * LEVELS[:, LEVEL]
    s0, s1 = ours.at(B)
    np.testing.assert_allclose(probability @ ours.linear, x, atol=1e-9)
    assert probability @ s0 == pytest.approx(np.exp(x @ B), rel=1e-9)
    np.testing.assert_allclose(probability @ s1, x * np.exp(x @ B), rtol=1e-8)
    np.testing.assert_allclose(ours.second(B, probability), np.outer(x, x) * np.exp(x @ B), atol=1e-8)


@pytest.mark.parametrize("kind", ["laplace", "uniform"])
def test_exponentials_under_other_noise(kind):
    """Monte Carlo with the noise's own quantiles as points: errors of the midpoint rule are below 1e-3 here."""
    v, x, b = 0.3, 0.5, np.array([0.8])
    p = (np.arange(200_000) + 0.5) / 200_000
    u = -np.sign(p - 0.5) * np.log(1 - 2 * np.abs(p - 0.5)) * (v / 2) ** 0.5 if kind == "laplace" else None
    u = (2 * p - 1) * (3 * v) ** 0.5 if u is None else u
    noise = Noise(np.zeros((1, 1)), ((0, kind, v),))
    n = len(u)
    ours = Tilted(Design(np.ones((n, 1)), np.array([[1]]), (x + u)[:, None], [noise], np.zeros(n, dtype=np.int64)))
    s0, s1 = ours.at(b)
    true = np.exp(b[0] * x)
    assert s0.mean() == pytest.approx(true, rel=1e-3)
    assert s1.mean() == pytest.approx(x * true, rel=3e-3)
    assert ours.second(b, np.full(n, 1 / n)).item() == pytest.approx(x**2 * true, rel=2e-2)


def records(n=30):
    rng = np.random.default_rng(1)
    noises = [Noise(COVARIANCE), Noise(np.diag([0.1, 0.0]), ((0, "laplace", 0.2), (1, "uniform", 0.3)))]
    return tilted(rng.normal(size=(n, 2)), rng.normal(0.5, 1, size=(n, 2)), noises, rng.integers(0, 2, n))


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_derivatives_are_those_of_differences(share):
    ours, h = records().scaled(share), 1e-5
    w = np.random.default_rng(2).random(30)
    zero, first, second = ours.sums(B, w)
    s0, s1 = ours.at(B)
    assert w @ s0 == pytest.approx(zero)
    np.testing.assert_allclose(w @ s1, first)
    np.testing.assert_allclose(ours.second(B, w), second)
    for j, step in enumerate(np.eye(6) * h):
        up, down = ours.at(B + step), ours.at(B - step)
        np.testing.assert_allclose((up[0] - down[0]) / (2 * h), s1[:, j], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(w @ (up[1] - down[1]) / (2 * h), second[j], rtol=1e-6, atol=1e-7)


def test_without_noise_and_with_none_of_it_taken_out():
    rng = np.random.default_rng(3)
    z, level = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
    x = FACTORS * np.prod(z[:, None, :] ** POWERS, axis=2) * LEVELS[:, level].T
    plain = np.eye(2)[level]
    for ours in (
        tilted(z, plain, [Noise(np.zeros((2, 2)))]),
        Tilted(tilted(z, plain @ np.linalg.inv(KEPT), [Noise(COVARIANCE)]).design, (plain,)).scaled(0.0),
    ):
        s0, s1 = ours.at(B)
        np.testing.assert_allclose(s0, np.exp(x @ B))
        np.testing.assert_allclose(s1, x * np.exp(x @ B)[:, None])


def test_rows_and_origin():
    ours, rows = records(), np.array([5, 2, 11])
    np.testing.assert_allclose(ours.take(rows).at(B)[1], ours.at(B)[1][rows])
    origin = np.array([1.0, 0.3, 0.2, 0.1, 0.0, 0.5])
    moved = Tilted(ours.design, ours.released, origin=origin)
    np.testing.assert_allclose(moved.at(B)[0], ours.at(B)[0] * np.exp(-origin @ B))


def test_the_spread_that_skews():
    """ln K(2b) − 2 ln K(b): b'Ωb of normal noise; infinite where Laplace noise has no K(2b)."""
    one = Design(np.ones((2, 1)), np.array([[1]]), np.zeros((2, 1)), [Noise(np.array([[0.9]]))], np.zeros(2, dtype=int))
    assert Tilted(one).spread(np.array([0.7])) == pytest.approx(0.7**2 * 0.9)
    told = [Noise(np.zeros((1, 1)), ((0, "laplace", 0.9),))]
    laplace = Tilted(Design(one.exact, one.powers, one.z, told, one.group))
    edge = (1 / (2 * 0.9)) ** 0.5
    assert np.isfinite(laplace.spread(np.array([edge - 1e-3])))
    assert np.isinf(laplace.spread(np.array([edge + 1e-3])))
