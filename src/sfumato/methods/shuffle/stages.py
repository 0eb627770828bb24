"""The first stage of `shuffle`; the second, which tells what it did, is that of `swap`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.holding import holding
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.kernels.masking.shuffle import draw_scores, explained, normal_scores
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.swap.stages import compared
from sfumato.methods.swap.values import doubles, ordered, value_bits

__all__ = ["FEWEST", "Shuffling"]

FEWEST = 10
"""Records for each column that is given, and of each category of one: with fewer, values tell their own prediction."""
_TOLD = 0.99
"""Share of a column's variance that what is given must not tell: what is left would hide hardly anything."""
_CATEGORIES = (Kind.CATEGORICAL, Kind.GEOGRAPHIC)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Shuffling:
    """Shuffle values within one stratum; see `Shuffle` for the parameters."""

    codebook: Codebook
    columns: tuple[str, ...]
    given: tuple[str, ...]
    by: tuple[str, ...]

    def stage(self) -> Stage:
        """The pass."""
        return Stage(self.transform, by=self.by)

    def transform(self, batch: pl.DataFrame, state: None, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a stratum."""
        unit = draws.units(batch)
        tie = draws.tie_break(batch)
        assert tie is not None, "a step that draws by record has a record column"
        row = np.lexsort((unit, tie))  # sums do not hang on the order of rows
        turn = np.empty_like(row)
        turn[row] = np.arange(len(row))
        sorted_batch = batch.select(pl.all().gather(pl.Series(row)))
        new = [z.gather(pl.Series(turn)) for z in self._shuffled(sorted_batch, unit[row], tie[row], draws)]
        told = (s for z in new for s in compared(self.codebook, batch[z.name], z))
        return batch.with_columns(new).with_columns(told)

    def _shuffled(self, batch: pl.DataFrame, unit: Words, tie: Words, draws: StepDraws) -> list[pl.Series]:
        """The columns with their values in the new order, of records in a fixed order."""
        x = np.column_stack([self._amounts(batch, n) for n in self.columns])
        given = self._given(batch)
        both = [normal_scores(column) for column in x.T]
        scores, kept = np.column_stack([s for s, _ in both]), np.array([k for _, k in both])
        self._refuse_few(scores, kept, given)
        z = np.column_stack([self._draws(batch[n], unit, draws) for n in self.columns])
        drawn = draw_scores(scores, kept, given, z)
        return [self._in_order(batch[n], x[:, j], drawn[:, j], tie) for j, n in enumerate(self.columns)]

    def _draws(self, value: pl.Series, unit: Words, draws: StepDraws) -> Floats:
        strength = f"given {self.given!r} by {self.by!r}"
        return draws.draws.normal(unit, draws.purpose(value.name, strength), value_bits([value]))

    def _in_order(self, value: pl.Series, x: Floats, drawn: Floats, tie: Words) -> pl.Series:
        """The value of each rank to the record of that rank; missing ones keep their place."""
        rows = np.flatnonzero(~np.isnan(x))
        source = np.arange(len(x))
        source[rows[np.lexsort((tie[rows], drawn[rows]))]] = rows[np.lexsort((tie[rows], x[rows]))]
        return value.gather(pl.Series(source))

    def _amounts(self, batch: pl.DataFrame, column: str) -> Floats:
        """Values as numbers that sort as they do, NaN where one is missing, shape (n,)."""
        value, variable = batch[column], self.codebook[column]
        missing = batch.select(self.codebook.missing(column, value.dtype)).to_series().to_numpy()
        if ordered(value.dtype) or value.dtype == pl.Boolean:
            number = doubles(value).cast(pl.Float64)
        elif variable.order and value.dtype in (pl.String, pl.Categorical, pl.Enum):
            place = {str(category): float(i) for i, category in enumerate(variable.order)}
            number = value.cast(pl.String).replace_strict(place, default=None, return_dtype=pl.Float64)
            if (number.is_null().to_numpy() & ~missing).any():
                raise DataError(
                    f"shuffle: column {column!r} holds categories that its `order` does not name: add them."
                )
        else:
            raise DataError(
                f"shuffle: column {column!r} holds {holding(value.dtype)}, which have no ranks. Say their order under "
                f"variables ({column}: {{kind: ordinal, order: [...]}}), or use swap with `random: true`."
            )
        out = number.fill_null(float("nan")).to_numpy().copy()
        out[missing] = np.nan
        return out

    def _given(self, batch: pl.DataFrame) -> Floats:
        """What is given, as centred columns of which none is constant, shape (n, q)."""
        given = () if batch.is_empty() else self.given
        columns = [c - c.mean() for n in given for c in self._parts(batch, n)]
        columns = [c for c in columns if (c != 0).any()]
        return np.column_stack(columns) if columns else np.empty((batch.height, 0))

    def _parts(self, batch: pl.DataFrame, column: str) -> Iterator[Floats]:
        """A given column as scores, 0 where missing, or as an indicator of each category; and of being missing."""
        value = batch[column]
        missing = batch.select(self.codebook.missing(column, value.dtype)).to_series().to_numpy()
        text = value.dtype in (pl.String, pl.Categorical, pl.Enum)
        if self.codebook[column].kind in _CATEGORIES or (text and not self.codebook[column].order):
            label = value.cast(pl.String).fill_null("").to_numpy()
            for category in np.unique(label[~missing])[1:]:  # the first is what the others are compared with
                yield self._if_enough((label == category) & ~missing)
        else:
            scores, _ = normal_scores(self._amounts(batch, column))
            yield np.where(missing, 0.0, scores)
        yield self._if_enough(missing)

    def _if_enough(self, here: Bools) -> Floats:
        """An indicator; of none where it would single few records out, or leave few."""
        few = min(int(here.sum()), int((~here).sum())) < FEWEST
        return np.zeros(len(here)) if few else here.astype(np.float64)

    def _refuse_few(self, scores: Floats, kept: Floats, given: Floats) -> None:
        """Refuse what would hide nothing: too few records for what is given, or a column that follows from it."""
        for j, n in enumerate(self.columns):
            there = int((~np.isnan(scores[:, j])).sum())
            if 0 < there < FEWEST * (given.shape[1] + 1):
                where = f"in some combinations of {', '.join(self.by)}" if self.by else "in this table"
                raise DataError(
                    f"shuffle: {where} fewer than {FEWEST} values of {n!r} for each column that is given, and {FEWEST} "
                    "more, so that values would follow from themselves. Use fewer or broader columns in by, or fewer "
                    "in given (of a category each value counts as one)."
                )
            if explained(scores[:, j], float(kept[j]), given)[1] > _TOLD:
                raise DataError(
                    f"shuffle: {', '.join(self.given)} tell more than {_TOLD:.0%} of the variance of {n!r}, so that "
                    "shuffling would hide next to nothing. Leave out of given what it is computed from, or shuffle "
                    "that too (columns)."
                )
