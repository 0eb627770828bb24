"""Disclosed coarsening: what a band stands for, where values were cut off, to what they were rounded.

It leaves each record an interval in which its true value lies, which an analysis can use.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from sfumato.data.error_model import Bounds, ErrorModel

__all__ = ["Coarsened"]


class Coarsened(ErrorModel):
    """Values were made coarser: recoded to categories or bands, set to a bound, or rounded.

    It speaks of the values as they entered the step; what earlier parts say of the column holds before it.

    Parameters
    ----------
    columns
        The columns.
    how
        What was done, in words that follow "recoded"; empty where `bands`, `bounds` or `rounded` say it.
    bands
        What a released label of the columns stands for: its [low, high), null for an open side. A label that is not
        among them, such as that of a missing code, is no band.
    bounds
        By column, lowest and highest released value, null for an open side: values beyond were set to it (bottom- and
        top-coding).
    rounded
        By column, the multiple to which values were then rounded.
    replaced
        By column, the cut that `how` speaks of, what was put in the place of values that reach it, and to which
        multiple beyond the cut that was rounded at random; 0 where it was not.

    Raises
    ------
    DataError
        Where an interval has no length, bands overlap, a multiple is not positive, or nothing is said of a column.

    Examples
    --------
    >>> Coarsened(("age",), bands={"young": (None, 40), "old": (40, None)}).sentence()
    'age: recoded into the bands young, old.'
    >>> Coarsened(("income",), bounds={"income": (None, 100_000)}).sentence()
    'income: values above 100,000 were set to it (top-coded).'
    """

    drawn: ClassVar[frozenset[str]] = frozenset({"replaced"})

    what: Literal["coarsened"] = "coarsened"
    columns: tuple[str, ...] = Field(min_length=1)
    how: str = ""
    bands: dict[str, Bounds] = Field(default_factory=dict)
    bounds: dict[str, Bounds] = Field(default_factory=dict)
    rounded: dict[str, float] = Field(default_factory=dict)
    replaced: dict[str, tuple[float, float, float]] = Field(default_factory=dict)

    def __init__(
        self,
        columns: Sequence[str] = (),
        how: str = "",
        bands: Mapping[str, Bounds] | None = None,
        bounds: Mapping[str, Bounds] | None = None,
        rounded: Mapping[str, float] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            columns=columns, how=how, bands=bands or {}, bounds=bounds or {}, rounded=rounded or {}, **more
        )

    @model_validator(mode="after")
    def _fits(self) -> Coarsened:
        for name, intervals in (("bands", self.bands), ("bounds", self.bounds)):
            if any(not _is_interval(*ends) for ends in intervals.values()):
                raise ValueError(f"{name} are [low, high], low below high, null for one open side")
        if _overlap(self.bands.values()):
            raise ValueError("bands must not overlap; the high end of a band is not in it")
        if any(not step > 0 for step in self.rounded.values()):
            raise ValueError("rounded takes positive multiples")
        told = {*self.bounds, *self.rounded}
        if unknown := sorted(told - set(self.columns)):
            raise ValueError(f"bounds or rounded name {', '.join(unknown)}, not among columns")
        if self.bands and told:
            raise ValueError("bands stand in a part of their own, without bounds or rounded")
        if not (self.how or self.bands) and (untold := [n for n in self.columns if n not in told]):
            raise ValueError(f"nothing is said of {', '.join(untold)}: give how, bands, bounds or rounded")
        return self

    @property
    def only_bounds(self) -> bool:
        """Whether all that is told is where values were cut off."""
        return bool(self.bounds) and not (self.how or self.bands or self.rounded)

    def in_words(self, columns: Collection[str]) -> tuple[Coarsened, ...]:
        """Keep the words alone for some columns, whose values another step recoded as well.

        Then no interval of this step's holds for what is released; for the other columns it does.

        Examples
        --------
        >>> part = Coarsened(("age", "height"), "into the bands low, high", {"low": (None, 9), "high": (9, None)})
        >>> [(p.columns, len(p.bands)) for p in part.in_words(["age"])]
        [(('age',), 0), (('height',), 2)]
        """
        changed = tuple(n for n in self.columns if n in columns)
        if not changed or not (self.bands or self.bounds or self.rounded):
            return (self,)
        words = Coarsened(changed, self.how or "to coarser values")
        rest = tuple(n for n in self.columns if n not in columns)
        if not rest:
            return (words,)
        bounds = {n: ends for n, ends in self.bounds.items() if n in rest}
        rounded = {n: step for n, step in self.rounded.items() if n in rest}
        return words, Coarsened(rest, self.how, self.bands, bounds, rounded)

    def sentence(self) -> str:
        """The disclosure in words."""
        if self.how:
            drawn = ", ".join(_number(new) for _, new, step in self.replaced.values() if step)
            return f"{', '.join(self.columns)}: recoded {self.how}{f', {drawn}' if drawn else ''}."
        if self.bands:
            return f"{', '.join(self.columns)}: recoded into the bands {', '.join(self.bands)}."
        return "; ".join(f"{n}: {', then '.join(self._limits(n))}" for n in self.columns) + "."

    def _limits(self, column: str) -> Iterator[str]:
        """What was done to the numbers of a column."""
        low, high = self.bounds.get(column, (None, None))
        if low is not None and high is not None:
            bottom = f"values below {_number(low)} were set to {_number(low)} (bottom-coded)"
            yield f"{bottom}, and values above {_number(high)} to {_number(high)} (top-coded)"
        elif high is not None:
            yield f"values above {_number(high)} were set to it (top-coded)"
        elif low is not None:
            yield f"values below {_number(low)} were set to it (bottom-coded)"
        if column in self.rounded:
            yield f"rounded to multiples of {_number(self.rounded[column])}"


def _is_interval(low: float | None, high: float | None) -> bool:
    """Whether it leaves something out and something in."""
    if low is None or high is None:
        return low is not high
    return low < high


def _overlap(intervals: Iterable[Bounds]) -> bool:
    ends = [(-math.inf if low is None else low, math.inf if high is None else high) for low, high in intervals]
    return any(following[0] < before[1] for before, following in itertools.pairwise(sorted(ends)))


def _number(value: float) -> str:
    return f"{value:,.15g}"
