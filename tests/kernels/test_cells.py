from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.cells import cells_apart, count_cells, spread_apart


def by_hand(rows, n, columns):
    """The sum over cells, counted with a dictionary."""
    one, two = (Counter(tuple(row[j] for j in columns) for row in part) for part in (rows[:n], rows[n:]))
    share = (len(rows) - n) / len(rows)
    whole = one + two
    return sum((two[cell] - w * share) ** 2 / w for cell, w in whole.items()), len(whole)


@pytest.mark.parametrize("most", [3, 10**9])  # all cells are kept; rows are sorted
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_it_is_what_a_dictionary_counts(most, seed):
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, most, 4)
    rows = rng.choice(pool, (int(rng.integers(2, 30)), 3)).astype(np.uint32)
    n = int(rng.integers(1, len(rows)))
    tables = [(0,), (2,), (0, 1), (2, 1)]
    named = np.array([(*columns, -1)[:2] for columns in tables])
    apart, cells = spread_apart(np.ascontiguousarray(rows.T), np.full(3, most), n, named)
    expected = [by_hand(rows.tolist(), n, columns) for columns in tables]
    assert apart == pytest.approx([a for a, _ in expected], rel=1e-12)
    assert cells.tolist() == [k for _, k in expected]


def test_no_table_is_no_work():
    apart, cells = spread_apart(np.zeros((1, 4), np.uint16), np.array([1]), 2, np.zeros((0, 2), np.int64))
    assert len(apart) == len(cells) == 0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_cells_that_were_counted_are_as_far_apart_as_their_rows(seed):
    rng = np.random.default_rng(seed)
    levels = np.array([3, 4])
    codes = np.stack([rng.integers(0, k, 30) for k in levels]).astype(np.uint32)
    tables = np.array([[1, -1], [0, 1]])
    one, two = count_cells(codes[:, :12], levels, tables), count_cells(codes[:, 12:], levels, tables)
    pairs = Counter(zip(*codes[:, :12].tolist(), strict=True))
    assert one[4:].tolist() == [pairs[i, j] for i in range(3) for j in range(4)]
    apart, cells = spread_apart(codes, levels, 12, tables)
    for t, part in enumerate((slice(4), slice(4, None))):
        assert cells_apart(one[part], two[part], 18 / 30) == (pytest.approx(apart[t], rel=1e-12), cells[t])
