"""What a column holds, in words for messages."""

from __future__ import annotations

import polars as pl

__all__ = ["holding"]


def holding(dtype: pl.DataType) -> str:
    """Name what a column of this type holds: never the type's own name, which may list the categories.

    Examples
    --------
    >>> holding(pl.Enum(["Leeds", "York"])), holding(pl.Int64())
    ('text', 'numbers')
    """
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if dtype.is_nested():
        return "lists or records"
    return _WORDS.get(dtype.base_type(), "values that are no numbers, text or dates")


_WORDS = {
    pl.Boolean: "true and false",
    pl.Date: "dates",
    pl.Datetime: "dates with times",
    pl.Duration: "lengths of time",
    pl.Null: "no value at all",
    pl.Time: "times of day",
}
