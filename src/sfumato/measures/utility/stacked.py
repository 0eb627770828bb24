"""Original and released table, one above the other, in the form that a classifier needs to tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import is_factor
from sfumato.data.pair import Pair, numbers
from sfumato.data.roles import IDS, Kind, Role

__all__ = ["MAX_LEVELS", "Column", "Stacked", "compared", "equal", "left_out", "stack", "texts_of"]

Floats = NDArray[np.float64]

MAX_LEVELS = 50
"""Most levels of a factor (the trees take no more than 255); rarer ones are taken together."""
_ROLES = (*IDS, Role.IDENTIFIER, Role.WEIGHT)
_KINDS = (Kind.TEXT, Kind.DATE)


@dataclass(frozen=True)
class Column:
    """One column of both tables.

    Parameters
    ----------
    name
        The column.
    values
        Numbers; or codes of a factor, 0 for its most frequent level and rising with rarity. 0 where missing. Shape
        (n + m,).
    levels
        Number of levels; None for a numeric column.
    missing
        Where there is no value, shape (n + m,); None where there is one everywhere, or nowhere.
    middle, scale
        Mean and sd of a numeric column over both tables.
    """

    name: str
    values: NDArray[np.float64] | NDArray[np.int32]
    levels: int | None
    missing: NDArray[np.bool_] | None
    middle: float = 0.0
    scale: float = 1.0

    def width(self, max_levels: int) -> int:
        """How many columns of a design it takes."""
        own = 1 if self.levels is None else min(self.levels, max_levels) - 1
        return own + (self.missing is not None)

    def design(self, rows: slice, max_levels: int) -> list[Floats]:
        """Its columns in a design: the standardised number or indicators of all levels but the first, and of missing.

        Levels beyond `max_levels`, the rarest, share the last indicator.
        """
        values = self.values[rows]
        if self.levels is None:
            standard = (np.asarray(values, dtype=np.float64) - self.middle) / self.scale
            if self.missing is not None:
                standard[self.missing[rows]] = 0.0
            out = [standard]
        else:
            codes = np.minimum(values, max_levels - 1)
            out = [(codes == k).astype(np.float64) for k in range(1, min(self.levels, max_levels))]
        if self.missing is not None:
            out.append(self.missing[rows].astype(np.float64))
        return out

    def feature(self) -> Floats:
        """Its values as one column of floats, NaN where missing, at most `MAX_LEVELS` codes of a factor."""
        out = np.array(self.values, dtype=np.float64)
        if self.levels is not None:
            np.minimum(out, MAX_LEVELS - 1, out=out)
        if self.missing is not None:
            out[self.missing] = np.nan
        return out


@dataclass(frozen=True)
class Stacked:
    """Two tables of n and m rows, the original above the release."""

    n: int
    m: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()

    @property
    def released(self) -> Floats:
        """1 for a row of the release, 0 for one of the original, shape (n + m,)."""
        return np.repeat([0.0, 1.0], [self.n, self.m])

    @property
    def share(self) -> float:
        """Share of rows that are of the release."""
        return self.m / (self.n + self.m)


def left_out(pair: Pair) -> tuple[str, ...]:
    """Columns of a pair that say who a record is, whatever their role: the record's id."""
    return () if pair.record is None else (pair.record,)


def stack(before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook, leave_out: Sequence[str] = ()) -> Stacked:
    """Put the columns that both tables have into one form.

    Left out are columns with role record, identifier, household or weight, texts and dates by kind, and columns that
    have one value throughout.

    Parameters
    ----------
    before, after
        Original and released table, in any order of rows.
    codebook
        Says which columns are factors (kinds categorical, ordinal, geographic; texts and yes/no too) and which codes
        stand for missing.
    leave_out
        Further columns to leave out.

    Examples
    --------
    >>> tables = pl.DataFrame({"age": [30, 50]}), pl.DataFrame({"age": [30, None]})
    >>> [column.missing.tolist() for column in stack(*tables, Codebook()).columns]
    [[False, False, False, True]]
    """
    columns, notes = [], []
    for name in compared(before, after, codebook, leave_out):
        dtypes = before.schema[name], after.schema[name]
        if all((d.is_numeric() or d == pl.Null) and not is_factor(name, d, codebook) for d in dtypes):
            column = _numeric(name, before, after, codebook)
        else:
            column = _factor(name, before, after, codebook)
            if column.levels is not None and column.levels > MAX_LEVELS:
                notes.append(
                    f"Column {name!r} has more than {MAX_LEVELS} categories; to tell the tables apart, the rarest were "
                    "taken together."
                )
        if column.width(MAX_LEVELS):
            columns.append(column)
    return Stacked(before.height, after.height, tuple(columns), tuple(notes))


def compared(before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook, leave_out: Sequence[str] = ()) -> list[str]:
    """Names of the columns by which two tables are told apart; arguments as of `stack`."""
    schemas = before.schema, after.schema  # each takes as long as there are columns
    return [n for n in schemas[0] if n in schemas[1] and n not in leave_out and _compared(n, schemas, codebook)]


def equal(before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook, leave_out: Sequence[str] = ()) -> bool:
    """Whether two tables are the same in every cell that could tell them apart, and something in them varies.

    Then any model can only guess, and there is nothing to fit.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [30, 50]})
    >>> equal(table, table, Codebook()), equal(table, table.reverse(), Codebook())
    (True, False)
    """
    names = compared(before, after, codebook, leave_out)
    one, other = before.select(names), after.select(names)
    same = one.schema == other.schema and one.equals(other)
    return same and any(values.n_unique() > 1 for values in one)


def _compared(name: str, schemas: tuple[pl.Schema, pl.Schema], codebook: Codebook) -> bool:
    if name in codebook and (codebook[name].role in _ROLES or codebook[name].kind in _KINDS):
        return False
    return not any(schema[name].is_temporal() or schema[name].is_nested() for schema in schemas)


def _numeric(name: str, before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook) -> Column:
    values = np.concatenate([numbers(before, [name], codebook)[:, 0], numbers(after, [name], codebook)[:, 0]])
    missing = np.isnan(values)
    present = values if not missing.any() else values[~missing]
    if not len(present) or present.min() == present.max():
        return Column(name, np.zeros(len(values), dtype=np.int32), 1, _some(missing))
    middle = present.mean()
    spread = np.abs(present - middle).max()  # first to at most 1, so that no square overflows
    scale = spread * ((present - middle) / spread).std()
    values[missing] = 0.0
    return Column(name, values, None, _some(missing), float(middle), float(scale))


def _factor(name: str, before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook) -> Column:
    texts = pl.concat([texts_of(name, before, codebook), texts_of(name, after, codebook)])
    missing = texts.is_null().to_numpy()
    present = texts.drop_nulls().alias("value")  # a column may be called `count`
    counts = present.value_counts(name="count").sort(["count", "value"], descending=[True, False])
    levels = counts.height
    if levels == 0:
        return Column(name, np.zeros(len(texts), dtype=np.int32), 1, _some(missing))
    kept = counts.get_column("value").head(MAX_LEVELS - 1 if levels > MAX_LEVELS else levels)
    rank = pl.Series(np.arange(len(kept), dtype=np.int32))
    codes = texts.replace_strict(kept, rank, default=len(kept), return_dtype=pl.Int32).to_numpy().copy()
    codes[missing] = 0
    return Column(name, codes, levels, _some(missing))


def texts_of(name: str, frame: pl.DataFrame, codebook: Codebook) -> pl.Series:
    """Categories as text, whole numbers alike whether integer or float; null where missing."""
    dtype, column = frame.schema[name], pl.col(name)
    text = column.cast(pl.String)
    if dtype.is_float():
        whole = (column == column.floor()) & (column.abs() < 2.0**53)
        text = pl.when(whole).then(column.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(text)
    return frame.select(pl.when(~codebook.missing(name, dtype)).then(text).alias(name)).to_series()


def _some(missing: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """The indicator of missing values, None where it would not vary."""
    return missing if missing.any() and not missing.all() else None
