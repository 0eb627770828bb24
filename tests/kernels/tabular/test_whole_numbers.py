"""Programs in whole numbers: what is found, what is impossible, and which cells are parts alone."""

import numpy as np
import scipy.sparse as sp

from sfumato.kernels.tabular.whole_numbers import parts_only, solve

ONE = np.ones(2)


def test_a_knapsack_by_hand():
    # the least 5 x + 4 y with 3 x + 2 y >= 7: (1, 2) costs 13, (3, 0) 15, (0, 4) 16
    row = sp.csr_array([[3.0, 2.0]])
    found = solve(row, np.array([7.0]), np.array([np.inf]), np.array([5.0, 4.0]), 0 * ONE, 9 * ONE, ONE > 0, offset=2)
    assert found.values.tolist() == [1, 2]
    assert (found.cost, found.optimal, found.gap) == (15, True, 0)


def test_what_is_impossible_is_said_to_be():
    found = solve(sp.csr_array([[2.0, 2.0]]), ONE[:1] * 3, ONE[:1] * 3, ONE, 0 * ONE, 9 * ONE, ONE > 0)
    assert (found.values, found.optimal) == (None, True)


def test_totals_of_totals_are_no_parts():
    matrix = sp.csr_array([[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]])
    assert parts_only(matrix).tolist() == [True, True, False, True, False]
