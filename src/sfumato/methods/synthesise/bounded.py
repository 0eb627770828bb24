"""Draw a column within bounds that other columns are: as its difference from them, or as a share of the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.hidden import HIDDEN
from sfumato.errors import DataError
from sfumato.kernels.grid import round_to_multiple
from sfumato.methods.drawn_grid import time_unit
from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.model import Drawing, Fit, Limits, Model, Told

__all__ = ["Bound", "Bounded", "Bounding", "above", "below", "bounding_coding"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_ROOM = (
    "Of some records no value of column {column!r} lies between {others}, as `keep` wants it, for these stay true or "
    "are settled. Correct these records, or leave them out."
)
NO_NUMBERS = "Column {column!r} is text here, so that `keep` cannot compare it: say its kind, number or date."
_TIMES = (86400.0, 60.0, 1.0)
_PARTS = ("alone", "lower", "upper", "between")
_NEAR = 1e-9
"""Share of a unit that a quotient of doubles may be off by."""


@dataclass(frozen=True)
class Bound:
    """A column that another is never below, or never above.

    Parameters
    ----------
    column
        Which column, which stands before the other.
    upper
        Whether the other is never above it.
    strict
        Whether the other differs from it.
    through
        Columns that lie between both and are drawn later, from the bound on: how each is coded, and whether it differs
        from the one before. Room is left for them.
    """

    column: str
    upper: bool = False
    strict: bool = False
    through: tuple[tuple[Coding, bool], ...] = ()

    def of(self, number: Floats, coding: Coding) -> Floats:
        """The least (largest) number of the bounded column that these of the bound allow.

        Parameters
        ----------
        number
            Numbers of the bound, as a table has them.
        coding
            How the bounded column is coded.
        """
        for between, strict in (*self.through, (coding, self.strict)):
            number = below(between, number, strict) if self.upper else above(between, number, strict)
        return number

    def back(self, number: Floats, coding: Coding) -> Floats:
        """The largest (least) number of the bound that these of the bounded column allow.

        Parameters
        ----------
        number
            Numbers of the bounded column, as a table has them.
        coding
            How the bound is coded.
        """
        codings = [coding, *(own for own, _ in self.through)]
        stricts = [*(strict for _, strict in self.through), self.strict]
        for own, strict in zip(reversed(codings), reversed(stricts), strict=True):
            number = above(own, number, strict) if self.upper else below(own, number, strict)
        return number

    def kept(self, number: Floats, bound: Floats) -> Flags:
        """Where numbers keep to those of the bound."""
        strict = self.strict or any(own for _, own in self.through)
        low, high = (number, bound) if self.upper else (bound, number)
        return np.asarray(low < high if strict else low <= high)


def above(coding: Coding, number: Floats, strict: bool) -> Floats:
    """The least numbers that a column may have and that are no less than others, or more.

    Parameters
    ----------
    coding
        How the column is coded.
    number
        The other numbers.
    strict
        Whether it must differ.

    Examples
    --------
    >>> import polars as pl
    >>> coding = Coding("x", pl.Float64(), (), True, np.array([1.0]), 1)
    >>> above(coding, np.array([0.3, 0.31]), False).tolist(), above(coding, np.array([0.3, 0.31]), True).tolist()
    ([0.3, 0.4], [0.4, 0.4])
    """
    unit = coding.unit
    least = coding.rounded(number if unit is None else np.ceil(number / unit - _NEAR) * unit)
    return _beyond(coding, number, least, np.inf, strict)


def below(coding: Coding, number: Floats, strict: bool) -> Floats:
    """The largest numbers that a column may have and that are no more than others, or less; as `above`."""
    unit = coding.unit
    most = coding.rounded(number if unit is None else np.floor(number / unit + _NEAR) * unit)
    return _beyond(coding, number, most, -np.inf, strict)


def _beyond(coding: Coding, number: Floats, near: Floats, end: float, strict: bool) -> Floats:
    """Numbers near others, moved on where they are not beyond these: by a unit, or as little as the type can tell."""
    sign = 1.0 if end > 0 else -1.0
    for unit in (coding.unit, None):
        further = coding.next_to(near, end) if unit is None else coding.rounded(near + sign * unit)
        short = sign * near <= sign * number if strict else sign * near < sign * number
        near = np.where(short, further, near)
    return near


def bounding_coding(coding: Coding, column: Coded, codebook: Codebook) -> Coding:
    """The coding of a column that bounds others or is bounded: with the ends of its numbers, and their grid.

    Parameters
    ----------
    coding, column
        How the original's column is coded.
    codebook
        Of the table: numbers that are multiples stay so.

    Raises
    ------
    DataError
        A column of texts.
    """
    if not (coding.dtype.is_numeric() or coding.dtype.is_temporal()):
        raise DataError(NO_NUMBERS.format(column=coding.name))
    number = column.number[column.state == 0]
    if not len(number):
        return coding
    step = coding.step
    known = codebook[coding.name].multiple if coding.name in codebook else None
    timed = isinstance(coding.dtype, pl.Datetime | pl.Duration)
    units = [unit * time_unit(coding.dtype) for unit in _TIMES] if timed else [known]
    for unit in units:
        if step is None and unit and np.array_equal(round_to_multiple(number, unit), number):
            step = unit
    largest = np.abs(number).max(keepdims=True)
    finest = float(coding.next_to(largest, np.inf)[0] - largest[0])
    fine = coding.decimals is not None and 10.0**-coding.decimals < 8 * finest  # rounding would move numbers at random
    coding = replace(coding, step=step, decimals=None if fine else coding.decimals)
    held = replace(coding, step=None).rounded(number)
    return replace(coding, ends=(float(held.min()), float(held.max())))


@dataclass(frozen=True)
class Bounding:
    """How a column is bounded.

    Parameters
    ----------
    bounds
        The columns that bound it.
    ends
        Least and largest number that it may have.
    fewest
        How many records a model of differences is fitted to at least.
    turn
        Of times that differ from row to row, the columns that say how many rows there are, and which of them one is: as
        many units are left for those to come. Where there is no room for all, two may have the same.
    whole
        The columns that bound all of these rows alike.
    last
        The column that is the time of the row before.
    """

    bounds: tuple[Bound, ...]
    ends: tuple[float, float]
    fewest: int
    turn: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()
    last: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it hangs on."""
        return (*(bound.column for bound in self.bounds), *self.turn)

    def interval(self, told: Sequence[Told], coding: Coding, rows: int) -> tuple[Floats, Floats, Floats]:
        """Least and largest number of each row, and how much of the range is left to later ones.

        Numbers are those of the tightest bounds there are, infinite where there is none.

        Parameters
        ----------
        told
            The columns that it hangs on.
        coding
            How the bounded column is coded.
        rows
            How many rows there are.
        """
        many, left = len(self.bounds), np.zeros(rows)
        low, high = self._between(told[:many], coding, left)
        if not self.turn:
            return low, high, left
        size, place = (own.column.number for own in told[many:])
        unit = coding.unit or float(np.spacing(np.abs(self.ends).max()))
        left = unit * np.maximum(size - place, 0.0)
        later, sooner = self._between(told[:many], coding, left, differs=True)
        room = np.maximum(later, self.ends[0]) <= np.minimum(sooner, self.ends[1] - left)
        return np.where(room, later, low), np.where(room, sooner, high), np.where(room, left, 0.0)

    def _between(
        self, told: Sequence[Told], coding: Coding, left: Floats, *, differs: bool = False
    ) -> tuple[Floats, Floats]:
        """Least and largest number of each row, some of it left to later ones; above the row before, or not below."""
        low, high = np.full(len(left), -np.inf), np.full(len(left), np.inf)
        for bound, own in zip(self.bounds, told, strict=True):
            there = own.column.state == 0
            number = bound.of(own.coding.rounded(own.column.number[there]), coding)
            if bound.upper:
                number = coding.rounded(number - left[there]) if bound.column in self.whole else number
                high[there] = np.minimum(high[there], number)
            else:
                number = above(coding, number, strict=True) if differs and bound.column == self.last else number
                low[there] = np.maximum(low[there], number)
        return low, high

    def kept(self, column: Coded, told: Sequence[Told]) -> Flags:
        """Which records of the original keep to all bounds; those without a number do."""
        kept = np.ones(len(column.state), dtype=np.bool_)
        for bound, own in zip(self.bounds, told[: len(self.bounds)], strict=True):
            there = (own.column.state == 0) & (column.state == 0)
            kept &= ~there | bound.kept(column.number, own.column.number)
        return kept

    def parted(self, predictors: Sequence[Told]) -> tuple[list[Told], list[Told]]:
        """What a model looks at, and behind it the columns that this hangs on."""
        many = len(predictors) - len(self.columns)
        return list(predictors[:many]), list(predictors[many:])


class Bounded:
    """The models of a bounded column. Confidential: they hold true values.

    Whether there is a number, and which category else, is drawn as of any column. Then the number is drawn as its
    difference from the tightest bound, as a share of the interval between two, or itself where a row has no bound, by
    models of the records of the same sort. Where too few are of a sort, numbers themselves are drawn within the bounds.

    Parameters
    ----------
    fit
        How its models are fitted.
    bounding
        Its bounds.
    column
        The column.
    predictors
        The columns that it is drawn from, and behind them those of the bounds.
    coding
        How the column is coded.
    weights
        Of a Bayesian bootstrap, shape (n,).
    """

    def __init__(
        self,
        fit: Fit,
        bounding: Bounding,
        column: Coded,
        predictors: Sequence[Told],
        coding: Coding,
        weights: Floats | None,
    ) -> None:
        self._fit, self._bounding, self._coding = fit, bounding, coding
        self._seen, told = bounding.parted(predictors)
        self._column, self._weights = column, weights
        kept = bounding.kept(column, told)
        self._kept = kept if kept.any() else np.ones(len(kept), dtype=np.bool_)
        low, high, _ = bounding.interval(told, coding, len(kept))
        self._states = self._model(self._kept, np.zeros(len(kept)))
        number = self._kept & (column.state == 0)
        sort, part = _sort(low, high), _part(column.number, low, high)
        part = part if coding.decimals is None else np.where(sort < 3, np.round(part, coding.decimals), part)
        self._parts: dict[int, Model] = {}
        for i in range(len(_PARTS)):
            rows = number & (sort == i) & (high > low)
            if kept.any() and int(rows.sum()) >= bounding.fewest:
                self._parts[i] = self._model(rows, part)
        missing = np.bincount(column.state)[1:]
        self._missing = int(np.argmax(missing)) + 1 if len(missing) else int(bool(coding.special))

    def _model(self, rows: Flags, number: Floats) -> Model:
        column = Coded(self._column.state[rows], number[rows])
        weights = None if self._weights is None else self._weights[rows]
        return self._fit(column, [own.at(rows) for own in self._seen], self._coding, weights)

    @cached_property
    def _plain(self) -> Model:
        """The model of the numbers themselves."""
        return self._model(self._column.state == 0, self._column.number)

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """Draw the column for rows with these predictors, behind which are the columns of the bounds."""
        seen, told = self._bounding.parted(predictors)
        state = self._states.draw(seen, draws).state.copy()
        low, high, left = self._bounding.interval(told, self._coding, draws.rows)
        ends = self._ends
        least, last = np.maximum(low, ends[0]), self._coding.rounded(ends[1] - left)
        most = np.minimum(high, np.where(least <= last, last, ends[1]))
        none = (state == 0) & (least > most)
        if self._missing:
            state[none] = self._missing
        elif (none & (low > high)).any():
            others = ", ".join(bound.column.removeprefix(HIDDEN) for bound in self._bounding.bounds)
            raise DataError(NO_ROOM.format(column=self._coding.name, others=others))
        number = np.where(none & (state == 0), np.where(low > ends[1], low, high), 0.0)
        sort = _sort(low, high)
        for i in range(len(_PARTS)):
            rows = (state == 0) & ~none & (sort == i)
            if rows.any():
                own = [one.at(rows) for one in seen]
                bounds = low[rows], high[rows], least[rows], most[rows]
                drawn = self._drawn(i, own, draws.of(rows, _PARTS[i]), *bounds)
                number[rows] = np.clip(self._coding.rounded(drawn), least[rows], most[rows])
        return Coded(state, number)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Least and largest number, rounded inwards as far as there is something within."""
        low, high = self._bounding.ends
        if np.isfinite(low) and np.isfinite(high):
            inner = above(self._coding, np.array([low]), False)[0], below(self._coding, np.array([high]), False)[0]
            if inner[0] <= inner[1]:
                return float(inner[0]), float(inner[1])
        return low, high

    def _drawn(
        self,
        sort: int,
        seen: Sequence[Told],
        draws: Drawing,
        low: Floats,
        high: Floats,
        least: Floats,
        most: Floats,
    ) -> Floats:
        """Numbers of rows of one sort; the bound where no donor is left."""
        slack = (self._coding.unit or 0.0) / 2
        if sort in self._parts:
            one, other = _part(least - slack, low, high, sort), _part(most + slack, low, high, sort)
            within = np.minimum(one, other), np.maximum(one, other)
            number = _whole(self._parts[sort].draw(seen, draws, within).number, low, high, sort)
        else:
            number = self._plain.draw(seen, draws, (least - slack, most + slack)).number
        bound = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, least))
        return np.where(np.isnan(number), bound, number)


def _sort(low: Floats, high: Floats) -> Ints:
    """Which bounds a row has: 0 none, 1 a lower one, 2 an upper one, 3 both."""
    return np.isfinite(low) + 2 * np.isfinite(high).astype(np.int64)


def _part(number: Floats, low: Floats, high: Floats, sort: int | None = None) -> Floats:
    """A number as it is drawn; `sort` where it is the same for all rows."""
    if sort is None:
        out = np.zeros(len(number))
        for i in range(len(_PARTS)):
            rows = _sort(low, high) == i
            out[rows] = np.maximum(_part(number[rows], low[rows], high[rows], i), 0.0 if i else -np.inf)
        return out
    if sort == 0:
        return number
    if sort == 1:
        return number - low
    return high - number if sort == 2 else (number - low) / _width(low, high)


def _whole(part: Floats, low: Floats, high: Floats, sort: int) -> Floats:
    """The number that was drawn as a part."""
    if sort == 0:
        return part
    if sort == 1:
        return low + part
    return high - part if sort == 2 else low + part * _width(low, high)


def _width(low: Floats, high: Floats) -> Floats:
    return np.where(high > low, high - low, 1.0)
