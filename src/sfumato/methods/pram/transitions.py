"""What `pram` learns of a column, and how it exchanges the column's categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.disclosure import Disclosed, Misclassified
from sfumato.data.hidden import HIDDEN
from sfumato.data.holding import holding
from sfumato.data.query import COUNT
from sfumato.draws import bits, plain
from sfumato.errors import DataError
from sfumato.kernels.masking.transition import equal_spread, invariant, move
from sfumato.methods.base import DrawBy, StepDraws

__all__ = ["MAX_LEVELS", "Exchanging", "Transitions"]

MAX_LEVELS = 200
"""Most categories of a column: the matrix, which analysts are told, has the square of it."""

_STRATUM = f"{HIDDEN}stratum"
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Transitions:
    """The matrices of one column.

    Parameters
    ----------
    levels
        The categories, sorted.
    matrices
        Transition matrix of each stratum, each of shape (L, L).
    strata
        Values of the stratifying columns, a row for each stratum; no columns where there is one matrix for all.
    notes
        What the custodian should know.
    """

    levels: tuple[Scalar, ...]
    matrices: tuple[Floats, ...]
    strata: pl.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def wheres(self) -> list[dict[str, Any]]:
        """The strata as a disclosure names them."""
        rows = self.strata.rows(named=True) if self.strata.width else [{}]
        return [
            {n: v if v is None or isinstance(v, bool | int | float | str) else str(v) for n, v in row.items()}
            for row in rows
        ]

    def disclosed(self, column: str, draw_by: DrawBy) -> Iterator[Misclassified]:
        """One part for each matrix."""
        for where, matrix in zip(self.wheres, self.matrices, strict=True):
            yield Misclassified(column, matrix, levels=self.levels, where=where, draw_by=draw_by)


@dataclass(frozen=True)
class Exchanging:
    """One column of `pram`, see `Pram` for the parameters; `by` is empty where the matrix is the same in all strata."""

    column: str
    codebook: Codebook
    retention: float | None
    matrix: tuple[tuple[float, ...], ...] | None
    levels: tuple[Scalar, ...] | None
    invariant: bool
    by: tuple[str, ...]
    min_stratum: int
    min_count: int
    draw_by: DrawBy

    def fit(self, answer: pl.DataFrame) -> Transitions:
        """Settle the categories and the matrices from counts by stratum and category."""
        dtype = answer.schema[self.column]
        if not (dtype.is_numeric() or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)):
            raise DataError(
                f"pram: column {self.column!r} holds {holding(dtype)}; text, codes or true/false are needed here."
            )
        present = answer.filter(~self.codebook.missing(self.column, dtype))
        levels, rows = self._levels(present, dtype)
        if len(levels) > MAX_LEVELS:
            raise DataError(
                f"pram: column {self.column!r} has more than {MAX_LEVELS} categories, too many for a matrix that "
                "analysts can use. Recode it to broader ones first."
            )
        code = self._codes(present, levels)
        if (code < 0).any():
            raise DataError(f"pram: column {self.column!r} holds values that `levels` does not list.")
        if rows is not None or not self.invariant:
            matrix = equal_spread(len(levels), self.retention or 0.0) if rows is None else rows
            notes = (*self._notes(levels, [matrix]), *self._rare(code, present[COUNT].to_numpy(), len(levels)))
            return Transitions(levels, (matrix,), pl.DataFrame(), notes)
        strata = present.select(self.by).unique().sort(self.by) if self.by else pl.DataFrame()
        counts = np.zeros((max(1, strata.height), len(levels)))
        np.add.at(counts, (self._stratum(present, strata), code), present[COUNT].to_numpy())
        matrices = [self._invariant(c) for c in counts]
        return Transitions(levels, tuple(matrices), strata, self._notes(levels, matrices))

    def taking(self, answer: pl.DataFrame, told: Sequence[Disclosed]) -> Transitions | None:
        """As `fit`, with the categories and matrices of an earlier release; None where it lacks some of either.

        Of strata that it did not have the matrix is that of the data, where the categories are the same.
        """
        own = self.fit(answer)
        parts = [p for p in told if isinstance(p, Misclassified) and p.column == self.column and p.levels is not None]
        found = [next((p for p in parts if p.where == where), None) for where in own.wheres]
        levels = next((p.levels for p in found if p is not None), None)
        if levels is None or not {*map(_as_told, own.levels)} <= {*map(_as_told, levels)}:
            return None
        if any(p.levels != levels for p in found if p is not None) or (None in found and levels != own.levels):
            return None
        matrices = [m if p is None else p.array for m, p in zip(own.matrices, found, strict=True)]
        return replace(own, levels=levels, matrices=tuple(matrices), notes=self._notes(levels, matrices))

    def _rare(self, code: Ints, count: Ints, levels: int) -> tuple[str, ...]:
        """A note where categories that hardly anybody has are told only because the data have them."""
        often = np.bincount(code, count, levels)
        if self.levels is not None or not (often < self.min_count).any():
            return ()
        return (
            f"Some categories of {self.column} are rare, and the disclosure lists all of them: that there is somebody "
            "in each is told. Recode rare ones first, or list all that are possible under `levels`.",
        )

    def _levels(self, present: pl.DataFrame, dtype: pl.DataType) -> tuple[tuple[Scalar, ...], Floats | None]:
        """The categories, sorted, and the given matrix in their order."""
        found = present.select(_plain(self.column, dtype)).to_series().unique()
        if self.levels is None:
            levels = tuple(_scalar(v) for v in sorted(found, key=_rank(found)))
            if not levels:
                raise DataError(f"pram: column {self.column!r} has no value at all. Leave it out of columns.")
            if self.matrix is not None and len(levels) != len(self.matrix):
                raise DataError(
                    f"pram: the matrix of {self.column!r} is for {len(self.matrix)} categories, and the data have "
                    "another number. Say under `levels` which category each row is for."
                )
            return levels, None if self.matrix is None else np.array(self.matrix)
        given = self._given(self.levels, found.dtype)
        rank = _rank(given)
        order = sorted(range(len(given)), key=lambda i: rank(given[i]))
        rows = None if self.matrix is None else np.array(self.matrix)[np.ix_(order, order)]
        return tuple(given[i] for i in order), rows

    def _given(self, levels: tuple[Scalar, ...], dtype: pl.DataType) -> tuple[Any, ...]:
        """`levels` as the data's type has them."""
        if dtype == pl.String and not any(isinstance(v, bool | float) for v in levels):
            return tuple(str(v) for v in levels)
        whole = all(isinstance(v, bool) == (dtype == pl.Boolean) and not isinstance(v, str) for v in levels)
        if dtype == pl.String or not whole:
            raise DataError(f"pram: the `levels` do not fit column {self.column!r}, which holds {holding(dtype)}.")
        return tuple(_scalar(v) for v in levels)

    def _codes(self, frame: pl.DataFrame, levels: tuple[Scalar, ...]) -> Ints:
        """Place of each value among the categories, shape (n,); −1 where there is no value or none of them."""
        dtype = frame.schema[self.column]
        value = _plain(self.column, dtype)
        keys = pl.Series(levels, dtype=frame.select(value).to_series().dtype, strict=False)
        code = value.replace_strict(keys, np.arange(len(levels)), default=-1, return_dtype=pl.Int64)
        missing = self.codebook.missing(self.column, dtype)
        return frame.select(pl.when(missing).then(-1).otherwise(code).alias("code")).to_series().to_numpy()

    def _stratum(self, frame: pl.DataFrame, strata: pl.DataFrame) -> Ints:
        """Place of each row's stratum among `strata`, shape (n,); −1 for one without any value of the column."""
        if not strata.width:
            return np.zeros(frame.height, dtype=np.int64)
        keys = frame.select(
            pl.col(n).fill_nan(None) if frame.schema[n].is_float() else pl.col(n) for n in strata.columns
        )
        numbered = strata.with_columns(pl.int_range(pl.len()).alias(_STRATUM))
        joined = keys.join(numbered, on=strata.columns, how="left", nulls_equal=True, maintain_order="left")
        return joined[_STRATUM].fill_null(-1).to_numpy()

    def _invariant(self, counts: Floats) -> Floats:
        """The invariant matrix of one stratum, if its shares may be told."""
        where = f"some combinations of {', '.join(self.by)} hold" if self.by else "the table holds"
        if counts.sum() < self.min_stratum:
            raise DataError(
                f"pram: {where} fewer values of {self.column!r} than min_stratum ({self.min_stratum}); an invariant "
                "matrix would tell their shares. Use fewer or broader columns in by, or leave invariant out."
            )
        if counts[counts > 0].min() < self.min_count:
            raise DataError(
                f"pram: {where} fewer than min_count ({self.min_count}) records of a category of {self.column!r}; an "
                "invariant matrix would tell so. Recode rare categories, use fewer columns in by, or leave invariant "
                "out."
            )
        matrix = invariant(counts / counts.sum(), self.retention or 0.0)
        if matrix is None:
            raise DataError(
                f"pram: column {self.column!r} is so uneven{' in some combinations of by' if self.by else ''} that "
                f"more than the share {self.retention:g} of its values stay by chance even where each is drawn anew. "
                "Use a higher retention, recode it, or leave invariant out."
            )
        return matrix

    def _notes(self, levels: tuple[Scalar, ...], matrices: list[Floats]) -> tuple[str, ...]:
        notes = []
        if len(levels) == 1:
            notes.append(f"{self.column} has a single category: it stays as it is.")
        elif self.invariant and (alike := sum(bool(np.all(m == np.eye(len(m)))) for m in matrices)):
            if self.retention != 1:
                notes.append(f"{self.column} has a single category in {alike} strata: there it stays as it is.")
        elif len(matrices) == 1 and np.linalg.matrix_rank(matrices[0]) < len(levels):
            notes.append(f"The matrix of {self.column} is singular: nobody can estimate the true shares from it.")
        return tuple(notes)

    def exchanged(
        self, batch: pl.DataFrame, state: Transitions, unit: NDArray[np.uint64], draws: StepDraws
    ) -> pl.Series:
        """The released column; what is missing stays as it is."""
        code, stratum = self._codes(batch, state.levels), self._stratum(batch, state.strata)
        # categories that are equal are drawn equally, whatever their type
        single = batch.schema[self.column] == pl.Float32
        levels = tuple(plain(np.float32(v) if single else v) for v in state.levels)
        value = bits(np.array(levels, dtype=object))
        released = code.copy()
        order = np.argsort(stratum, kind="stable")
        ends = np.searchsorted(stratum[order], np.arange(len(state.matrices) + 1))
        for s, matrix in enumerate(state.matrices):
            rows = order[ends[s] : ends[s + 1]]
            rows = rows[code[rows] >= 0]
            # keyed on the stratum's own matrix, so that other strata's draws stay as they are when one changes
            purpose = draws.purpose(self.column, f"{matrix.tolist()!r} of {levels!r}")
            own = value[code[rows]] if self.draw_by != "household" else None
            released[rows] = move(code[rows], draws.draws.uniform(unit[rows], purpose, own), matrix)
        old = batch[self.column]
        new = self._typed(state.levels, old.dtype).gather(np.maximum(released, 0))
        return new.zip_with(pl.Series(code >= 0), old).alias(self.column)

    def _typed(self, levels: tuple[Scalar, ...], dtype: pl.DataType) -> pl.Series:
        """The categories as a series of the data's type."""
        plain = pl.Float64 if any(isinstance(v, float) for v in levels) else None
        try:
            return pl.Series(levels, dtype=plain).cast(dtype)
        except pl.exceptions.PolarsError:
            raise DataError(
                f"pram: column {self.column!r}, which holds {holding(dtype)}, cannot take all of `levels`."
            ) from None


def _rank(levels: Iterable[Any]) -> Callable[[Any], Any]:
    """What categories are sorted by: their numbers, where all are numbers or write such."""
    numeric = all(isinstance(plain(v), int | float) for v in levels)
    return plain if numeric else lambda v: v


def _plain(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column as text, numbers or true/false."""
    value = pl.col(column)
    if dtype.is_decimal():
        return value.cast(pl.Float64)
    return value.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else value


def _as_told(level: Scalar) -> tuple[bool, Scalar]:
    """A category so that true is not 1."""
    return isinstance(level, bool), level


def _scalar(value: Any) -> Any:
    """A category as it is told: whole numbers without a decimal point, whatever type the data have."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
