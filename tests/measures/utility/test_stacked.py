import datetime

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.utility.stacked import MAX_LEVELS, equal, stack


def design(column, max_levels=MAX_LEVELS):
    return np.column_stack(column.design(slice(0, len(column.values)), max_levels)).tolist()


def test_roles_kinds_and_types_that_are_not_compared():
    day = datetime.date(2020, 1, 1)
    names = ["id", "name", "home", "weight", "note", "born", "day", "age", "outcome", "only_before", "same"]
    frame = pl.DataFrame({n: [1, 2] for n in names}).with_columns(
        day=pl.Series([day, day]), same=pl.lit(1), note=pl.Series(["a", "b"])
    )
    book = Codebook(
        {
            "id": Variable(role="record"),
            "name": Variable(role="identifier"),
            "home": Variable(role="household"),
            "weight": Variable(role="weight"),
            "note": Variable(kind="text"),
            "born": Variable(kind="date"),
            "outcome": Variable(role="outcome", kind="categorical"),
        }
    )
    both = stack(frame, frame.drop("only_before"), book)
    assert [c.name for c in both.columns] == ["age", "outcome"]
    assert [c.name for c in stack(frame, frame, book, leave_out=["age"]).columns] == ["outcome", "only_before"]


def test_missing_numbers_are_an_indicator_and_zero():
    before, after = pl.DataFrame({"x": [1.0, 3.0, None]}), pl.DataFrame({"x": [1.0, -9.0, 3.0]})
    (column,) = stack(before, after, Codebook({"x": Variable(missing=[-9])})).columns
    assert design(column) == [[-1, 0], [1, 0], [0, 1], [-1, 0], [0, 1], [1, 0]]
    np.testing.assert_array_equal(column.feature(), [1, 3, np.nan, 1, np.nan, 3])


def test_missing_categories_are_a_level_of_their_own():
    before, after = pl.DataFrame({"g": ["b", "a", None]}), pl.DataFrame({"g": ["b", "b", "c"]})
    (column,) = stack(before, after, Codebook()).columns
    assert column.levels == 3
    assert design(column) == [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_one_category_written_as_integer_float_and_text():
    before, after = pl.DataFrame({"g": [1, 2, 2]}), pl.DataFrame({"g": [2.0, 1.0, 2.0]})
    (column,) = stack(before, after, Codebook({"g": Variable(kind="categorical")})).columns
    assert column.values.tolist() == [1, 0, 0, 0, 1, 0]
    (column,) = stack(before, after.cast(pl.Int64).cast(pl.String), Codebook()).columns
    assert column.values.tolist() == [1, 0, 0, 0, 1, 0]


def test_rare_categories_are_taken_together():
    """60 levels, of which level k occurs 60 − k times: the 49 most frequent stay, the rest are one."""
    values = [f"{k:02}" for k in range(60) for _ in range(60 - k)]
    frame = pl.DataFrame({"g": values})
    both = stack(frame, frame, Codebook())
    (column,) = both.columns
    assert column.width(MAX_LEVELS) == 49
    assert column.values.max() == 49
    expected = [min(int(v), 49) for v in values]
    assert column.values.tolist() == expected * 2
    assert "'g' has more than 50 categories" in both.notes[0]
    assert len(column.design(slice(0, 9), 5)) == column.width(5) == 4


@pytest.mark.parametrize("value", [None, 1, "a", float("nan")])
def test_a_column_of_one_value_tells_nothing(value):
    frame = pl.DataFrame({"x": [value, value]})
    assert stack(frame, frame, Codebook()).columns == ()


def test_huge_numbers_do_not_overflow():
    frame = pl.DataFrame({"x": [-1e200, 0.0, 1e200]})
    (column,) = stack(frame, frame, Codebook()).columns
    np.testing.assert_allclose(design(column)[:3], np.array([[-1], [0], [1]]) * np.sqrt(1.5))


def test_equal_tables_are_those_that_nothing_could_tell_apart():
    frame = pl.DataFrame({"id": [1, 2], "age": [30.0, None], "sex": ["f", "m"]})
    book = Codebook({"id": Variable(role="record")})
    assert equal(frame, frame.with_columns(id=pl.Series([7, 8])), book)
    assert not equal(frame, frame.with_columns(sex=pl.lit("f")), book)
    assert not equal(frame, frame.head(1), book)
    assert not equal(frame.select("id"), frame.select("id"), book)  # nothing to compare
    assert not equal(frame.head(1), frame.head(1), book)  # nothing varies
