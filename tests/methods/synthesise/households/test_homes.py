"""Who lives with whom, and who comes first."""

import datetime

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError
from sfumato.methods.synthesise.coding import Coded, coding_of
from sfumato.methods.synthesise.households.homes import Layout, in_order, is_shared

BOOK = Codebook(
    {
        "relation": Variable(kind="ordinal", order=["head", "child"]),
        "word": Variable(kind="categorical"),
        "code": Variable(kind="categorical"),
        "first": Variable(kind="categorical"),
        "sex": Variable(kind="categorical"),
        "age": Variable(kind="integer", missing=[-9]),
        "born": Variable(kind="date"),
    }
)
HOME = np.array([7, 7, 7, 3], dtype=np.uint64)


def order(head=None, record=(4, 3, 2, 1), **columns):
    """The order of three people of one household behind somebody who lives alone, as numbers of their rows."""
    frame = pl.DataFrame({name: [*values, values[0]] for name, values in columns.items()})
    coded = {name: coding_of(frame[name], BOOK) for name in frame.columns}
    found = in_order(frame, BOOK, coded, HOME, np.array(record, dtype=np.uint64), head)
    assert found[0] == 3
    return found[1:].tolist()


def test_a_layout_puts_members_behind_each_other():
    layout = Layout(np.array([1, 3, 2]))
    assert layout.people == 6
    assert layout.first.tolist() == [0, 1, 4]
    homes, rows = layout.at(2)
    assert (homes.tolist(), rows.tolist()) == ([1, 2], [2, 5])
    assert layout.place[rows].tolist() == [2, 2]
    assert len(layout.at(4)[0]) == 0


def test_the_eldest_come_first_and_missing_ages_last():
    assert order(age=[30, -9, 50], sex=["f", "f", "f"]) == [2, 0, 1]
    dates = [datetime.date(1990, 1, 1), datetime.date(1980, 1, 1), None]
    assert order(born=dates) == [1, 0, 2]
    assert order(sex=["m", "f", "f"], age=[30, 30, 20]) == [1, 0, 2]  # equal ages: by category


def test_a_column_says_who_is_head():
    assert order("relation", relation=["child", "child", "head"], age=[90, 95, 40]) == [2, 1, 0]
    assert order("code", code=[3, 1, 2], age=[1, 2, 3]) == [1, 2, 0]
    assert order("code", code=["3", "1", "10"], age=[1, 2, 3]) == [1, 0, 2]
    assert order("age", age=[3, 1, 2]) == [1, 2, 0]
    assert order("first", first=[False, True, False], age=[9, 1, 10]) == [1, 2, 0]
    with pytest.raises(DataError, match="categories of 'word' have no order"):
        order("word", word=["head", "child", "child"])


def test_those_who_are_equal_are_told_by_their_ids():
    assert order(age=[5, 5, 5]) == [2, 1, 0]
    assert order(age=[5, 5, 5], record=(1, 2, 3, 4)) == [0, 1, 2]


def test_what_is_the_same_for_all_of_each_household():
    layout = Layout(np.array([2, 1]))
    none = np.zeros(3)
    assert is_shared(layout, Coded(np.array([1, 1, 2]), none))
    assert not is_shared(layout, Coded(np.array([1, 2, 2]), none))
    assert not is_shared(layout, Coded(np.zeros(3, np.int64), np.array([1.0, 2.0, 2.0])))
