"""How a column is told in codes and numbers, for models that draw it, and back.

Every column is a category, a number, or both: codes of missing values, and values that many share, are categories of
their own, and the number is drawn where it is one. State 0 says that there is a number, state s the s-th of `special`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.roles import Kind
from sfumato.draws import plain, shortest
from sfumato.errors import DataError
from sfumato.kernels.grid import round_to_multiple

__all__ = ["FEW", "Coded", "Coding", "coding_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint16]

TOO_SMALL = (
    "`keep` bounds column {column!r} by numbers beyond all that its type can hold, {dtype}. Give it a larger type "
    "before, or leave the relation out."
)
BINS = 256
"""Most bins of a number, where it helps to draw another column."""
_SPIKE = 0.1
FEW = 20
"""Numbers with no more values than that are not drawn between donors."""
_FEWEST = 20
"""A column of numbers with no more values than that has no spikes: all of them are."""
_MOST_DECIMALS = 9


@dataclass(frozen=True)
class Coding:
    """How one column is coded; learned from the original, and confidential.

    Parameters
    ----------
    name, dtype
        The column, and its type on the way out.
    special
        Values that are categories, None among them where values are missing without a code.
    ordered
        Whether its categories have an order, or it has numbers.
    edges : ndarray of float64
        Upper ends of the bins of its numbers; empty where it has none.
    decimals
        Digits after the point that its numbers have; None for as many as there are.
    step
        Multiple that numbers drawn between true ones are rounded to; None where none are, or the decimals are enough.
    ends
        Least and largest of the original's numbers, of columns that bound others or are bounded.
    """

    name: str
    dtype: pl.DataType
    special: tuple[object, ...]
    ordered: bool
    edges: Floats
    decimals: int | None
    step: float | None = None
    ends: tuple[float, float] | None = None

    @property
    def unit(self) -> float | None:
        """One unit of the last place of its numbers; None where they have as many as there are."""
        if self.step is not None:
            return self.step
        return None if self.decimals is None else 10.0**-self.decimals

    def rounded(self, number: Floats) -> Floats:
        """Numbers as a table has them."""
        number = number if self.decimals is None else np.round(number, self.decimals) + 0.0  # no zero has a sign
        number = number if self.step is None else round_to_multiple(number, self.step)
        return number.astype(np.float32).astype(np.float64) if self.dtype == pl.Float32() else number

    def next_to(self, number: Floats, end: float) -> Floats:
        """The numbers next to others, towards an end, that the type of the column can tell from them."""
        if self.dtype == pl.Float32():
            return np.nextafter(number.astype(np.float32), np.float32(end)).astype(np.float64)
        return np.nextafter(number, end)

    @property
    def levels(self) -> int:
        """How many codes there are."""
        return len(self.edges) + len(self.special)

    def code(self, value: object) -> tuple[int, float]:
        """State and number of one value; state −1 where it is no value of the column."""
        if value in self.special:
            return self.special.index(value) + 1, 0.0
        if not len(self.edges) or value is None:
            return -1, 0.0
        return 0, float(pl.Series([value], dtype=self.dtype, strict=False).to_physical().cast(pl.Float64)[0])

    def codes(self, column: Coded) -> Codes:
        """The code of each row: the bin of its number, or behind all bins its category."""
        bins = np.searchsorted(self.edges[:-1], column.number, side="left")
        return np.where(column.state > 0, len(self.edges) + column.state - 1, bins).astype(np.uint16)

    def series(self, column: Coded) -> pl.Series:
        """The column as a table has it."""
        number = self.rounded(column.number)
        if not len(self.edges):
            values = pl.Series(self.name, self.special, dtype=self.dtype, strict=False)
            return values.gather(column.state - 1)
        drawn = pl.Series(self.name, number, dtype=pl.Float64)
        plain = _as(drawn, self.dtype)
        if plain is None:
            raise DataError(TOO_SMALL.format(column=self.name, dtype=self.dtype))
        if not self.special:
            return plain
        special = pl.Series(self.name, [None, *self.special], dtype=self.dtype, strict=False)
        return pl.select(
            pl.when(pl.Series(column.state == 0)).then(plain).otherwise(special.gather(column.state)).alias(self.name)
        ).to_series()


@dataclass(frozen=True)
class Coded:
    """A column of the original, or of a copy.

    Parameters
    ----------
    state : ndarray of int64, shape (n,)
        0 where there is a number, else which of the special values.
    number : ndarray of float64, shape (n,)
        The numbers; 0 where there is none.
    """

    state: Ints
    number: Floats


def coding_of(
    column: pl.Series, codebook: Codebook, step: float | None = None, *, spikes: bool = True
) -> tuple[Coding, Coded]:
    """Learn how a column is coded, and code it.

    Parameters
    ----------
    column
        The original's; its type, and what the codebook says of its kind and missing codes, decide.
    codebook
        Of the table.
    step
        Multiple that numbers drawn between true ones are rounded to.
    spikes
        Whether numbers that many share are categories.

    Examples
    --------
    >>> coding, coded = coding_of(pl.Series("sex", ["f", "m", None, "f"]), Codebook())
    >>> coding.special, coded.state.tolist()
    (('f', 'm', None), [1, 2, 3, 1])
    >>> coding.series(coded).to_list()
    ['f', 'm', None, 'f']
    """
    variable = codebook[column.name] if column.name in codebook else None  # noqa: SIM401  it raises
    kind = variable.kind if variable else None
    numeric = column.dtype.is_numeric() or column.dtype.is_temporal()
    if not numeric or kind in (Kind.CATEGORICAL, Kind.ORDINAL):
        return _category(column, tuple(variable.order) if variable else ())
    missing = column.to_frame().select(codebook.missing(column.name, column.dtype)).to_series().to_numpy()
    spikes &= kind in (Kind.CONTINUOUS, None) and column.dtype.is_numeric()
    return _numbers(column, missing, step, spikes=spikes)


def _category(column: pl.Series, order: Sequence[object]) -> tuple[Coding, Coded]:
    """Categories in the order of the codebook, the others behind in theirs, and missing ones last."""
    known = sorted(column.unique().drop_nulls().to_list(), key=_rank)
    first = [value for value in order if value in known]
    levels: list[object] = [*first, *(value for value in known if value not in first)]
    if column.null_count():
        levels.append(None)
    text = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
    table = pl.DataFrame({"v": pl.Series(levels, dtype=text.dtype, strict=False), "s": np.arange(1, len(levels) + 1)})
    state = text.alias("v").to_frame().join(table, on="v", how="left", nulls_equal=True, maintain_order="left")["s"]
    coding = Coding(column.name, column.dtype, tuple(levels), bool(first), np.zeros(0), None)
    return coding, Coded(state.to_numpy().astype(np.int64), np.zeros(len(column)))


def _rank(value: object) -> tuple[int, float, str]:
    """Where a category stands among others: numbers first, also those that texts write, so that types do not matter."""
    number = plain(value)
    return (0, float(number), "") if isinstance(number, int | float) else (1, 0.0, str(value))


def _numbers(
    column: pl.Series, missing: NDArray[np.bool_], step: float | None, *, spikes: bool
) -> tuple[Coding, Coded]:
    """Numbers; missing codes and values that many share are categories."""
    special: list[object] = []
    state = np.zeros(len(column), dtype=np.int64)
    if missing.any():
        state, special = _marked(column, missing)
    physical = column.to_physical()
    number = np.array(pl.select(shortest(pl.lit(physical), physical.dtype).fill_null(0.0)).to_series().to_numpy())
    number[missing] = 0.0
    held, many = np.unique(number[~missing], return_counts=True)
    if spikes and len(held) > _FEWEST:
        for value in held[many >= _SPIKE * len(column)]:
            special.append(float(value))
            state[(number == value) & ~missing] = len(special)
    left = np.unique(number[state == 0])
    edges = left if len(left) <= BINS else np.unique(np.quantile(number[state == 0], np.arange(1, BINS + 1) / BINS))
    number[state > 0] = 0.0
    decimals = None if not len(left) else _decimals(left)
    step = step if len(edges) > FEW else None
    return Coding(column.name, column.dtype, tuple(special), True, edges, decimals, step), Coded(state, number)


def _marked(column: pl.Series, missing: NDArray[np.bool_]) -> tuple[Ints, list[object]]:
    """The kinds of missing values: none at all (a number that is none among them), and each code."""
    codes = column.fill_nan(None) if column.dtype.is_float() else column
    found = codes.filter(pl.Series(missing))
    levels: list[object] = found.unique().drop_nulls().sort().to_list()
    if found.null_count():
        levels.append(None)
    state = np.zeros(len(column), dtype=np.int64)
    for i, level in enumerate(levels):
        same = codes.is_null() if level is None else (codes == level).fill_null(False)
        state[same.to_numpy() & missing] = i + 1
    return state, levels


def _decimals(values: Floats) -> int | None:
    for many in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(values, many), values):
            return many
    return None


def _as(drawn: pl.Series, dtype: pl.DataType) -> pl.Series | None:
    """Numbers in the type that the column has; None where it cannot hold them."""
    if dtype.is_integer() or dtype.is_temporal():
        whole = drawn.round().cast(pl.Int64)
        if dtype.is_temporal():
            physical = pl.Int32 if dtype == pl.Date else pl.Int64
            return whole.cast(physical).cast(dtype)
        out = whole.cast(dtype, strict=False)
        return None if out.null_count() > whole.null_count() else out
    return drawn.cast(dtype)
