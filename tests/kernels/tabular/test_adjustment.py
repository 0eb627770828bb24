"""Adjustment of a row by hand; fixed directions that are turned around."""

import numpy as np
import scipy.sparse as sp

from sfumato.kernels.tabular.adjustment import adjusted
from sfumato.kernels.tabular.asked import Asked


def asked(cost, unsafe, whole=True):
    """Three parts of a total of which some must move by 2 one way or the other."""
    matrix = sp.csr_array([[1, 1, 1, -1]])
    size = np.full(4, 9.0)
    return Asked(matrix, np.array(unsafe), np.full(4, 2.0), np.full(4, 2.0), size, size, np.array(cost, float), whole)


def test_two_unsafe_cells_move_against_each_other():
    for free in (True, False):
        found = adjusted(asked([1, 1, 1, 9], [True, True, False, False]), free=free, seconds=None)
        assert found.cost == 4
        assert sorted(found.values.tolist()) == [-2, 0, 0, 2]


def test_fixed_directions_are_turned_around_where_that_is_cheaper():
    # of three unsafe cells two move against the third, which moves by 4: 8, wherever one starts
    for free in (True, False):
        found = adjusted(asked([1, 1, 1, 99], [True, True, True, False]), free=free, seconds=None)
        assert found.cost == 8
        assert np.abs(found.values[:3]).min() >= 2


def test_a_cell_that_cannot_move_is_impossible():
    one = asked([1, 1, 1, 1], [True, False, False, False])
    stuck = Asked(one.matrix, one.unsafe, one.down_level, one.up_level, 0 * one.down, 0 * one.up, one.cost, True)
    for free in (True, False):
        found = adjusted(stuck, free=free, seconds=None)
        assert (found.values, found.optimal) == (None, True)
