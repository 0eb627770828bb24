import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.folds.coded import categories, coder, in_order, readings, told_categories

INT, TEXT, DAY = pl.Int64(), pl.String(), pl.Date()
CODES = Codebook({"a": Variable(kind="categorical")})


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((INT, Codebook()), (pl.Float64(), Codebook()), ["number", "number"]),
        ((INT, CODES), (INT, CODES), ["codes", "codes"]),
        ((INT, CODES), (TEXT, CODES), ["texts", "texts"]),
        ((INT, CODES), (pl.Float64(), Codebook()), ["number", "number"]),
        ((INT, Codebook()), (TEXT, Codebook()), ["number", "texts"]),
        ((DAY, Codebook()), (DAY, Codebook()), ["day", "day"]),
        ((DAY, Codebook()), (INT, Codebook()), ["day", "number"]),
    ],
)
def test_how_a_column_is_read(one, two, expected):
    assert readings("a", [(pl.Schema({"a": dtype}), book) for dtype, book in (one, two)]) == expected


def test_categories_of_some_columns_sorted_without_gaps():
    read = {"n": "number", "c": "codes", "t": "texts"}
    book = Codebook({"c": Variable(missing=[-9])})
    frame = pl.DataFrame({"n": [1, 2, 3], "c": [10, 9, -9], "t": ["b", None, "a"]})
    (asked,) = categories(read, book)
    answer = asked.merge(pl.concat([asked.f(frame[:1]), asked.f(frame[1:]), asked.f(frame.clear())]))
    assert told_categories([answer], read) == {"c": (9.0, 10.0), "t": ("a", "b")}
    assert categories({"n": "number"}, book) == ()


def test_values_as_numbers():
    read = {"c": "codes", "t": "texts", "d": "day"}
    code = coder(read, {"c": (9.0, 10.0), "t": ("a", "b")}, Codebook())
    frame = pl.DataFrame({"c": [10, None], "t": ["b", None], "d": [20_000, None]}).with_columns(
        pl.col("d").cast(pl.Date)
    )
    numbers = code(frame)
    assert numbers[0].tolist() == [1.0, 1.0, 20_000.0]
    assert all(numbers[1] != numbers[1])
    times = frame.with_columns(pl.col("d").cast(pl.Datetime("us")) + pl.duration(hours=13))
    assert code(times)[0].tolist() == [1.0, 1.0, 20_000.0]


def test_bands_in_the_order_of_their_numbers():
    assert in_order(("other", "10-14", "under 5", "5-9", "80+")) == ("5-9", "under 5", "10-14", "80+", "other")
