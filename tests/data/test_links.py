"""What links two tables: which values are equal, equal row order, and what is linked openly."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.links import Link, links_between, telling_counts
from sfumato.errors import DataError
from sfumato.kernels.links import WORK


def found(a, b, **more):
    return {(link.columns, link.share) for link in links_between(pl.DataFrame(a), pl.DataFrame(b), **more).links}


DAYS = [dt.date(2020, 1, 31), dt.date(2021, 2, 28)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ([7, 8], [8.0, 9.0]),
        ([7, 8], ["8", "9"]),
        ([7.0, 8.0], ["8", "9"]),
        ([True, False], [1, 2]),
        ([True, False], ["1", "2"]),
        ([0.5, 1.5], ["1.5", "2.5"]),
        (DAYS, ["2021-02-28", "2022-01-01"]),
        (DAYS, [dt.datetime(2021, 2, 28), dt.datetime(2021, 2, 28, 12)]),
        ([dt.datetime(2021, 2, 28, 12), None], [dt.datetime(2021, 2, 28, 12), dt.datetime(2021, 2, 28)]),
        (pl.Series([1, 2], dtype=pl.UInt64), [2, 3]),
        (pl.Series([0.1, 0.5], dtype=pl.Float32), [0.1, 0.3]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ["b", "c"]),
        (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), pl.Series(["c", "b"], dtype=pl.Enum(["c", "b"]))),
        ([10**12, 5], [10**12, 6]),
        ([[1, 2], [3]], [[3], [4]]),
        (pl.Series(["1.50", "2.25"]).cast(pl.Decimal(10, 2)), [1.5, 9.0]),
        ([dt.timedelta(1), None], [dt.timedelta(hours=24), dt.timedelta(2)]),
        ([dt.time(1), dt.time(2)], [dt.time(2), dt.time(3)]),
        ([dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None], [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]),
    ],
)
def test_equal_values_of_unlike_types_join(one, two):
    assert found({"x": one}, {"x": two}) == {(("x",), 0.5)}
    assert found({"x": two}, {"x": one}) == {(("x",), 0.5)}


def test_texts_that_differ_do_not_join():
    assert found({"x": ["007", "a"]}, {"x": ["7", "A"]}) == set()


@pytest.mark.parametrize("gap", [[None, 1.0], [float("nan"), 1.0]])
def test_nothing_joins_on_missing_values(gap):
    assert found({"x": gap}, {"x": [None, 2.0]}) == set()
    assert found({"x": gap, "y": [1, 2]}, {"x": [None, 2.0], "y": [1, 3]}) == {(("y",), 0.5)}


def test_many_to_one_counts_and_many_to_many_does_not():
    farms, visits = {"farm": ["a", "b"]}, {"farm": ["a", "a", "b", "b", "b"]}
    assert found(farms, visits) == {(("farm",), 1.0)}
    assert found(visits, farms) == {(("farm",), 1.0)}
    assert found(visits, visits) == set()


def test_links_come_by_size_then_share_then_name():
    a = pl.DataFrame({"z": [1, 2, 3, 4], "b": [1, 2, 5, 6], "a": [1, 9, 9, 6], "u": [1, 1, 2, 2], "v": [1, 2, 1, 2]})
    b = pl.DataFrame({"z": [1, 2, 3, 0], "b": [1, 2, 7, 8], "a": [1, 8, 8, 6], "u": [2, 1, 1, 2], "v": [2, 2, 1, 1]})
    assert [(x.columns, x.share) for x in links_between(a, b)] == [
        (("z",), 0.75),
        (("a",), 0.5),
        (("b",), 0.5),
        (("u", "v"), 1.0),
    ]


def test_tables_without_rows_or_values_have_no_links():
    for empty in ({"x": pl.Series([], dtype=pl.Int64)}, {"x": [None, None]}):
        assert found(empty, empty) == set()
        assert found(empty, {"x": [1, 2]}) == set()


# The order of the rows.

UNSORTED = {"sex": ["f", "m", "f", "m", "f"]}


def order(a, b, **more):
    return [link.columns for link in links_between(pl.DataFrame(a), pl.DataFrame(b), **more) if link.row_order]


def test_equal_order_links():
    assert order(UNSORTED | {"x": range(5)}, UNSORTED | {"y": range(5)}) == [("sex",)]


def test_missing_agrees_with_missing_row_by_row():
    gaps = {"sex": ["f", None, "f", "m", None]}
    assert order(gaps, gaps) == [("sex",)]
    assert order(gaps, {"sex": ["f", None, "f", "m", "m"]}) == []


def test_what_both_files_are_sorted_by_is_no_link():
    rows = pl.DataFrame({"ward": [1, 1, 2, 2], "age": [60, 40, 50, 20]})
    assert order(rows, rows) == []  # ward rising, age falling
    assert order(rows.select("ward"), rows.select("ward")) == []
    assert order(rows.select("age"), rows.select("age")) == [("age",)]


def test_other_heights_or_rows_are_no_equal_order():
    assert order(UNSORTED, {"sex": ["f", "m", "f", "m"]}) == []
    assert order(UNSORTED, {"sex": ["f", "m", "m", "f", "f"]}) == []
    assert order({"x": [2, 1, 3]}, {"y": [2, 1, 3]}) == []


def test_equal_order_is_the_last_of_its_size():
    rows = pl.DataFrame({"id": [3, 1, 2]})
    assert [(x.columns, x.row_order) for x in links_between(rows, rows)] == [(("id",), False), (("id",), True)]


# What is declared, and what is pseudonymised apart.


def test_a_declared_link_tells_nothing_new():
    farms = {"farm": [1, 2, 3], "herd": [10, 20, 20]}
    visits = {"farm": [1, 1, 2, 3], "day": [1, 2, 1, 1]}
    assert found(farms, visits) == {(("farm",), 1.0)}
    assert found(farms, visits, declared=[["farm"]]) == set()


def test_what_joins_other_pairs_is_still_a_link():
    farms = {"farm": [1, 2, 3], "herd": [10, 20, 30]}
    same, other = {"farm": [1, 2, 2], "herd": [10, 20, 20]}, {"farm": [1, 2, 2], "herd": [10, 30, 20]}
    assert found(farms, same, declared=[["farm"]]) == set()
    assert found(farms, other, declared=[["farm"]]) == {(("herd",), 1 / 3)}


def test_a_declared_link_that_joins_many_to_many_leaves_news():
    """Households are linked openly; by household and age single people would be."""
    people = {"household": [1, 1, 2, 2], "age": [30, 60, 30, 60]}
    assert found(people, people, declared=[["household"]]) == {(("household", "age"), 1.0)}


def test_a_larger_set_than_a_declared_one_is_found_where_it_tells_more():
    one = {"farm": [1, 2, 2], "day": [5, 5, 6]}
    two = {"farm": [1, 2, 2], "day": [7, 5, 6]}
    assert found(one, two) == {(("farm",), 1 / 3), (("day",), 1.0)}
    assert found(one | {"day": [5, 5, 6]}, two | {"day": [5, 5, 5]}, declared=[["farm"]]) == {(("farm", "day"), 1 / 3)}


def test_declared_row_order_and_bad_columns():
    ids = {"id": [3, 1, 2]}
    assert found(ids, ids, declared=[["id"]]) == set()
    with pytest.raises(DataError, match="'farm'"):
        found(ids, ids, declared=[["farm"]])


def test_codes_of_two_scopes_are_left_out():
    one, two = {"farm": [1, 2, 3], "herd": [1, 1, 1]}, {"farm": [2, 3, 1], "herd": [1, 1, 1]}
    assert found(one, two, unlinkable=["farm"]) == set()
    assert order(UNSORTED | {"farm": range(5)}, UNSORTED | {"farm": [4, 3, 2, 1, 0]}, unlinkable=["farm"]) == [("sex",)]


def test_how_often_codes_occur_may_tell_them():
    one = pl.Series([1] * 40 + [2] * 3 + [3] * 3)
    assert telling_counts(one, pl.Series(["x"] * 40 + ["y"] * 3 + ["z"] * 3))
    assert not telling_counts(one, pl.Series(["x"] * 39 + ["y"] * 3 + ["z"] * 3))
    assert not telling_counts(pl.Series([1, 1, 2, 2]), pl.Series(["x"] * 2))
    assert not telling_counts(pl.Series([1, 2, None]), pl.Series([None, None, 5, 6]))
    assert not telling_counts(pl.Series([1.0, 2.0, float("nan")]), pl.Series([1, 2]))


@given(st.integers(0, 10**6))
def test_the_order_of_rows_changes_no_set_of_columns(seed):
    rng = np.random.default_rng(seed)
    a, b = (pl.DataFrame({f"c{i}": rng.integers(0, 3, rng.integers(3, 30)) for i in range(1)}) for _ in range(2))
    a = a.with_columns(d=pl.Series(rng.integers(0, 4, a.height)), e=pl.Series(rng.integers(0, 2, a.height)))
    b = b.with_columns(d=pl.Series(rng.integers(0, 4, b.height)), e=pl.Series(rng.integers(0, 2, b.height)))
    wanted = [x for x in links_between(a, b) if not x.row_order]
    shuffled = links_between(a.sample(fraction=1, shuffle=True, seed=1), b.sample(fraction=1, shuffle=True, seed=2))
    assert [x for x in shuffled if not x.row_order] == wanted


def test_a_frame_and_plain_values():
    links = links_between(pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [2]}), tables=("a.csv", "b.csv"))
    assert links.tidy().row(0) == ("a.csv", "b.csv", "x", 0.5, False)
    assert links.to_plain() == {
        "links": [{"tables": ["a.csv", "b.csv"], "columns": ["x"], "share": 0.5, "row_order": False}],
        "notes": [],
    }
    assert list(links) == [Link(("x",), 0.5, tables=("a.csv", "b.csv"))]


MANY = "tests/data/test_links.py::test_many_records_of_eight_columns"


@pytest.mark.parametrize(
    ("records", "columns"), [(10**5, 4), pytest.param(10**6, 5, marks=pytest.mark.nightly(of=f"{MANY}[100000-4]"))]
)
def test_many_records_of_eight_columns(records, columns):
    """Of fewer records with less work: what is looked at grows with them."""
    rng = np.random.default_rng(1)
    a, b = (pl.DataFrame({f"c{i}": rng.integers(0, 10, records) for i in range(8)}) for _ in range(2))
    links = links_between(a, b, work=WORK * records / 10**6)
    assert {len(link.columns) for link in links} == {columns}
    assert not links.notes
