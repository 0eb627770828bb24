import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset
from sfumato.data.query import COUNT, Counts, Moments, Quantiles
from sfumato.data.remembered import Remembered
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset

FRAME = pl.DataFrame({"sex": ["f", "m", "m"], "x": [1.0, 2.0, 4.0]})
BOOK = Codebook({"sex": Variable(kind="categorical"), "x": Variable(kind="continuous")})


class Counting:
    """A data set that counts how often it is asked."""

    def __init__(self):
        self.inner, self.asked = PolarsDataset(FRAME, BOOK), 0

    @property
    def codebook(self):
        return self.inner.codebook

    def ask(self, query):
        self.asked += 1
        return self.inner.ask(query)

    def map(self, f, by=None, codebook=None):
        return self.inner.map(f, by, codebook)


def test_a_question_is_answered_once():
    counting = Counting()
    data = Remembered(counting)
    for _ in range(3):
        data.ask(Counts(("sex",)))
        data.ask(Counts(()))
    assert counting.asked == 2


@pytest.mark.parametrize(
    "query", [Counts(("sex",)), Moments(("x",)), Moments(("x",), ("sex",)), Quantiles("x", (0.5,))]
)
@pytest.mark.parametrize("engine", [PolarsDataset, DuckDBDataset.of])
def test_answers_are_those_of_the_other(engine, query):
    other = engine(FRAME, BOOK)
    assert_frame_equal(Remembered(other).ask(query), other.ask(query))


@pytest.mark.parametrize("engine", [PolarsDataset, DuckDBDataset.of])
@pytest.mark.parametrize(
    "query", [Counts(()), Counts(("a",)), Counts(("b", "a")), Counts(("b",), "w"), Counts((), "w")]
)
def test_counts_of_some_columns_are_sums_of_those_of_all(engine, query):
    frame = pl.DataFrame(
        {
            "a": ["f", "m", None, "f", None, "m"],
            "b": [1.0, None, float("nan"), 1.0, 2.0, -9.0],
            "c": [True, True, False, False, None, True],
            "w": [1.0, 2.0, None, 4.0, -9.0, 8.0],
        }
    )
    other = engine(frame, Codebook({"w": Variable(missing=[-9])}))
    assert_frame_equal(Remembered(other, ("a", "b", "c"), "w").ask(query), other.ask(query))


def test_columns_that_are_counted_together_are_counted_once():
    counting = Counting()
    data = Remembered(counting, ("sex", "x"))
    for query in (Counts(("sex",)), Counts(("x",)), Counts(("x", "sex")), Counts(("sex", "x")), Counts(())):
        data.ask(query)
    assert counting.asked == 1
    data.ask(Counts(("sex",), "x"))
    assert counting.asked == 2


def test_what_is_worked_out_is_worked_out_once():
    data = Remembered(PolarsDataset(FRAME, BOOK))
    made = [data.once("table", lambda: object()) for _ in range(2)]
    assert made[0] is made[1]
    assert data.once(("table", 2), lambda: None) is None


def test_what_is_remembered_is_of_the_old_rows():
    data = Remembered(PolarsDataset(FRAME, BOOK))
    assert data.ask(Counts(())).item(0, COUNT) == 3
    fewer = data.map(lambda rows: rows.filter(pl.col("sex") == "m"))
    assert fewer.ask(Counts(())).item(0, COUNT) == 2
    assert data.ask(Counts(())).item(0, COUNT) == 3
    assert "x" not in data.map(lambda rows: rows.drop("x"), codebook=BOOK.without("x")).codebook


def test_it_is_a_data_set():
    data = Remembered(PolarsDataset(FRAME, BOOK))
    assert isinstance(data, Dataset)
    assert data.codebook == BOOK
