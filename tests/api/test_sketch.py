"""How the values of a column are spread, without showing whose they are."""

import datetime

import numpy as np
import polars as pl
import pytest

from sfumato.api.sketch import Bar, Gaps, gaps, sketch
from sfumato.data.codebook import Variable

KEY = Variable(role="key")


def drawn(values, everything=False, **more):
    return sketch(pl.DataFrame({"^x": values}), "^x", Variable(**more), everything=everything)


def test_rare_categories_are_counted_together_until_asked_for():
    values = ["a"] * 5 + ["b"] * 4 + ["c"] * 9 + [None]
    found = drawn(values, kind="categorical")
    assert found.bars == (Bar("c", 9), Bar("a", 5))
    assert (found.others, found.further, found.missing, found.different) == (1, 0, 1, 3)
    assert drawn(values, True, kind="categorical").bars == (Bar("c", 9), Bar("a", 5), Bar("b", 4))


def test_categories_have_their_labels_and_their_order():
    found = drawn([1] * 5 + [2] * 7 + [-9] * 6, kind="ordinal", labels={1: "low"}, missing=[-9], order=(1, 2))
    assert found.bars == (Bar("1 = low", 5), Bar("2", 7))
    assert found.missing == 6


def test_more_categories_than_bars_are_said():
    found = drawn([f"c{i:02}" for i in range(15)] * 5, kind="categorical")
    assert (len(found.bars), found.further, found.others) == (12, 3, 0)


@pytest.mark.parametrize("more", [{"role": "identifier"}, {"role": "record"}, {"kind": "text"}])
def test_identifiers_and_texts_are_masked(more):
    names = [f"N{i:03}" for i in range(40)]
    found = drawn(names, **more)
    assert (found.form, found.bars, found.different, found.first) == ("masked", (), 40, "N")
    asked = drawn(names, True, **more)
    assert (len(asked.bars), asked.further) == (20, 20)
    assert {bar.label for bar in asked.bars} <= set(names)


def test_a_first_letter_of_few_values_is_not_told():
    assert drawn(["Ann", "Bob", "Cat", "Dan", "Eve"], role="identifier").first == ""
    assert drawn(["Ann"] * 9, role="identifier").first == ""


def test_numbers_are_counted_between_round_edges():
    values = np.repeat(np.arange(100.0), 10)
    found = drawn(values, kind="continuous")
    assert found.form == "histogram"
    assert [bar.label for bar in found.bars] == [f"{10 * i} to {10 * i + 10}" for i in range(10)]
    assert [bar.records for bar in found.bars] == [100] * 10


def test_single_values_far_out_are_not_told():
    values = [*np.repeat(np.arange(100.0), 10), 7_654_321.0, -3.0]
    found = drawn(values, kind="continuous")
    assert found.bars[0].label == "below 10"
    assert found.bars[-1].label == "90 and above"
    assert sum(bar.records for bar in found.bars) == 1002


def test_intervals_with_few_records_say_that_alone():
    values = [*np.repeat(np.arange(20), 50), 60, 60, *([99] * 30)]
    found = {bar.label: bar.records for bar in drawn(values, kind="integer").bars}
    assert found["60 to 70"] is None
    assert {bar.label: bar.records for bar in drawn(values, True, kind="integer").bars}["60 to 70"] == 2


def test_whole_numbers_have_edges_that_are_whole():
    found = drawn(list(range(14)) * 5, kind="integer")
    assert [bar.label for bar in found.bars][:2] == ["0 to 2", "2 to 4"]


def test_dates_are_counted_by_years_or_months():
    days = [datetime.date(1990 + i % 10, 1 + i % 12, 1) for i in range(200)]
    found = drawn(days, kind="date")
    assert [bar.label for bar in found.bars] == [str(y) for y in range(1990, 2000)]
    assert sum(bar.records for bar in found.bars) == 200
    one_year = drawn([day.replace(year=2020) for day in days], kind="date")
    assert [bar.label for bar in one_year.bars] == [f"2020-{m:02}" for m in range(1, 13)]
    long_ago = drawn([*days, datetime.date(1800, 1, 1)], kind="date")
    assert long_ago.bars[0].label == "1990 and before"


def test_a_column_of_one_value_and_one_of_none():
    assert drawn([3.5] * 8, kind="continuous").bars == (Bar("3.5", 8),)
    assert drawn(pl.Series([None, None], dtype=pl.Float64), kind="continuous").form == "nothing"
    assert drawn([float("nan")] * 3, kind="continuous").missing == 3


def test_every_type_has_a_sketch():
    frame = pl.DataFrame(
        {
            "truth": [True, False] * 5,
            "time": [datetime.time(i) for i in range(10)],
            "day": ["2020-01-01"] * 10,
            "decimal": pl.Series(["1.5"] * 10).cast(pl.Decimal(scale=1)),
            "enum": pl.Series(["a", "b"] * 5, dtype=pl.Enum(["a", "b"])),
        }
    )
    forms = {name: sketch(frame, name, Variable(kind="date" if name == "day" else None)).form for name in frame.columns}
    assert forms == {
        **dict.fromkeys(("truth", "time", "decimal", "enum"), "bars"),
        "day": "masked",
    }


def test_gaps_of_a_hierarchy_are_named_but_for_rare_ones():
    frame = pl.DataFrame({"x": [1] * 9 + [2] * 6 + [3] + [-9] * 8})
    variable = Variable(hierarchy={1: ["low"]}, missing=[-9])
    assert gaps(frame, "x", variable) == Gaps(("2",), 1)
    assert gaps(frame, "x", variable, everything=True) == Gaps(("2", "3"), 0)
    assert gaps(frame, "x", Variable(hierarchy={1: ["a"], 2: ["b"], 3: ["b"]}, missing=[-9])).complete
    assert gaps(frame, "x", Variable()) is None
