"""Sets of hidden cells whose sum is known, against what is written down by hand and all that can be tried."""

import numpy as np
import pytest
import scipy.sparse as sp

from sfumato.tables.unions.sets import DIMENSIONS, MOST, hashes, known_sets


def sets(matrix, along, hidden, decided=()):
    size = matrix.shape[1]
    mask = [np.isin(np.arange(size), list(cells)) for cells in (hidden, decided)]
    found = known_sets(sp.csr_array(matrix), along, *mask)
    rows = [frozenset(np.flatnonzero(row).tolist()) for row in found.member.toarray()]
    assert len(set(rows)) == len(rows)
    return set(rows), found.left


CHAIN = np.array([[1, 1, -1, 0, 0, 0], [0, 0, 1, 1, -1, 0], [0, 0, 0, 0, 1, -1]])
"""0 + 1 = 2; 2 + 3 = 4; 4 and no more is 5."""


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ([0, 1], [{0, 1}]),
        ([0, 2], []),  # its total is hidden, and no other equation is between published cells
        ([0, 2, 3], [{2, 3}, {0, 3}]),
        ([0, 1, 2, 3], [{2, 3}, {0, 1, 3}]),
        ([0, 1, 2], [{0, 1}]),  # the second equation tells the total, so its parts are known together
        ([0, 1, 2, 3, 4], [{0, 1, 3}]),  # and so on, through a total that is told
    ],
)
def test_hidden_totals_are_replaced_down_to_the_end(hidden, expected):
    along = [["a"], ["a"], ["a"]]
    assert sets(CHAIN, along, hidden) == (set(map(frozenset, expected)), 0)


def test_a_part_that_is_published_by_decision_leaves_both():
    """4 is known; its part 2 may be replaced by 0, less the published 1: where that is not safe, both sets count."""
    matrix = np.array([[1, 1, -1, 0, 0, 0, 0], [0, 0, 1, 1, -1, 0, 0], [0, 0, 0, -1, 0, 1, 1]])
    along = [["a"], ["a"], ["a"]]
    hidden = [0, 2, 3, 5]
    assert sets(matrix, along, hidden)[0] == {frozenset({2, 3}), frozenset({0, 5})}
    both = {frozenset({2, 3}), frozenset({0, 5}), frozenset({2, 5})}
    assert sets(matrix, along, hidden, decided=[1])[0] == both


def test_different_cells_are_replaced_along_different_dimensions():
    """Two hidden totals, each of two parts by a and of two others by b."""
    matrix = np.zeros((5, 11), dtype=int)
    matrix[0, [8, 9]], matrix[0, 10] = 1, -1
    for row, (total, parts) in enumerate([(8, [0, 1]), (8, [2, 3]), (9, [4, 5]), (9, [6, 7])], 1):
        matrix[row, parts], matrix[row, total] = 1, -1
    found, left = sets(matrix, [["c"], ["a"], ["b"], ["a"], ["b"]], [0, 2, 4, 6, 8, 9])
    assert found == {frozenset({8, 9})} | {frozenset({x, y}) for x in (0, 2) for y in (4, 6)}
    assert left == 0


def test_equations_with_more_ways_than_are_tried_are_counted():
    """Seven hidden totals with two ways each: 128."""
    many = 7
    matrix = np.zeros((1 + 2 * many, 3 * many + 1), dtype=int)
    matrix[0, :many], matrix[0, -1] = 1, -1
    for cell in range(many):
        for way in (0, 1):
            matrix[1 + 2 * cell + way, [many + 2 * cell + way, cell]] = 1, -1
    along = [["c"], *[["a"], ["b"]] * many]
    found, left = sets(matrix, along, range(3 * many))
    assert left == 1
    assert 2**many > MOST
    a, b = (frozenset(range(many + way, 3 * many, 2)) for way in (0, 1))
    assert {a, b} <= found  # all along the one or the other dimension in any case


def test_sums_of_other_shapes():
    """An equation between tables: told where one side is published, left where neither is."""
    matrix = np.array([[1, 1, -1, -1]])
    assert sets(matrix, [[]], [0, 1]) == ({frozenset({0, 1})}, 0)
    assert sets(matrix, [[]], [2, 3]) == ({frozenset({2, 3})}, 0)
    assert sets(matrix, [[]], [0, 1, 2]) == (set(), 1)


def test_many_dimensions_end():
    """One total that more dimensions split than every order is taken of; each way is found."""
    many = DIMENSIONS + 3
    matrix = np.zeros((many + 1, 2 * many + 3), dtype=int)
    matrix[0, [0, 1]], matrix[0, -1] = 1, -1
    for way in range(many):
        matrix[1 + way, [2 + 2 * way, 3 + 2 * way]], matrix[1 + way, 0] = 1, -1
    found, left = sets(matrix, [["c"], *[[f"d{way}"] for way in range(many)]], [0, 1, *range(2, 2 * many + 2, 2)])
    assert found == {frozenset({0, 1})} | {frozenset({1, 2 + 2 * way}) for way in range(many)}
    assert left == 0


def test_names_of_sets_are_their_own():
    """Sums of the names of small sets differ."""
    name = hashes(60)
    pairs = name[:, None] + name
    assert len(np.unique(pairs[np.triu_indices(60)])) == 60 * 61 // 2
