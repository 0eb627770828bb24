"""What must be known of a table's columns to tell their kinds, without the table: made in one look at its rows.

Of each column up to some 4,000 different values are kept, those with the smallest hashes, with how often they occur.
Where no more differ, that is all that there is to know; where more do, they are a random sample of the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.data.dataset import Dataset, ask_all
from sfumato.data.query import Folded, Query

__all__ = ["Sketch", "sketch_of"]

_MOST = 4096
_FEW = 64  # up to so many different values are kept as often as it takes to tell how often each occurs on average
_OFTEN = 128
_VALUE, _HASH, _TIMES = "sfumato:value", "sfumato:hash", "sfumato:times"


@dataclass(frozen=True)
class Sketch:
    """Columns that seem, to whoever asks for their kind, as those of the table do.

    Parameters
    ----------
    series
        Values of each column: all that differ where they are few, else a sample of them; a missing one where any is.
    missing
        Columns with missing values.
    infinite
        Columns with infinite values.

    Examples
    --------
    >>> Sketch({"age": pl.Series("age", [30, 40])}).columns
    ['age']
    """

    series: Mapping[str, pl.Series]
    missing: frozenset[str] = frozenset()
    infinite: frozenset[str] = frozenset()

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.series)

    def get_column(self, name: str, /) -> pl.Series:
        """Values of a column."""
        return self.series[name]


def sketch_of(
    data: Dataset, schema: Mapping[str, pl.DataType], also: Sequence[Query] = ()
) -> tuple[Sketch, list[pl.DataFrame]]:
    """Look at all columns of a table, in one pass where its engine can.

    Parameters
    ----------
    data
        The table.
    schema
        Types of its columns.
    also
        Other questions to be asked in that pass.

    Returns
    -------
    sketch, answers
        What is known of the columns, and the answers to the other questions.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.engines.polars import PolarsDataset
    >>> frame = pl.DataFrame({"sex": ["f", "m", None] * 1000})
    >>> sorted(sketch_of(PolarsDataset(frame, Codebook()), frame.schema)[0].series["sex"].unique().to_list(), key=str)
    [None, 'f', 'm']
    """
    answers = ask_all(data, [*also, _facts(schema), *(_values(n, t) for n, t in schema.items())])
    facts = {row[0]: row[1:] for row in answers[len(also)].iter_rows()}
    series = {n: _like(n, found, *facts[n]) for n, found in zip(schema, answers[len(also) + 1 :], strict=True)}
    told = Sketch(
        series,
        frozenset(n for n, (gaps, _, _) in facts.items() if gaps),
        frozenset(n for n, (_, infinite, _) in facts.items() if infinite),
    )
    return told, answers[: len(also)]


def _facts(schema: Mapping[str, pl.DataType]) -> Folded:
    """Of each column whether a value is missing, whether one is infinite, and whether one is a fraction."""
    shape = {"name": pl.String, "gaps": pl.Boolean, "infinite": pl.Boolean, "fraction": pl.Boolean}

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        rows = []
        for column in batch.iter_columns():
            known = column.fill_nan(None) if column.dtype.is_float() else column
            infinite = column.dtype.is_float() and bool(column.is_infinite().any())
            fraction = column.dtype.is_float() and bool((known != known.round()).any())
            rows.append((column.name, known.null_count() > 0, infinite, fraction))
        return pl.DataFrame(rows, shape, orient="row")

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by("name").agg(pl.col("gaps", "infinite", "fraction").any())

    return Folded(tuple(schema), f, merge)


def _values(name: str, dtype: pl.DataType) -> Folded:
    """Some different values of a column, how often each occurs."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        column = batch.to_series().alias(_VALUE)
        column = (column.fill_nan(None) if dtype.is_float() else column).drop_nulls()
        stable = column.cast(pl.String) if dtype == pl.Categorical else column
        hashes = stable.hash(seed=0).reinterpret(signed=True).alias(_HASH)
        if column.len() > _MOST:
            last = hashes.unique().bottom_k(_MOST).max()
            column, hashes = column.filter(hashes <= last), hashes.filter(hashes <= last)
        once = pl.repeat(1, column.len(), dtype=pl.Int64, eager=True).alias(_TIMES)
        return merge(pl.DataFrame([column, hashes, once]))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by(_VALUE).agg(pl.col(_HASH).first(), pl.col(_TIMES).sum()).bottom_k(_MOST, by=_HASH)

    return Folded((name,), f, merge)


def _like(name: str, found: pl.DataFrame, gaps: bool, infinite: bool, fraction: bool) -> pl.Series:
    """Values that have in common what all values of the column have."""
    often = _OFTEN if found.height <= _FEW else 2
    values = found.sort(_HASH).select(pl.col(_VALUE).repeat_by(pl.col(_TIMES).clip(upper_bound=often)).explode())
    series = values.to_series().alias(name).cast(found.schema[_VALUE])
    present = series.drop_nulls()
    extra: list[float | None] = (
        [0.5] if fraction and series.dtype.is_float() and not (present != present.round()).any() else []
    )
    extra += [None] if gaps or not found.height else []
    return pl.concat([present, pl.Series(name, extra, series.dtype)])
