"""Every smallest set of columns that joins, held to trying all sets on all pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels import links
from sfumato.kernels.links import Joining, sorts_rows, unique_joins


def brute(first, second):
    """By the definition, on rows as tuples."""
    found = {}
    for size in range(1, len(first) + 1):
        for columns in combinations(range(len(first)), size):
            if any(set(smaller) < set(columns) for smaller in found):
                continue
            one, two = (list(zip(*(t[c] for c in columns), strict=True)) for t in (first, second))
            part = [r for r in one if -1 not in r and r in two and (two.count(r) == 1 or one.count(r) == 1)]
            if part:
                found[columns] = len(part)
    return {Joining(columns, n) for columns, n in found.items()}


@st.composite
def tables(draw, most_rows=9, most_columns=5):
    columns = draw(st.integers(1, most_columns))
    n, m = draw(st.integers(1, most_rows)), draw(st.integers(1, most_rows))
    sizes = [draw(st.integers(0, 3)) for _ in range(columns)]

    def table(rows):
        return [draw(st.lists(st.integers(-1, size), min_size=rows, max_size=rows)) for size in sizes]

    return table(n), table(m)


def arrays(table):
    return [np.array(column, dtype=np.int64) for column in table]


@pytest.mark.slow
@given(tables())
@settings(max_examples=150)
def test_it_finds_what_trying_all_finds(both):
    first, second = both
    found = unique_joins(arrays(first), arrays(second))
    assert found.complete
    assert set(found.sets) == brute(first, second)


@given(tables())
def test_single_pairs_give_the_same(both):
    """Where pairs are looked at one by one, and none is known, the same is found."""
    first, second = map(arrays, both)
    nobody = lambda a, b: np.zeros(len(a), dtype=bool)  # noqa: E731
    assert set(unique_joins(first, second, known=nobody).sets) == set(unique_joins(first, second).sets)


@given(tables())
def test_combinations_that_are_numbered_anew_give_the_same(both):
    first, second = map(arrays, both)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "_DIRECT", 2)
        found = set(unique_joins(first, second).sets)
    assert found == set(unique_joins(first, second).sets)


@given(tables(most_columns=4))
def test_what_is_known_is_no_link(both):
    """By the definition again, of pairs that are not known: here those of rows that are both even."""
    first, _ = both
    rows = [list(zip(*table, strict=True)) for table in both]
    found = unique_joins(*map(arrays, both), known=lambda a, b: (a % 2 == 0) & (b % 2 == 0))
    wanted = {}
    for size in range(1, len(first) + 1):
        for columns in combinations(range(len(first)), size):
            if any(set(smaller) < set(columns) for smaller in wanted):
                continue
            one, two = ([tuple(r[c] for c in columns) for r in table] for table in rows)
            part = {
                i
                for i, r in enumerate(one)
                for j, s in enumerate(two)
                if r == s and -1 not in r and (two.count(r) == 1 or one.count(r) == 1) and (i % 2 or j % 2)
            }
            if part:
                wanted[columns] = len(part)
    assert set(found.sets) == {Joining(columns, n) for columns, n in wanted.items()}


@pytest.mark.slow
def test_where_the_work_does_not_suffice_all_columns_together_are_tried():
    """Twelve columns that are distinct only together, and a work that does not reach beyond pairs."""
    codes = np.arange(2**12)
    columns = [codes >> i & 1 for i in range(12)]
    found = unique_joins(columns, columns, work=12 * 5_000 * 4)
    assert not found.complete
    assert found.sets == (Joining(tuple(range(12)), 2**12),)
    assert unique_joins(columns, columns).sets == found.sets


def test_of_all_columns_those_that_can_be_spared_are_left_out():
    codes = np.arange(2**6)
    columns = [*(codes >> i & 1 for i in range(6)), codes % 2]
    found = unique_joins(columns, columns, work=1e5)
    assert not found.complete
    assert [s.taking_part for s in found.sets] == [64]
    assert len(found.sets[0].columns) == 6


def test_empty_tables_have_no_links():
    nothing = [np.zeros(0, dtype=np.int64)]
    assert unique_joins(nothing, [np.array([1])]).sets == ()
    assert unique_joins([], []).sets == ()


@given(st.integers(1, 3).flatmap(lambda p: st.lists(st.tuples(*[st.integers(0, 2)] * p), min_size=1, max_size=7)))
@settings(max_examples=100)
def test_sorted_is_sorted_by_some_order(rows):
    """All orders of columns and directions, by sorting."""
    from itertools import permutations, product

    p = len(rows[0])
    wanted = any(
        (keys := [tuple(sign * row[c] for c, sign in zip(order, signs, strict=True)) for row in rows]) == sorted(keys)
        for order in permutations(range(p))
        for signs in product([1, -1], repeat=p)
    )
    assert sorts_rows([np.array(column) for column in zip(*rows, strict=True)]) == wanted


def test_missing_values_stand_first_or_last():
    assert sorts_rows([np.array([-1, 1, 2])])
    assert sorts_rows([np.array([1, 2, -1])])
    assert not sorts_rows([np.array([1, -1, 2])])
