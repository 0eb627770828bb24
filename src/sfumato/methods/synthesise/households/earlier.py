"""What members of a household are drawn from, beside what is all its members': those who were drawn before them.

Of some columns the head's value, the last member's and, of numbers, the mean of all before; of main categories how
many of them are still to come. So there are no more columns for large households than for small ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.hidden import HIDDEN
from sfumato.methods.synthesise.coding import BINS, Coded, Coding

__all__ = [
    "PLACE",
    "SIZE",
    "Count",
    "Earlier",
    "at",
    "counted",
    "measured",
    "of_head",
    "of_last",
    "of_mean",
    "plain_numbers",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZE = f"{HIDDEN}size"
"""How many members a household has."""
PLACE = f"{HIDDEN}place"
"""Whether a member is the first, second, … of the household."""

_CATEGORIES = 4
"""Most categories of one column that are counted; the commonest is told by the size and the others."""
_COLUMNS = 3
"""Most columns whose categories are counted."""


def of_head(column: str) -> str:
    """Name of what the head has in a column."""
    return f"{HIDDEN}head {column}"


def of_last(column: str) -> str:
    """Name of what the member before has in a column."""
    return f"{HIDDEN}last {column}"


def of_mean(column: str) -> str:
    """Name of the mean of a column over all members before."""
    return f"{HIDDEN}mean {column}"


@dataclass(frozen=True)
class Count:
    """How many members have a category: a part of a household's make-up.

    Parameters
    ----------
    column
        The column.
    states
        Its category, as it is coded; all that no other count of the column has, where it is the rest.
    rest
        Whether it is what size and the column's other counts leave, so that it is not drawn.
    """

    column: str
    states: tuple[int, ...]
    rest: bool = False

    @property
    def name(self) -> str:
        """Name of the count."""
        return f"{HIDDEN}many {self.column} {self.states[0]}"

    @property
    def left(self) -> str:
        """Name of the count of those who are still to come."""
        return f"{HIDDEN}left {self.column} {self.states[0]}"

    def held(self, column: Coded) -> NDArray[np.bool_]:
        """Which members it counts."""
        return np.isin(column.state, self.states)

    def of(self, columns: Mapping[str, Coded], whose: Ints, homes: int) -> Floats:
        """The count of each household, shape (homes,)."""
        return np.bincount(whose[self.held(columns[self.column])], minlength=homes).astype(np.float64)


def counted(columns: Mapping[str, Coded], codings: Mapping[str, Coding]) -> list[Count]:
    """What the make-up of households is told by: the main categories of the first columns that have categories alone.

    Parameters
    ----------
    columns, codings
        Columns that differ within households, in order.

    Examples
    --------
    >>> sex = Coding("sex", pl.String(), ("f", "m"), False, np.zeros(0), None)
    >>> counts = counted({"sex": Coded(np.array([1, 2, 2]), np.zeros(3))}, {"sex": sex})
    >>> [(count.states, count.rest) for count in counts]
    [((1,), False), ((2,), True)]
    """
    names = [name for name in columns if not len(codings[name].edges)][:_COLUMNS]
    return [count for name in names for count in _main(name, columns[name].state)]


def _main(name: str, state: Ints) -> Iterator[Count]:
    """The commonest category is one of the rest: the size and the others tell it."""
    many = np.bincount(state)
    order = [int(s) for s in np.argsort(-many, kind="stable") if many[s]]
    yield from (Count(name, (s,)) for s in order[1 : _CATEGORIES + 1])
    yield Count(name, (order[0], *order[_CATEGORIES + 1 :]), rest=True)


def make_up(table: Mapping[str, Coded], counts: Sequence[Count]) -> dict[Count, Floats]:
    """The make-up of households: what was drawn of it, and what that leaves.

    Parameters
    ----------
    table
        Size and counts of households.
    counts
        The counts, those that are the rest among them.
    """
    drawn = {count: table[count.name].number for count in counts if not count.rest}
    rest = {
        count: np.maximum(table[SIZE].number - sum(n for c, n in drawn.items() if c.column == count.column), 0.0)
        for count in counts
        if count.rest
    }
    return drawn | rest


def plain_numbers(values: NDArray[np.generic]) -> Coded:
    """Numbers, none of them missing, as a column."""
    return Coded(np.zeros(len(values), dtype=np.int64), np.asarray(values, dtype=np.float64))


def measured(name: str, column: Coded) -> Coding:
    """How numbers that are computed of households are coded; without any number they are category 1."""
    held = np.unique(column.number[column.state == 0])
    many = len(held) > BINS
    edges = np.unique(np.quantile(column.number[column.state == 0], np.arange(1, BINS + 1) / BINS)) if many else held
    return Coding(name, pl.Float64(), (None,), True, edges, None)


class Earlier:
    """What is known of the members of each household who come before the next.

    Parameters
    ----------
    names, averaged
        The columns that are looked at; those of numbers, whose mean is.
    totals
        Of each count what it is in the end, shape (homes,).
    homes
        How many households there are.
    """

    def __init__(self, names: Sequence[str], averaged: Sequence[str], totals: Mapping[Count, Floats], homes: int):
        self._names, self._averaged = tuple(names), tuple(averaged)
        self._head = {n: _nothing(homes) for n in names}
        self._last = {n: _nothing(homes) for n in names}
        self._sum = {n: np.zeros(homes) for n in averaged}
        self._many = {n: np.zeros(homes) for n in averaged}
        self._left = {count: total.copy() for count, total in totals.items()}

    def of(self, homes: Ints, place: int) -> dict[str, Coded]:
        """What the members at a place of some households are drawn from, by name."""
        told = {count.left: plain_numbers(left[homes]) for count, left in self._left.items()}
        if place == 1:
            return told
        told |= {of_head(n): at(self._head[n], homes) for n in self._names}
        told |= {of_last(n): at(self._last[n], homes) for n in self._names}
        for n in self._averaged:
            many = self._many[n][homes]
            mean = self._sum[n][homes] / np.maximum(many, 1)
            told[of_mean(n)] = Coded((many == 0).astype(np.int64), mean)
        return told

    def add(self, homes: Ints, place: int, own: Mapping[str, Coded]) -> None:
        """Take in the members at a place of some households."""
        for n in self._names:
            for known in (self._last, self._head) if place == 1 else (self._last,):
                known[n].state[homes], known[n].number[homes] = own[n].state, own[n].number
        for n in self._averaged:
            there = own[n].state == 0
            self._sum[n][homes] += np.where(there, own[n].number, 0.0)
            self._many[n][homes] += there
        for count, left in self._left.items():
            left[homes] = np.maximum(left[homes] - count.held(own[count.column]), 0)


def _nothing(homes: int) -> Coded:
    return Coded(np.zeros(homes, dtype=np.int64), np.zeros(homes))


def at(column: Coded, rows: Ints) -> Coded:
    """Some rows of a column."""
    return Coded(column.state[rows], column.number[rows])
