"""Categories and bands of a column, with what must not be seen over a shoulder left out."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

from sfumato.api.recoding import banded, branches, cuts, few, rounded, suits, valued
from sfumato.errors import DataError
from sfumato.methods.banding import Bands

TOWNS = pl.DataFrame({"^town": ["Leeds"] * 9 + ["York"] * 6 + ["Bath"] * 4 + ["Ely"] + [None]})


def flat(branch) -> list:
    return [(one.name, one.records) if not one.below else (one.name, one.records, flat(one)) for one in branch.below]


def test_values_of_few_records_are_shown_when_asked_for():
    values = valued(TOWNS, "^town")
    assert [(one.text, one.records) for one in values] == [("Leeds", 9), ("York", 6), ("Bath", 4), ("Ely", 1)]
    seen = branches(values, {})
    assert (flat(seen), seen.others, seen.values) == ([("Leeds", 9), ("York", 6)], 2, 4)
    assert flat(branches(values, {}, everything=True))[2:] == [("Bath", 4), ("Ely", 1)]
    assert flat(branches(values, {}, masked=True)) == []


def test_categories_come_first_with_what_is_in_them():
    values = valued(TOWNS, "^town")
    tree = {"York": ("North", "All"), "Leeds": ("North", "All"), "Bath": ("South", "All"), "Hull": ("North", "All")}
    seen = branches(values, tree)
    assert flat(seen) == [("All", 19, [("North", 15, [("Leeds", 9), ("York", 6)]), ("South", None)])]
    assert seen.others == 1  # Ely, in no category
    (top,) = seen.below
    assert [(one.name, one.others, one.values) for one in top.below] == [("North", 1, 3), ("South", 1, 1)]


def test_a_category_that_only_repeats_what_is_below_is_shown_once():
    values = valued(TOWNS, "^town")
    seen = branches(values, {"York": ("York", "All"), "Leeds": ("North", "All")})
    assert flat(seen) == [("All", 15, [("North", 9, [("Leeds", 9)]), ("York", 6)])]


def test_a_value_that_is_called_like_a_category_is_in_it():
    values = valued(TOWNS, "^town")
    assert flat(branches(values, {"York": ("Leeds",)})) == [("Leeds", 15, [("Leeds", 9), ("York", 6)])]


def test_what_is_looked_for():
    values = valued(TOWNS, "^town")
    tree = {"York": ("North",), "Leeds": ("North",)}
    assert flat(branches(values, tree, find="yo")) == [("North", 15, [("York", 6)])]
    assert len(branches(values, tree, find="NORTH").below[0].below) == 2
    seen = branches(values, tree, find="none")
    assert (flat(seen), seen.others) == ([], 2)
    assert branches(values, {}, most=1).further == 1


def test_how_many_categories_would_have_few_records():
    values = valued(TOWNS, "^town")
    assert few(values, {"Bath": ("Other",), "Ely": ("Other",)}, 1) == (3, 0)
    assert few(values, {"Ely": ("Other",)}, 1, listed=True) == (1, 1)


def test_bands_are_counted_as_the_method_makes_them():
    ages = pl.DataFrame({"age": [*range(20, 40), *range(40, 60), 60, 61, -9]})
    seen = banded(ages, "age", [20, 40, 60])
    assert [one.records for one in seen.bands] == [None, 20, 20, None]
    assert [one.records for one in banded(ages, "age", [20, 40, 60], everything=True).bands] == [1, 20, 20, 2]
    assert sum(one.records or 0 for one in banded(ages, "age", [], everything=True).bars) == 43
    assert [one.label for one in banded(ages, "age", [20], ["child", "adult"]).bands] == ["child", "adult"]
    with pytest.raises(DataError, match="no numbers"):
        banded(TOWNS, "^town", [3])


def test_cut_points_are_those_that_the_method_learns():
    ages = pl.DataFrame({"age": list(range(100))})
    assert cuts(ages, "age", Bands(n=4)) == (25.0, 50.0, 75.0)
    assert cuts(ages, "age", Bands(n=2, method="equal")) == (50.0,)
    assert rounded((18.0, 0.5)) == (18, 0.5)


def test_which_editor_suits():
    day = datetime.date(2020, 1, 1)
    frame = pl.DataFrame({"day": [day] * 30, "code": [1, 2] * 15, "age": range(30), "town": ["a"] * 30})
    assert [suits(frame, n) for n in frame.columns] == ["", "categories", "bands", "categories"]
    with pytest.raises(DataError, match="coarsen_date"):
        valued(frame, "day")
    with pytest.raises(DataError, match="no column"):
        valued(frame, "none")
