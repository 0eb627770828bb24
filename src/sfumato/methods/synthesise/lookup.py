"""Columns that are told by another: the one is looked up from the other, or the other drawn within what stays true."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.model import Drawing, Fit, Limits, Model, Told

__all__ = ["Lookup", "found_in", "within_true"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_VALUE = (
    "Column {told!r} stays true and is told by {by!r}, as `keep` wants it, but some of its values are told by no value "
    "of {by!r} here. Correct these records, leave them out by `where`, or draw {told!r}, too."
)


@dataclass(frozen=True)
class Lookup:
    """That one column tells another.

    Parameters
    ----------
    told
        The column that is told.
    by
        The column that tells it.
    values
        Of the original, once it is seen: each value of `by` (`y`), in order, and the commonest of `told` with it (`x`).
        Confidential.
    """

    told: str
    by: str
    values: pl.DataFrame | None = None

    @property
    def text(self) -> str:
        """What it is called in plans and notes."""
        return f"{self.told} of {self.by}"

    @property
    def names(self) -> tuple[str, str]:
        """Its columns."""
        return self.told, self.by

    def counted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """How many records of a table have each pair of values; missing values are values, too."""
        pairs = frame.select(_plain(frame[self.by]).alias("y"), _plain(frame[self.told]).alias("x"))
        return pairs.group_by("y", "x").agg(pl.len().cast(pl.Int64).alias("many"))

    def learnt(self, frame: pl.DataFrame) -> Lookup:
        """With the commonest value for each, the least of those that are equally common; from the whole table."""
        return replace(self, values=_commonest(self.counted(frame)).select("y", "x"))

    @staticmethod
    def broken(counts: pl.DataFrame) -> int:
        """How many records are exceptions, from `counted`."""
        return int(counts["many"].to_numpy().sum() - _commonest(counts)["many"].to_numpy().sum())

    @property
    def digest(self) -> str:
        """What stands for the values in the draws: none stays where one of them changes, whatever their type."""
        written = self._values.select(pl.all().cast(pl.String)).sort("y", nulls_last=True)
        return hashlib.sha256(written.write_csv().encode()).hexdigest()

    @property
    def _values(self) -> pl.DataFrame:
        if self.values is None:
            raise AssertionError("the table has not been seen")
        return self.values

    @property
    def results(self) -> pl.Series:
        """The values that may be told."""
        return self._values["x"].unique(maintain_order=True)

    def of(self, y: Told, coding: Coding) -> Coded:
        """The column that is told.

        Parameters
        ----------
        y
            The column that tells it.
        coding
            How the column is coded that is told; all values that may be told have a code.

        Notes
        -----
        A value that the original does not have (a rule's) is taken for the nearest number, or for the least category.
        """
        known, told = self._values["y"], self._values["x"]
        series = _plain(y.coding.series(y.column)).alias("y")
        rows = pl.DataFrame({"y": known, "row": np.arange(len(known))})
        found = series.to_frame().join(rows, on="y", how="left", nulls_equal=True, maintain_order="left")["row"]
        if found.null_count():
            found = found.fill_null(pl.Series(_nearest(series, known)))
        codes = {value: coding.code(value) for value in self.results}
        state = np.array([codes[value][0] for value in told], dtype=np.int64)
        number = np.array([codes[value][1] for value in told])
        place = found.to_numpy()
        return Coded(state[place], number[place])


def _plain(column: pl.Series) -> pl.Series:
    """A column whose values can be compared: categories by their labels, no number that is none."""
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _commonest(counts: pl.DataFrame) -> pl.DataFrame:
    ordered = counts.sort("y", "many", "x", descending=[False, True, False], nulls_last=True)
    return ordered.unique("y", keep="first", maintain_order=True)


def _nearest(values: pl.Series, known: pl.Series) -> Ints:
    """Of each value the row of the nearest that is known; of categories the first."""
    if not (values.dtype.is_numeric() or values.dtype.is_temporal()) or known.null_count() == len(known):
        return np.zeros(len(values), dtype=np.int64)
    held = known.drop_nulls().to_physical().cast(pl.Float64).to_numpy()
    x = values.to_physical().cast(pl.Float64).fill_null(held[0]).to_numpy()
    high = np.clip(np.searchsorted(held, x), 0, len(held) - 1)
    low = np.maximum(high - 1, 0)
    return np.asarray(np.where(x - held[low] <= held[high] - x, low, high), dtype=np.int64)


@dataclass(frozen=True)
class _Found:
    """A column that is looked up from the first of its predictors."""

    lookup: Lookup
    coding: Coding

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """Look the column up; nothing is drawn."""
        return self.lookup.of(predictors[0], self.coding)


def found_in(lookup: Lookup) -> Fit:
    """How a column is looked up from its first predictor.

    Parameters
    ----------
    lookup
        What tells it.
    """

    def fit(column: Coded, predictors: Sequence[Told], coding: Coding, weights: Floats | None) -> Model:
        return _Found(lookup, coding)

    return fit


@dataclass(frozen=True)
class _Within:
    """Models of a column, one for each combination of the true values that it tells. Confidential."""

    lookups: tuple[Lookup, ...]
    models: dict[tuple[float, ...], tuple[int, Model]]

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """Draw the column for rows with these predictors, behind the true columns."""
        many = len(self.lookups)
        keys, place = _keys([own.column for own in predictors[:many]])
        state, number = np.zeros(draws.rows, dtype=np.int64), np.zeros(draws.rows)
        for i, key in enumerate(keys):
            if key not in self.models:
                first = self.lookups[0]
                raise DataError(NO_VALUE.format(told=", ".join(one.told for one in self.lookups), by=first.by))
            which, model = self.models[key]
            rows = place == i
            own = draws.of(rows, f"{draws.part} of {which}".strip())
            drawn = model.draw([told.at(rows) for told in predictors[many:]], own)
            state[rows], number[rows] = drawn.state, drawn.number
        return Coded(state, number)


def within_true(fit: Fit, lookups: Sequence[Lookup]) -> Fit:
    """How a column is drawn that tells columns which stay true: from records that have the same of them.

    Parameters
    ----------
    fit
        How its models are fitted.
    lookups
        What it tells; the columns that are told are its first predictors.
    """
    lookups = tuple(lookups)

    def fitted(column: Coded, predictors: Sequence[Told], coding: Coding, weights: Floats | None) -> Model:
        many = len(lookups)
        true, seen = predictors[:many], predictors[many:]
        kept = np.ones(len(column.state), dtype=np.bool_)
        for lookup, x in zip(lookups, true, strict=True):
            told = lookup.of(Told(coding, column), x.coding)
            kept &= (told.state == x.column.state) & (told.number == x.column.number)
        keys, place = _keys([own.column for own in true])
        models = {}
        for i, key in enumerate(keys):
            rows = kept & (place == i)
            if rows.any():
                part = Coded(column.state[rows], column.number[rows])
                own = None if weights is None else weights[rows]
                models[key] = i, fit(part, [told.at(rows) for told in seen], coding, own)
        return _Within(lookups, models)

    return fitted


def _keys(columns: Sequence[Coded]) -> tuple[list[tuple[float, ...]], Ints]:
    """The combinations of values of some columns, in order, and which of them each row has."""
    told = np.column_stack([part for own in columns for part in (own.state.astype(np.float64), own.number)])
    keys, place = np.unique(told, axis=0, return_inverse=True)
    return [tuple(float(v) for v in key) for key in keys], place.reshape(-1)
