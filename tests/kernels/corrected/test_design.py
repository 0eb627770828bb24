"""Sums over all that can be released: estimates of columns and of their products have the true ones as means."""

import itertools

import numpy as np
import pytest

from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.noise import Noise

COVARIANCE = np.array([[0.5, 0.2], [0.2, 0.8]])
KEPT = np.array([[0.8, 0.2], [0.3, 0.7]])
X, LEVEL, EXACT = np.array([1.3, -0.6]), 1, 1.7
POWERS = np.array([[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [1, 0], [0, 0], [0, 0]])
LEVELS = np.array([[1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [0, 1], [0, 1], [1, 1]], dtype=float)
FACTORS = np.array([1, 1, 1, 1, 1, EXACT, 1, EXACT])
"""Columns: 1, x₁, x₂, x₁², x₁x₂, w x₁ [b], [b], w, with b the second level of a hidden category."""


def everything():
    """All that can be released of one record, with probabilities; Hermite's rule is exact for these polynomials."""
    t, w = np.polynomial.hermite_e.hermegauss(9)
    u = np.array(list(itertools.product(t, t))) @ np.linalg.cholesky(COVARIANCE).T
    z, weight = np.tile(X + u, (2, 1)), np.outer(w, w).ravel() / (2 * np.pi)
    told = np.repeat(np.linalg.inv(KEPT), len(u), axis=0)
    n = len(z)
    design = Design(
        np.tile(FACTORS, (n, 1)), POWERS, z, [Noise(COVARIANCE)], np.zeros(n, dtype=np.int64), [LEVELS], [told]
    )
    return design, np.concatenate([KEPT[LEVEL, 0] * weight, KEPT[LEVEL, 1] * weight])


def truth():
    return FACTORS * (X**POWERS).prod(axis=1) * LEVELS[:, LEVEL]


def test_columns_and_their_products_are_unbiased():
    design, probability = everything()
    x = truth()
    np.testing.assert_allclose(probability @ design.columns(), x, atol=1e-10)
    np.testing.assert_allclose(design.total(probability), np.outer(x, x), atol=1e-9)
    v = np.arange(1.0, 9.0)
    np.testing.assert_allclose(probability @ design.times(v), x * (x @ v), atol=1e-8)


def test_a_category_times_itself_is_itself_not_the_square_of_its_estimate():
    design, probability = everything()
    estimate = design.columns()[:, 6]
    assert design.total(probability)[6, 6] == pytest.approx(1)
    assert probability @ estimate**2 > 1.3


def test_times_sums_to_total():
    """Σ w xx'v = (Σ w xx') v, record by record and altogether, over blocks of records with noise of their own."""
    rng = np.random.default_rng(1)
    n = 40_000
    noises = [Noise(COVARIANCE), Noise(np.zeros((2, 2))), Noise(np.zeros((2, 2)), ((0, "laplace", 0.4),))]
    indicators = rng.normal(size=(n, 2))
    design = Design(
        rng.normal(size=(n, 8)), POWERS, rng.normal(size=(n, 2)), noises, rng.integers(0, 3, n), [LEVELS], [indicators]
    )
    w, v = rng.random(n), rng.normal(size=8)
    total = design.total(w)
    np.testing.assert_allclose(total, total.T)
    np.testing.assert_allclose(w @ design.times(v), total @ v, rtol=1e-9)
    rows = rng.permutation(n)[:500]
    np.testing.assert_allclose(design.take(rows).times(v), design.times(v)[rows], rtol=1e-10)
    np.testing.assert_allclose(design.take(rows).columns(), design.columns()[rows], rtol=1e-10)


def test_each_stratum_has_its_noise():
    z, group = np.array([[2.0], [2.0]]), np.array([0, 1])
    design = Design(np.ones((2, 1)), np.array([[1]]), z, [Noise(np.eye(1)), Noise(np.zeros((1, 1)))], group)
    assert design.times(np.ones(1)).ravel().tolist() == [3.0, 4.0]
