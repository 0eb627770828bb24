"""What members are drawn from."""

import numpy as np
import polars as pl
import pytest

from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.households.earlier import (
    SIZE,
    Count,
    Earlier,
    counted,
    make_up,
    measured,
    of_head,
    of_last,
    of_mean,
    plain_numbers,
)


def category(name, many):
    return Coding(name, pl.String(), tuple("abcdefgh"[:many]), False, np.zeros(0), None)


def states(*values):
    return Coded(np.array(values), np.zeros(len(values)))


def test_main_categories_are_counted_and_the_others_are_the_rest():
    columns = {"a": states(*[1] * 9, *[2] * 3, *[3] * 2, 4, 4, 4, 4, 5, 6, 7)}
    found = counted(columns, {"a": category("a", 7)})
    assert [count.states for count in found] == [(4,), (2,), (3,), (5,), (1, 6, 7)]
    assert [count.rest for count in found] == [False] * 4 + [True]
    number = Coding("n", pl.Float64(), (), True, np.array([1.0]), 0)
    more = dict.fromkeys("abcd", columns["a"]) | {"n": plain_numbers(np.zeros(21))}
    assert {count.column for count in counted(more, {n: category(n, 7) for n in "abcd"} | {"n": number})} == set("abc")


def test_counts_of_households_add_up_to_their_size():
    two, rest = Count("a", (2,)), Count("a", (1, 3), rest=True)
    whose = np.array([0, 0, 0, 1])
    columns = {"a": states(2, 1, 2, 3)}
    assert two.of(columns, whose, 2).tolist() == [2, 0]
    table = {SIZE: plain_numbers(np.array([3, 1])), two.name: plain_numbers(np.array([2, 4]))}
    found = make_up(table, [two, rest])
    assert found[rest].tolist() == [1, 0]  # not below none, where more was drawn than there are


def test_members_before_are_told_by_head_last_and_mean():
    two, rest = Count("a", (2,)), Count("a", (1,), rest=True)
    earlier = Earlier(["a", "n"], ["n"], {two: np.array([1.0, 1.0]), rest: np.array([2.0, 0.0])}, 2)
    both = np.array([0, 1])
    first = earlier.of(both, 1)
    assert set(first) == {two.left, rest.left}
    assert first[two.left].number.tolist() == [1, 1]
    earlier.add(both, 1, {"a": states(1, 2), "n": plain_numbers(np.array([10, 20]))})
    earlier.add(both[:1], 2, {"a": states(2), "n": Coded(np.array([3]), np.zeros(1))})
    found = earlier.of(both[:1], 3)
    assert found[two.left].number.tolist() == [0]
    assert found[rest.left].number.tolist() == [1]
    assert (found[of_head("a")].state.tolist(), found[of_last("a")].state.tolist()) == ([1], [2])
    assert found[of_last("n")].state.tolist() == [3]
    assert found[of_mean("n")].number.tolist() == [10]  # of those who have a number
    earlier.add(both[:1], 3, {"a": states(1), "n": plain_numbers(np.array([40]))})
    assert earlier.of(both[:1], 4)[of_mean("n")].number.tolist() == [25]
    assert earlier.of(both[1:], 2)[two.left].number.tolist() == [0]


def test_without_any_number_before_there_is_no_mean():
    earlier = Earlier(["n"], ["n"], {}, 1)
    earlier.add(np.array([0]), 1, {"n": Coded(np.array([2]), np.zeros(1))})
    assert earlier.of(np.array([0]), 2)[of_mean("n")].state.tolist() == [1]


@pytest.mark.parametrize("many", [5, 1000])
def test_computed_numbers_are_binned(many):
    column = Coded(np.arange(many + 1) == many, np.arange(many + 1, dtype=float))
    coding = measured("x", Coded(column.state.astype(np.int64), column.number))
    assert len(coding.edges) == min(many, 256)
    assert coding.codes(Coded(np.array([0, 1]), np.zeros(2))).tolist() == [0, len(coding.edges)]
