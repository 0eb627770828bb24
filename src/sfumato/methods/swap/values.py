"""The values of columns that are exchanged: which are amounts, which lie in an order, their bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Variable
from sfumato.data.holding import holding
from sfumato.data.roles import Kind
from sfumato.draws import bits, shortest
from sfumato.errors import DataError
from sfumato.kernels.rows import scatter

__all__ = ["amount", "column_bits", "doubles", "ordered", "value_bits"]


def amount(variable: Variable) -> bool:
    """Whether a column's values are numbers or dates, which may be drawn anew, and no codes."""
    return variable.numeric or variable.kind == Kind.DATE


def ordered(dtype: pl.DataType) -> bool:
    """Whether values of a type lie in an order of their own."""
    return dtype.is_numeric() or dtype.is_temporal()


def value_bits(values: Sequence[pl.Series]) -> NDArray[np.uint64]:
    """Bits of each record's true values, shape (n,)."""
    if len(values) == 1:
        return column_bits(values[0])
    word = np.zeros(len(values[0]), dtype=np.uint64)
    for value in values:
        word = scatter(word ^ column_bits(value))
    return word


def column_bits(value: pl.Series) -> NDArray[np.uint64]:
    """Bits of one column, shape (n,); each distinct text is hashed once."""
    if value.dtype in (pl.String, pl.Categorical, pl.Enum):
        text = value.cast(pl.String)
        place = text.rank("dense").fill_null(0).to_numpy()
        known = bits(text.unique().drop_nulls().sort().to_numpy().astype(object))
        return np.asarray(np.concatenate([np.zeros(1, dtype=np.uint64), known])[place])
    if not (value.dtype.is_numeric() or value.dtype.is_temporal() or value.dtype in (pl.Boolean, pl.Null)):
        raise DataError(f"swap: column {value.name!r} holds {holding(value.dtype)}, which cannot be exchanged.")
    return bits(doubles(value).fill_null(float("nan")).to_numpy())


def doubles(value: pl.Series) -> pl.Series:
    """Values as numbers."""
    number = value.alias("value").to_physical()  # a name such as `*` would be taken for a pattern
    return number.to_frame().select(shortest(pl.col(number.name), number.dtype)).to_series()
