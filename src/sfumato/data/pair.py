"""A table before and after protection: what every measure of risk and utility looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.holding import holding
from sfumato.draws import shortest
from sfumato.errors import DataError

__all__ = ["Pair", "numbers"]

T = TypeVar("T")
_SMALL = 10_000


def numbers(frame: pl.DataFrame, columns: Sequence[str], codebook: Codebook) -> np.ndarray:
    """Give numeric columns as floats with NaN wherever there is no value.

    Parameters
    ----------
    frame
        Any table.
    columns
        Names of numeric or boolean columns.
    codebook
        Says which codes stand for missing.

    Returns
    -------
    ndarray, shape (n, p), float64

    Raises
    ------
    DataError
        Where a column is not numeric.
    """
    out = np.empty((frame.height, len(columns)), order="F")
    schema = frame.schema  # made anew at each look
    values = []
    for j, name in enumerate(columns):
        dtype = schema[name]
        if not (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
            raise DataError(f"Column {name!r} holds {holding(dtype)}; a numeric column is needed here.")
        value = pl.when(~codebook.missing(name, dtype)).then(shortest(pl.col(name), dtype))
        values.append(value.fill_null(float("nan")).alias(str(j)))
    at_once = len(columns) if frame.height <= _SMALL else 1  # many small strata, or one more column in memory
    for begin in range(0, len(columns), at_once or 1):
        for j, found in enumerate(frame.select(values[begin : begin + at_once]), begin):
            out[:, j] = found.to_numpy()
    return out


@dataclass(frozen=True)
class Pair:
    """Original and protected table, side by side.

    Parameters
    ----------
    before
        The table as it enters the first step that masks.
    after
        The protected table.
    codebook
        What is known about the variables of both.
    columns
        The numeric columns that masking changed: the ones that per-column measures are of.
    by
        The categorical columns within which records were kept apart (strata); may be empty.
    aligned
        Whether row i of `before` and row i of `after` are the same record. Then both have equal heights; records that
        only one of the tables has were left out when they were joined.
    record
        Name of the column with the record's id, where there is one.
    notes
        What putting the tables side by side had to say.
    whole_tables
        Both tables with the records that only one of them has, where some were left out.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> pair = Pair(pl.DataFrame({"a": [1.0, None]}), pl.DataFrame({"a": [2.0, 3.0]}), Codebook(), ("a",), aligned=True)
    >>> pair.complete()[0].tolist()
    [[1.0]]
    """

    before: pl.DataFrame
    after: pl.DataFrame
    codebook: Codebook
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    aligned: bool = False
    record: str | None = None
    notes: tuple[str, ...] = ()
    whole_tables: tuple[pl.DataFrame, pl.DataFrame] | None = None
    _known: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.aligned and self.before.height != self.after.height:
            raise DataError("Two aligned tables must have equal numbers of rows. Join them on the record id first.")

    @cached_property
    def tables(self) -> Pair:
        """Both tables with all their records, for measures of tables: what was left out is part of what was lost."""
        if self.whole_tables is None:
            return self
        return Pair(*self.whole_tables, self.codebook, self.columns, self.by, record=self.record)

    @cached_property
    def x(self) -> np.ndarray:
        """Values of `columns` before, shape (n, p), NaN where missing."""
        return numbers(self.before, self.columns, self.codebook)

    @cached_property
    def z(self) -> np.ndarray:
        """Values of `columns` after, shape (m, p), NaN where missing."""
        return numbers(self.after, self.columns, self.codebook)

    @cached_property
    def known_by(self) -> tuple[str, ...]:
        """Columns of `by` that somebody who knows true values can look up in the protected table.

        Of aligned tables a released stratum must follow from the true one, as it does where strata were merged.
        Where it was drawn at random (noise, exchanged categories) nobody knows the stratum that a record was released
        in, and the column is left out.
        """
        if not self.aligned:
            return self.by
        return tuple(n for n in self.by if n in self.before.columns and self._follows(n))

    def _follows(self, column: str) -> bool:
        """Whether a released stratum is a function of the true ones."""
        true, released = self.before[column], self.after[column]
        if true.dtype == released.dtype and true.equals(released, null_equal=True):
            return True
        names = [n for n in self.by if n in self.before.columns]
        both = self.before.select(pl.struct(names).alias("true")).with_columns(released.alias("released")).unique()
        return both.height == both["true"].n_unique() and released.n_unique() <= true.n_unique()

    @cached_property
    def stratum(self) -> np.ndarray:
        """Stratum of each row as integers 0, 1, …, shape (n,). All zero without `by`.

        Of aligned tables it is the released one, in which an intruder looks, by the columns `known_by`: merged strata
        are one.
        """
        if not self.known_by:
            return np.zeros(self.before.height, dtype=np.int64)
        table = self.after if self.aligned else self.before
        rank = table.select(pl.struct(list(self.known_by)).rank("dense").alias("s")).to_series()
        return np.asarray(rank.to_numpy().astype(np.int64) - 1)

    @cached_property
    def whole(self) -> np.ndarray:
        """Rows (aligned tables) in which every one of `columns` has a value before and after, shape (n,), bool."""
        return np.asarray(~(np.isnan(self.x).any(axis=1) | np.isnan(self.z).any(axis=1)))

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Compute something costly of this pair once; figures and pictures then share it."""
        if key not in self._known:
            self._known[key] = compute()
        value: T = self._known[key]
        return value

    def complete(self) -> tuple[np.ndarray, np.ndarray]:
        """Before and after of the rows that are `whole`, two arrays of shape (n', p)."""
        return self.x[self.whole], self.z[self.whole]
