"""Margins against a plain sum over every set of records."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.tabular.rollup import Contributions, Upward, roll_up

UP = [
    Upward.of([[0], [0, 1], [0, 1, 2], [0, 1, 3], [0, 4]]),  # 1 holds 2 and 3
    Upward.of([[0], [0, 1], [0, 2]]),
]
SIZES = [5, 3]
LEAVES = list(itertools.product([2, 3, 4], [1, 2]))


def brute(rows, ranks):
    """Every margin from all its records, contributor by contributor."""
    cells = {}
    for (a, b), who, x in rows:
        for i in UP[0].target[UP[0].start[a] : UP[0].start[a + 1]]:
            for j in UP[1].target[UP[1].start[b] : UP[1].start[b + 1]]:
                own = cells.setdefault(int(i) * SIZES[1] + int(j), {})
                own[who] = own.get(who, 0.0) + x
    out = {}
    for key, own in cells.items():
        sizes = sorted((abs(x) for x in own.values()), reverse=True)
        single = next(iter(own)) if len(own) == 1 else -1
        largest = (sizes + [0.0] * ranks)[:ranks]
        out[key] = (sum(own.values()), sum(sizes), len(own), largest, max(sizes), single)
    return out


records = st.lists(st.tuples(st.sampled_from(LEAVES), st.integers(0, 5), st.integers(-3, 40)), max_size=25)


def contributions(rows):
    n = len(rows)
    key = np.array([a * SIZES[1] + b for (a, b), _, _ in rows], dtype=np.int64)
    who = np.array([w for _, w, _ in rows], dtype=np.int64)
    x = np.array([v for _, _, v in rows], dtype=np.float64)
    one = np.ones(n, dtype=np.int64)
    return Contributions(key, who, x, x, one, one, np.ones(n, dtype=bool))


@given(records, st.integers(0, 4))
def test_margins_are_those_of_the_records(rows, ranks):
    rolled = roll_up(contributions(rows), SIZES, UP, ranks)
    expected = brute(rows, ranks)
    assert rolled.key.tolist() == sorted(expected)
    for i, key in enumerate(rolled.key.tolist()):
        value, total, count, largest, asked, single = expected[key]
        # whole numbers: sums are exact
        assert (rolled.value[i], rolled.total[i], rolled.heads[i]) == (value, total, count)
        assert rolled.largest[i].tolist() == largest
        assert rolled.single[i] == single
        assert rolled.asked[i] == asked


@given(records, st.randoms())
def test_the_order_of_rows_changes_nothing(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (roll_up(contributions(r), SIZES, UP, 2) for r in (rows, shuffled))
    for name in ("key", "value", "total", "heads", "largest", "single"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_a_size_stands_as_often_as_it_has_units():
    one = Contributions(
        np.array([1, 1]),
        np.array([0, 1]),
        np.array([30.0, 8.0]),
        np.array([10.0, 8.0]),
        np.array([1, 1]),
        np.array([3, 1]),
        np.array([False, True]),
    )
    rolled = roll_up(one, [2], [Upward.of([[0], [0, 1]])], 4)
    assert rolled.largest.tolist() == [[10, 10, 10, 8]] * 2
    assert rolled.total.tolist() == [38, 38]
    assert rolled.heads.tolist() == [2, 2]
    assert rolled.asked.tolist() == [8, 8]


def test_no_records_are_no_cells():
    assert len(roll_up(contributions([]), SIZES, UP, 2).key) == 0


@pytest.mark.parametrize("spread", [False, True])
def test_large_tables_agree_with_a_plain_sum(spread):
    """Contributors in one cell and in many take different ways: both give the plain sums."""
    draw = np.random.default_rng(1)
    leaf, who, x = (draw.integers(0, high, 500).tolist() for high in (6, 90 if spread else 10**6, 99))
    rows = [(LEAVES[i], w, float(v)) for i, w, v in zip(leaf, who, x, strict=True)]
    rolled = roll_up(contributions(rows), SIZES, UP, 3)
    expected = brute(rows, 3)
    assert [(v, c, top) for v, c, top in zip(rolled.value, rolled.heads, rolled.largest.tolist(), strict=True)] == [
        (expected[k][0], expected[k][2], expected[k][3]) for k in rolled.key.tolist()
    ]


def test_many_possible_cells_are_searched_for(monkeypatch):
    rows = [((2, 1), 0, 5), ((3, 2), 0, 4), ((4, 1), 1, 3)]
    listed = roll_up(contributions(rows), SIZES, UP, 2)
    monkeypatch.setattr("sfumato.kernels.tabular.rollup._LISTED", 1)
    searched = roll_up(contributions(rows), SIZES, UP, 2)
    assert np.array_equal(listed.value, searched.value)
    assert np.array_equal(listed.largest, searched.largest)
