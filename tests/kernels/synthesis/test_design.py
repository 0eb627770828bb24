"""Columns that vary and that no other determines."""

import numpy as np

from sfumato.kernels.synthesis.design import root_of, scaled


def test_constant_and_dependent_columns_are_left_out():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 100))
    X = np.column_stack([np.full(100, 3.7), a, b, a - 2 * b + 5, 1e9 + a * 0, b + 1e-4 * rng.normal(size=100)])
    scaling, Z = scaled(X)
    assert scaling.kept.tolist() == [1, 2]
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    np.testing.assert_allclose(scaling.of(X), Z, atol=1e-12)


def test_of_nothing_nothing_is_left():
    assert scaled(np.zeros((5, 0)))[1].shape == (5, 0)
    assert scaled(np.zeros((0, 3)))[1].shape == (0, 0)


def test_a_singular_matrix_has_a_root_all_the_same():
    for matrix in (np.ones((3, 3)), np.zeros((2, 2)), np.array([[1.0, 1.0], [1.0, 1 - 1e-13]])):
        root = root_of(matrix)
        np.testing.assert_allclose(root @ root.T, matrix, atol=1e-6)
