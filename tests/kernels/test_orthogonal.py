"""Columns made orthogonal: the closed forms of what they must be."""

import numpy as np

from sfumato.kernels.orthogonal import basis_of


def test_columns_are_orthogonal_whatever_their_offsets():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(500, 2))
    X = np.column_stack([np.ones(500), 1e7 + z[:, 0], 1e-6 * (z[:, 0] + 0.01 * z[:, 1])])
    E = basis_of(X).apply(X)
    np.testing.assert_allclose(E.T @ E / 500, np.eye(3), atol=1e-6)


def test_coefficients_go_back_to_the_columns():
    rng = np.random.default_rng(2)
    X = np.column_stack([np.ones(50), 3 + rng.normal(size=(50, 2))])
    basis = basis_of(X)
    gamma = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(X @ (basis.back @ gamma), basis.apply(X) @ gamma, rtol=1e-10)


def test_a_column_that_others_determine_is_left_out():
    X = np.column_stack([np.ones(9), np.arange(9.0), 5 - 2 * np.arange(9.0), np.arange(9.0) ** 2])
    assert basis_of(X).kept.tolist() == [0, 1, 3]
