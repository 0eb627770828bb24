"""Directions of recession against one linear programme over all rows, and ranks."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.kernels.likelihood.recession import Within, find_recession


def separable(A):
    """Which rows can rise while none falls: as many as can, each counted up to 1."""
    m, P = A.shape
    held = np.hstack([-A, np.eye(m)])  # A d ≥ t, 0 ≤ t ≤ 1
    bounds = [(None, None)] * P + [(0, 1)] * m
    found = linprog(np.concatenate([np.zeros(P), -np.ones(m)]), held, np.zeros(m), bounds=bounds)
    return found.x[P:] > 0.5


def lost_without(A):
    """Columns that are combinations of the others: their coefficients have no part in what is left."""
    rank = np.linalg.matrix_rank(A) if len(A) else 0
    rest = [np.delete(A, j, axis=1) for j in range(A.shape[1])]
    return np.array([(np.linalg.matrix_rank(B) if len(B) else 0) == rank for B in rest])


@pytest.mark.parametrize("block", range(4))
def test_small_tables(block):
    """Random 0/1 responses on few points: no, quasi-complete and complete separation."""
    rng = np.random.default_rng(block)
    kinds = set()
    for _ in range(60):
        X = np.column_stack([np.ones(9), rng.integers(0, 2, 9), rng.integers(-2, 3, 9)]).astype(float)
        if np.linalg.matrix_rank(X) < 3:
            continue
        A = (2 * rng.integers(0, 2, 9) - 1)[:, None] * X
        rising = separable(A)
        found = find_recession(A, np.zeros((0, 3)))
        kinds.add("none" if not rising.any() else "complete" if rising.all() else "quasi")
        if not rising.any():
            assert found is None
            continue
        np.testing.assert_array_equal(found.lost, lost_without(A[~rising]))
        far = A @ found.within.offset
        assert far[rising].min() > 400
        np.testing.assert_allclose(far[~rising], 0, atol=1e-6)
        ends = [linprog(s * np.eye(3)[j], -A, np.zeros(9), bounds=(-1, 1)).fun for j in range(3) for s in (1, -1)]
        sides = [int(up < -1e-7) - int(down < -1e-7) for down, up in np.reshape(ends, (3, 2))]
        np.testing.assert_array_equal(found.sides, np.where(found.lost, sides, 0))
    assert kinds == {"none", "quasi", "complete"}


def test_counts_above_zero_bind_on_both_sides():
    X = np.column_stack([np.ones(6), [0, 0, 0, 1, 1, 1], [1, 2, 3, 1, 2, 4]]).astype(float)
    y = np.array([2, 0, 1, 0, 0, 0])
    found = find_recession(-X[y == 0], X[y > 0])
    np.testing.assert_array_equal(found.lost, [False, True, False])
    np.testing.assert_array_equal(found.sides, [0, -1, 0])
    assert find_recession(-X[:1], X[1:]) is None


def test_with_a_parameter_held_the_others_recede_as_far_as_they_can():
    """Complete separation by x: with the slope held no record is sure any more, and with the intercept held all are."""
    X = np.column_stack([np.ones(4), [-2.0, -1.0, 1.0, 2.0]])
    found = find_recession(np.array([-1, -1, 1, 1])[:, None] * X, np.zeros((0, 2)))
    held = found.held(1)(0.7)
    assert held.basis.shape == (2, 1)
    np.testing.assert_allclose(held.place(held.nearest(np.array([3.0, 9.0]))), [3, 0.7])
    held = found.held(0)(-0.4)
    assert held.basis.shape == (2, 0)
    assert held.offset[0] == pytest.approx(-0.4)
    assert (np.array([-1, -1, 1, 1]) * (X @ held.offset)).min() > 400


def test_a_row_far_out_is_found_among_many():
    """One record in 50,000 that is not sure is not among those that the programme begins with."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=50_000)
    s = np.where(x > 0, 1.0, -1.0)
    X = np.column_stack([np.ones(len(x)), x])
    assert find_recession(s[:, None] * X, np.zeros((0, 2))).lost.all()
    s[np.argmax(x)] = -1.0
    assert find_recession(s[:, None] * X, np.zeros((0, 2))) is None


def test_further_parameters_are_free():
    line = Within(np.array([0.0, 2.0]), np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]])).wider(3)
    np.testing.assert_array_equal(line.place(np.array([4.0, 5.0])), [4, 2, 5])
    covariance, complete = line.covariance(np.diag([4.0, 1.0]))
    np.testing.assert_allclose(covariance, np.diag([0.25, 0, 1]))
    assert complete
