"""Columns of any kind as numbers, in two tables alike, so that the relations among them are compared.

Numbers stay as they are, dates are days, categories the places of their sorted values: of the values of both tables,
where both hold categories. Where a column of numbers or dates became categories, each table is read by itself, and
categories stand in the order of the first number in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.pair import numbers
from sfumato.data.query import Folded
from sfumato.data.roles import Kind
from sfumato.draws import shortest, written

__all__ = ["MOST_VALUES", "Categories", "Reading", "categories", "coder", "in_order", "readings", "told_categories"]

Floats = NDArray[np.float64]
Reading = Literal["number", "day", "codes", "texts"]
"""How a column is read: as numbers, by day, as categories that are numbers, as categories that are texts."""
Categories = tuple[str | float, ...]
"""The categories of a column, in order."""

MOST_VALUES = 10_000
"""Most categories of a column; one with more is left out."""
_CATEGORIES = (Kind.CATEGORICAL, Kind.ORDINAL, Kind.GEOGRAPHIC)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COLUMN, _TEXT, _VALUE = "column", "text", "value"
_SCHEMA = {_COLUMN: pl.Int64, _TEXT: pl.String, _VALUE: pl.Float64}


def readings(name: str, tables: Sequence[tuple[pl.Schema, Codebook]]) -> list[Reading]:
    """How a column is read in each of several tables.

    Parameters
    ----------
    name
        The column.
    tables
        Types of their columns, and what is known of them.

    Examples
    --------
    >>> book = Codebook()
    >>> readings("a", [(pl.Schema({"a": pl.Int64()}), book), (pl.Schema({"a": pl.String()}), book)])
    ['number', 'texts']
    """
    dtypes = [schema[name] for schema, _ in tables]
    kinds = [book[name].kind if name in book else None for _, book in tables]
    numeric = all(map(_number, dtypes))
    if all(map(_category, dtypes, kinds)):
        return ["codes" if numeric else "texts" for _ in tables]
    if numeric:
        return ["number" for _ in tables]
    return [_alone(dtype) for dtype in dtypes]


def _number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _category(dtype: pl.DataType, kind: Kind | None) -> bool:
    return not dtype.is_temporal() and (kind in _CATEGORIES or not _number(dtype))


def _alone(dtype: pl.DataType) -> Reading:
    if dtype.is_temporal():
        return "day"
    return "number" if _number(dtype) else "texts"


def categories(columns: Mapping[str, Reading], codebook: Codebook) -> tuple[Folded, ...]:
    """The question for the categories of some columns of a table; none where no column is read as categories.

    Parameters
    ----------
    columns
        How each is read.
    codebook
        Says which codes stand for missing.
    """
    names = _apart(columns)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        parts = [_distinct(i, columns[n], _present(batch, n, codebook)) for i, n in enumerate(names)]
        return pl.concat([pl.DataFrame(schema=_SCHEMA), *parts])

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        ordered = frames.unique().sort(_COLUMN, _TEXT, _VALUE)
        return ordered.group_by(_COLUMN, maintain_order=True).head(MOST_VALUES + 1)

    return (Folded(tuple(names), f, merge),) if names else ()


def _apart(columns: Mapping[str, Reading]) -> list[str]:
    return [n for n, reading in columns.items() if reading in ("codes", "texts")]


def _present(batch: pl.DataFrame, name: str, codebook: Codebook) -> pl.Series:
    present = pl.col(name).filter(~codebook.missing(name, batch.schema[name]))
    return batch.select(present.unique()).to_series()


def _distinct(column: int, reading: Reading, values: pl.Series) -> pl.DataFrame:
    own = pl.lit(column, pl.Int64).alias(_COLUMN)
    if reading == "texts":
        return written(values).alias(_TEXT).to_frame().select(own, _TEXT, pl.lit(None, pl.Float64).alias(_VALUE))
    number = shortest(pl.col(values.name), values.dtype).alias(_VALUE)
    return values.to_frame().select(own, pl.lit(None, pl.String).alias(_TEXT), number)


def told_categories(answers: Sequence[pl.DataFrame], columns: Mapping[str, Reading]) -> dict[str, Categories]:
    """The categories of each column that has any, sorted; one more than `MOST_VALUES` of a column that has too many.

    Parameters
    ----------
    answers
        The answer to `categories`; none where nothing was asked.
    columns
        As of `categories`.
    """
    names = _apart(columns)
    found: dict[str, list[str | float]] = {n: [] for n in names}
    for i, text, value in (row for answer in answers for row in answer.iter_rows()):
        found[names[i]].append(value if text is None else text)
    return {n: tuple(values) for n, values in found.items()}


def in_order(texts: Categories) -> Categories:
    """Categories in the order of the first number in them, those without any last.

    Examples
    --------
    >>> in_order(("10-14", "5-9", "other"))
    ('5-9', '10-14', 'other')
    """

    def first(category: str | float) -> tuple[float, str]:
        found = _NUMBER.search(str(category))
        return float(found[0]) if found else np.inf, str(category)

    return tuple(sorted(texts, key=first))


def coder(
    columns: Mapping[str, Reading], found: Mapping[str, Categories], codebook: Codebook
) -> Callable[[pl.DataFrame], Floats]:
    """What makes numbers of rows of a table, shape (n, p), NaN where there is no value.

    Parameters
    ----------
    columns
        How each is read.
    found
        Categories of those that have any.
    codebook
        Says which codes stand for missing.

    Examples
    --------
    >>> code = coder({"sex": "texts", "age": "number"}, {"sex": ("f", "m")}, Codebook())
    >>> code(pl.DataFrame({"sex": ["m", "f"], "age": [30, None]})).tolist()
    [[1.0, 30.0], [0.0, nan]]
    """

    def code(batch: pl.DataFrame) -> Floats:
        out = np.empty((batch.height, len(columns)), order="F")
        amounts = [(j, n) for j, (n, reading) in enumerate(columns.items()) if reading in ("number", "codes")]
        out[:, [j for j, _ in amounts]] = numbers(batch, [n for _, n in amounts], codebook)
        for j, (name, reading) in enumerate(columns.items()):
            if reading == "codes":
                out[:, j] = _places(out[:, j], found[name])
            elif reading != "number":
                held = pl.when(~codebook.missing(name, batch.schema[name])).then(pl.col(name)).alias(name)
                values = batch.select(held).to_series()
                out[:, j] = (_days(values) if reading == "day" else _numbered(values, found[name])).to_numpy()
        return out

    return code


def _places(values: Floats, found: Categories) -> Floats:
    placed = np.searchsorted(np.array(found, dtype=np.float64), values).astype(np.float64)
    return np.where(np.isnan(values), np.nan, placed)


def _days(values: pl.Series) -> pl.Series:
    dated = values.cast(pl.Date).to_physical() if values.dtype in (pl.Date, pl.Datetime) else values.to_physical()
    return dated.cast(pl.Float64).fill_null(float("nan"))


def _numbered(values: pl.Series, found: Categories) -> pl.Series:
    places = written(values).cast(pl.Enum([str(text) for text in found]), strict=False).to_physical()
    return places.cast(pl.Float64).fill_null(float("nan"))
