"""Every engine answers alike, and as plain Python would."""

import math
import statistics

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset
from sfumato.data.dataset import rows as rows_of
from sfumato.data.query import Classes, Counts, Folded, Largest, Moments, Quantiles
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError

ENGINES = {"polars": PolarsDataset, "duckdb": DuckDBDataset.of}
BOOK = Codebook({"x": Variable(missing=[-9, {"low": -5, "high": -4}])})

rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from([0.5, float("nan"), None]),
        st.sampled_from([-9, -5, -4.5, 1, 2, 2.5, 1e9, None, float("nan")]),
    ),
    max_size=20,
)
QUERIES = [
    Counts(()),
    Counts(("g",)),
    Counts(("g", "h")),
    Counts(("g",), "w"),
    Counts(("g",), "x"),
    Counts((), "x"),
    Moments(()),
    Moments(("x", "w")),
    Moments(("x",), ("g", "h")),
    Quantiles("x", (0.05, 0.5, 0.9)),
    Quantiles("x", (0.5,), ("g",)),
    Largest("x", ("g",), 2),
    Largest("x", (), 3),
    Classes(()),
    Classes(("g",)),
    Classes(("g", "h"), "x"),
    Classes(("x",), "g"),
]


def table(values):
    schema = {"g": pl.String, "h": pl.Float64, "x": pl.Float64}
    return pl.DataFrame(values, schema=schema, orient="row").with_columns(w=pl.int_range(1, pl.len() + 1) * 0.5)


def test_distances_are_the_same_to_the_last_bit():
    """143 thousandths: divided, or multiplied by the inverse of 1,000, as Polars does at times."""
    frame, query = table([("a", 0.5, 1)] * 6 + [("a", float("nan"), 2)]), Classes(("g", "h"), "x")
    for make in ENGINES.values():
        assert make(frame, BOOK).ask(query)["sfumato:t"].to_list() == [0.858, 0.143]


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_engines_are_data_sets(make):
    assert isinstance(make(table([]), BOOK), Dataset)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows, st.sampled_from(QUERIES))
def test_law_2_every_engine_gives_the_same_answers(values, query):
    frame = table(values)
    memory, database = PolarsDataset(frame, BOOK).ask(query), DuckDBDataset.of(frame, BOOK).ask(query)
    assert_frame_equal(memory, database, check_exact=True)


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_answers_by_hand(make):
    data = make(table([("a", 0.5, 1), ("a", float("nan"), -9), ("b", None, 2.5), ("a", 0.5, 2), ("b", None, -5)]), BOOK)
    assert data.ask(Counts(("g",))).rows() == [("a", 3), ("b", 2)]
    # NaN and null are one group
    assert data.ask(Counts(("h",))).rows() == [(None, 3), (0.5, 2)]
    moments = data.ask(Moments(("x",))).row(0, named=True)
    assert (moments["n"], moments["low"], moments["high"], moments["decimals"]) == (3, 1, 2.5, 1)
    assert math.isclose(moments["mean"], 5.5 / 3)
    assert math.isclose(moments["variance"], statistics.variance([1, 2, 2.5]))
    assert data.ask(Quantiles("x", (0.5,)))["value"].to_list() == [2]
    assert data.ask(Largest("x", ("g",), 1)).rows() == [("a", 1, 2.0), ("b", 1, 2.5)]


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_missing_values_and_codes_weigh_nothing(make):
    """−9 is a code, and −5 to −4 are a range of codes: the records are counted, their weights are none."""
    values = [("a", None, 1.5), ("a", None, -9), ("a", None, None), ("b", None, -4.5), ("b", None, float("nan"))]
    data = make(table(values), BOOK)
    assert data.ask(Counts(("g",), "x")).rows() == [("a", 3, 1.5), ("b", 2, 0.0)]
    with pytest.raises(DataError, match="numeric"):
        data.ask(Counts((), "g"))


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_map_by_strata_sees_whole_strata_and_in_memory_keeps_the_order(make):
    frame = table([("a", None, 1), ("b", None, 2), ("a", None, 3), (None, None, 4), ("b", float("nan"), 5)])
    counted = make(frame, BOOK).map(lambda batch: batch.with_columns(n=pl.len()), by=["g"])
    found = counted.frame if make is PolarsDataset else rows_of(counted).sort("x")
    assert found["n"].to_list() == [2, 2, 2, 1, 2]
    assert found["x"].to_list() == [1, 2, 3, 4, 5]
    by_h = make(frame, BOOK).map(lambda batch: batch.with_columns(n=pl.len()), by=["h"])
    assert rows_of(by_h)["n"].to_list() == [5] * 5


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("by", [None, [], ["g"]])
def test_map_may_drop_rows_and_change_columns(make, by):
    frame = table([("a", None, 1), ("b", None, 2), ("a", None, 3)])
    left = make(frame, BOOK).map(lambda b: b.filter(pl.col("x") > 1).drop("w", "h"), by=by)
    assert (left.frame if make is PolarsDataset else rows_of(left).sort("x")).rows() == [("b", 2.0), ("a", 3.0)]
    assert list(left.codebook) == ["g", "x"]
    assert left.codebook["x"].missing
    assert rows_of(make(frame, BOOK).map(lambda b: b.clear(), by=by)).columns == frame.columns
    assert rows_of(make(frame.clear(), BOOK).map(lambda b: b, by=by)).height == 0


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_columns_may_be_called_anything(make):
    frame = pl.DataFrame({"count": ["a", "a"], "weight": [1, 1], "variable": ["x", "x"], "n": [1.0, 2.0]})
    data = make(frame, Codebook())
    assert data.ask(Counts(("count", "weight"), "n")).row(0) == ("a", 1, 2, 3.0)
    assert rows_of(data.map(lambda batch: batch, by=["count", "weight"])).equals(frame)


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_bad_questions_are_refused(make):
    data = make(table([("a", 1.0, 1)]), BOOK)
    for query in (Counts(("nope",)), Moments(("nope",)), Quantiles("x", (0.5,), ("nope",))):
        with pytest.raises(DataError, match="no column|not in the data"):
            data.ask(query)
    with pytest.raises(DataError, match="numeric"):
        data.ask(Moments(("g",)))


def test_other_libraries_can_take_the_rows():
    data = PolarsDataset(table([("a", 1.0, 1)]), BOOK)
    assert pl.DataFrame(data).equals(data.frame)
    assert data["g"].to_list() == ["a"]
    assert len(data) == 1


def per_group(batch):
    return batch.group_by("g").agg(pl.len().cast(pl.Int64).alias("n"))


def together(parts):
    return parts.group_by("g").agg(pl.col("n").sum())


@pytest.mark.parametrize("make", [*ENGINES.values(), lambda f, b: PolarsDataset(f, b, batch_rows=2)])
@pytest.mark.parametrize("n", [0, 5])
def test_whatever_adds_up_can_be_asked(make, n):
    data = make(
        table([("a", None, 1.0), ("b", None, 2.0), ("a", None, -9), (None, None, None), ("a", 0.5, 3.0)][:n]), BOOK
    )
    found = data.ask(Folded(("g",), per_group, together))
    assert dict(found.rows()) == ({"a": 3, "b": 1, None: 1} if n else {})
    assert found.schema == {"g": pl.String, "n": pl.Int64}


def test_an_unknown_column_cannot_be_folded():
    with pytest.raises(DataError, match="'nowhere'"):
        PolarsDataset(table([]), BOOK).ask(Folded(("nowhere",), per_group, together))


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_classes_by_hand(make):
    """Of the whole table 1/2 have 1 and 1/2 have 2: the class a has 2/3 and 1/3, b only 2, c none that counts."""
    values = [("a", None, 1), ("a", None, 1), ("a", None, 2), ("b", None, 2), ("c", None, -9), ("c", None, None)]
    data = make(table([*values, ("a", None, -9)]), BOOK)
    assert data.ask(Classes(("g",))).rows() == [(1, 1), (2, 1), (4, 1)]
    assert data.ask(Classes(("g",), "x")).rows() == [(1, 1, 0.5, 1), (2, 0, 0.0, 1), (4, 2, 0.167, 1)]
    assert data.ask(Classes((), "x")).rows() == [(7, 2, 0.0, 1)]
    assert make(table([]), BOOK).ask(Classes(("g",), "x")).is_empty()
