"""What is folded over batches is, to the last bit, what is told of all rows at once."""

import functools

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.query import WEIGHT, Counts, Largest, Moments, Quantiles
from sfumato.engines.folding import Folding
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError

BOOK = Codebook({"x": Variable(missing=[-9])})


def table(n=600):
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "g": pl.Series(rng.integers(0, 3, n)).replace_strict([0, 1, 2], ["a", "b", None], return_dtype=pl.String),
            "x": np.where(rng.random(n) < 0.1, -9.0, rng.normal(170, 10, n)),
            "tiny": rng.normal(size=n) * 10.0 ** rng.integers(-300, 100, n),
            "few": rng.choice([-0.0, 0.0, 1.5, -2.5], n),
        }
    )


def folded_over(frame, size):
    """An engine that has nothing but batches, merged in pairs from the end."""

    def fold(query):
        rows = frame.select(query.columns)
        parts = [query.f(part) for part in rows.iter_slices(size)]
        return functools.reduce(
            lambda one, other: query.merge(pl.concat([other, one])), parts[::-1], query.f(rows.clear())
        )

    return Folding(fold, BOOK.only(frame.columns), frame.schema)


@pytest.mark.few(3)
@pytest.mark.parametrize("size", [7, 200, 600])
@pytest.mark.parametrize("by", [(), ("g",), ("few", "g")])
def test_moments(size, by):
    frame = table()
    query = Moments(("x", "tiny", "few"), by)
    found = folded_over(frame, size).moments(query)
    assert_frame_equal(found, PolarsDataset(frame, BOOK).ask(query), check_exact=True)


@pytest.mark.parametrize("size", [100, 600])
@pytest.mark.parametrize("column", ["x", "tiny", "few"])
def test_quantiles_are_those_of_numpy(size, column):
    frame = table()
    probs = (0.0, 0.05, 1 / 3, 0.5, 0.77, 1.0)
    found = folded_over(frame, size).quantiles(Quantiles(column, probs))
    values = frame.filter(pl.col(column) != -9)[column].to_numpy()
    assert found["value"].to_list() == np.quantile(values, probs).tolist()
    query = Quantiles(column, probs, ("g",))
    assert_frame_equal(
        folded_over(frame, size).quantiles(query), PolarsDataset(frame, BOOK).ask(query), check_exact=True
    )


@pytest.mark.parametrize("by", [(), ("g",)])
def test_largest_and_weights(by):
    frame = table()
    folding = folded_over(frame, 100)
    assert_frame_equal(folding.largest(Largest("x", by, 3)), PolarsDataset(frame, BOOK).ask(Largest("x", by, 3)))
    query = Counts(by, "tiny")
    expected = PolarsDataset(frame, BOOK).ask(query)[WEIGHT].to_list()
    assert folding.weights(query)[WEIGHT].to_list() == expected


def test_nothing_but_missing_values():
    frame = pl.DataFrame({"g": ["a", "b"], "x": [-9.0, None]})
    folding = folded_over(frame, 1)
    assert folding.moments(Moments(("x",), ("g",)))["n"].to_list() == [0, 0]
    assert folding.quantiles(Quantiles("x", (0.5,), ("g",)))["value"].to_list() == [None, None]
    assert folding.quantiles(Quantiles("x", (0.5,)))["value"].to_list() == [None]


def test_text_has_no_moments():
    with pytest.raises(DataError, match="'g'"):
        folded_over(table(10), 5).moments(Moments(("g",)))
