"""Which sets of columns join records of two tables uniquely: every smallest one, found set by set.

Columns are whole numbers: equal ones are equal values, in whichever table they stand, and −1 is a missing value, which
joins with nothing. A record of the first table takes part by a set of columns where its values occur in the second,
and only once there or only once in its own table: so many visits to one farm join, and one farm to its many visits.

What is searched rests on three facts. A record without partner by a set has none by a larger one, so it is left out of
what follows: tables shrink as sets grow, and a set by which nobody has a partner closes all larger ones. A set that
joins closes all larger ones, since only smallest ones are asked for. And a column that has one value throughout changes
nothing. That values are unique holds for no smaller set, so no other set can be passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.progress import Progress, quiet

__all__ = ["WORK", "Joining", "Joins", "sorts_rows", "unique_joins"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Known = Callable[[Ints, Ints], Bools]
"""Of pairs of rows, one of each table, tells which are linked openly."""

WORK = 2e9
"""Rows that are looked at, over all sets, before the search gives up: some ten to thirty seconds."""
_A_SET = 5_000  # rows that take as long as what each set costs besides
_PASSED_OVER = 100  # rows that take as long as passing over a set
_DIRECT = 1 << 22  # combinations that are counted in place, without being numbered anew


@dataclass(frozen=True)
class Joining:
    """A set of columns that joins.

    Parameters
    ----------
    columns
        Their numbers, ascending.
    taking_part
        How many records of the first table take part.
    """

    columns: tuple[int, ...]
    taking_part: int


@dataclass(frozen=True)
class Joins:
    """What a search found.

    Parameters
    ----------
    sets
        The sets that join.
    complete
        Whether all sets were tried, so that these are all smallest ones and no other.
    """

    sets: tuple[Joining, ...]
    complete: bool


def unique_joins(
    first: Sequence[Ints],
    second: Sequence[Ints],
    *,
    known: Known | None = None,
    work: float = WORK,
    progress: Progress = quiet,
) -> Joins:
    """Find the smallest sets of columns by which some record of one table joins uniquely to one of the other.

    All columns together are tried first, then sets in the order of their sizes, two, four, eight, … columns at most.
    Where the work is used up and all columns together join, columns are left out of them one by one as long as they do.

    Parameters
    ----------
    first, second : sequences of ndarray, shapes (n,) and (m,)
        The same columns of both tables, numbered together; −1 where a value is missing.
    known
        Tells which pairs of records are linked openly; what joins only such pairs joins nothing.
    work
        Rows to look at before the search ends.
    progress
        Told how much of the work is used up.

    Examples
    --------
    >>> town, age = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> found = unique_joins([town, age], [town, age])
    >>> found.sets, found.complete
    ((Joining(columns=(0, 1), taking_part=4),), True)

    One record of the first table and two of the other have the age 3, so it joins with both:

    >>> unique_joins([np.array([3, 4])], [np.array([3, 3, 5])]).sets
    (Joining(columns=(0,), taking_part=1),)
    """
    if not len(first) or not len(first[0]) or not len(second[0]):
        return Joins((), True)
    search = _Search(_tables(first, second, known), known, work, progress)
    try:
        search.run()
    except _Tired:
        return Joins(tuple(search.found + search.fallback()), False)
    return Joins(tuple(search.found), True)


@dataclass(frozen=True)
class _Node:
    """The records of both tables that have values in a set of columns, with the number of each one's combination."""

    first: Ints
    second: Ints
    size: int
    rows: tuple[Ints, Ints]

    @property
    def cost(self) -> float:
        return max(len(self.first) + len(self.second), _A_SET)

    def only(self, first: Bools, second: Bools) -> _Node:
        """Those records alone."""
        one, two = self.rows
        return _Node(self.first[first], self.second[second], self.size, (one[first], two[second]))


@dataclass(frozen=True)
class _Tables:
    """The columns of both tables, the commonest values' last, with how many records each row stands for."""

    names: tuple[int, ...]
    first: list[Ints]
    second: list[Ints]
    sizes: list[int]
    weights: tuple[Ints, Ints] | None

    def root(self) -> _Node:
        rows = (np.arange(len(self.first[0])), np.arange(len(self.second[0])))
        return _Node(np.zeros(len(rows[0]), np.int64), np.zeros(len(rows[1]), np.int64), 1, rows)

    def extended(self, node: _Node, column: int) -> _Node:
        """The records by one column more; where combinations are too many to count in place, numbered anew."""
        one, two = self.first[column][node.rows[0]], self.second[column][node.rows[1]]
        if (one < 0).any() or (two < 0).any():
            node, one, two = node.only(one >= 0, two >= 0), one[one >= 0], two[two >= 0]
        size = self.sizes[column]
        wider = _Node(node.first * size + one, node.second * size + two, node.size * size, node.rows)
        return wider if wider.size <= _DIRECT else _numbered(wider)

    def counts(self, node: _Node) -> tuple[NDArray[np.number[Any]], NDArray[np.number[Any]]]:
        """How many records of each table have each combination."""
        if self.weights is None:
            return np.bincount(node.first, minlength=node.size), np.bincount(node.second, minlength=node.size)
        one, two = (w[rows] for w, rows in zip(self.weights, node.rows, strict=True))
        return np.bincount(node.first, one, node.size), np.bincount(node.second, two, node.size)


def _tables(first: Sequence[Ints], second: Sequence[Ints], known: Known | None) -> _Tables:
    """Both tables, with equal rows as one unless single pairs matter, and columns of many values first."""
    sizes = [int(max(a.max(), b.max())) + 1 for a, b in zip(first, second, strict=True)]
    order = tuple(sorted(range(len(sizes)), key=lambda c: (-sizes[c], c)))
    one, two = [first[c] for c in order], [second[c] for c in order]
    weights = None
    if known is None:
        (row, a), (other, b) = _distinct(one), _distinct(two)
        if len(row) + len(other) < 0.8 * (len(one[0]) + len(two[0])):
            one, two, weights = [c[row] for c in one], [c[other] for c in two], (a, b)
    return _Tables(order, one, two, [max(sizes[c], 1) for c in order], weights)


def _distinct(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """One row of each different combination, and how many rows it stands for."""
    codes, most = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        size = int(column.max()) + 2
        if most * size >= 2**62:
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
            most = int(codes.max()) + 1
        codes, most = codes * size + (column + 1), most * size
    _, row, count = np.unique(codes, return_index=True, return_counts=True)
    return row.astype(np.int64), count.astype(np.int64)


def _numbered(node: _Node) -> _Node:
    """Only records with a partner, by combinations numbered 0, 1, …"""
    common = np.intersect1d(node.first, node.second)
    if not len(common):
        nobody = node.only(np.zeros(len(node.first), bool), np.zeros(len(node.second), bool))
        return _Node(nobody.first, nobody.second, 0, nobody.rows)
    (one, had), (two, have) = (_places(codes, common) for codes in (node.first, node.second))
    return _Node(one[had], two[have], len(common), (node.rows[0][had], node.rows[1][have]))


def _places(codes: Ints, among: Ints) -> tuple[Ints, Bools]:
    """Where each code stands among sorted ones, and whether it is there."""
    place = np.minimum(np.searchsorted(among, codes), len(among) - 1).astype(np.int64)
    return place, among[place] == codes


class _Tired(Exception):
    """The work is used up."""


@dataclass
class _Search:
    """The search: subsets come before the sets that hold them, since sets are visited in the order of their bits."""

    tables: _Tables
    known: Known | None
    work: float
    progress: Progress
    found: list[Joining] = field(default_factory=list)
    closed: dict[int, list[int]] = field(default_factory=dict)
    seen: dict[int, bool] = field(default_factory=dict)
    spent: float = 0.0
    everything: int = 0

    def run(self) -> None:
        columns = range(len(self.tables.names))
        root = self.tables.root()
        for c in columns:
            self._tried(root, 0, c)
        live = [c for c in columns if 1 << c not in self.closed.get(c, ()) and not self._constant(c)]
        whole = self._taking_part(self._of(live)) if len(live) > 1 else 0
        self.everything = sum(1 << c for c in live) if whole else 0
        most = 2
        while len(live) > 1:
            self._below(root, 0, live, most)
            if most >= len(live):
                return
            most *= 2

    def fallback(self) -> list[Joining]:
        """All columns together where they join and nothing in them was found, without those that can be spared."""
        left = self.everything
        if not left or any(shut & left == shut for each in self.closed.values() for shut in each):
            return []
        for c in range(len(self.tables.names)):
            if left >> c & 1 and left != 1 << c and self._taking_part(self._of(_members(left & ~(1 << c)))):
                left &= ~(1 << c)
        return [self._joining(left, self._taking_part(self._of(_members(left))))]

    def _below(self, node: _Node, held: int, columns: Sequence[int], most: int) -> None:
        """Visit all sets of at most so many columns that add some of `columns` to a set."""
        for i, c in enumerate(columns):
            child = self._tried(node, held, c)
            if child is not None and i and most > 1:
                self._below(child, held | 1 << c, columns[:i], most - 1)

    def _tried(self, node: _Node, held: int, c: int) -> _Node | None:
        """The records by one column more, unless that set joins or is closed."""
        mask = held | 1 << c
        if any(mask & shut == shut for shut in self.closed.get(c, ())):  # none lies in the set that it adds to
            self.spent += _PASSED_OVER
            return None
        self.spent += node.cost
        if self.spent > self.work:
            raise _Tired
        self.progress("trying columns together", self.spent / self.work)
        child = self.tables.extended(node, c)
        if not self.seen.get(mask, True):
            return child
        return self._judged(child, mask)

    def _judged(self, child: _Node, mask: int) -> _Node | None:
        one, two = self.tables.counts(child)
        both = (one > 0) & (two > 0)
        taking = self._new(child, one, two, both)
        if taking:
            self.found.append(self._joining(mask, taking))
        if taking or not both.any():
            for each in _members(mask):
                self.closed.setdefault(each, []).append(mask)
            return None
        shrinks = one[both].sum() + two[both].sum() < 0.5 * (one.sum() + two.sum())
        self.seen[mask] = bool(shrinks)
        return child.only(both[child.first], both[child.second]) if shrinks else child

    def _taking_part(self, node: _Node) -> int:
        one, two = self.tables.counts(node)
        return self._new(node, one, two, (one > 0) & (two > 0))

    def _new(self, node: _Node, one: NDArray[np.number[Any]], two: NDArray[np.number[Any]], both: Bools) -> int:
        """How many records of the first table take part, in a pair that is not linked openly."""
        lone = both & ((one == 1) | (two == 1))
        if self.known is None or not lone.any():
            return int(one[lone].sum())
        a, b = np.flatnonzero(lone[node.first]), np.flatnonzero(lone[node.second])
        where_first, where_second = np.full(node.size, -1), np.full(node.size, -1)
        where_first[node.first[a]], where_second[node.second[b]] = a, b
        to_one = a[two[node.first[a]] == 1]
        to_many = b[two[node.second[b]] > 1]
        left = np.append(to_one, where_first[node.second[to_many]])
        right = np.append(where_second[node.first[to_one]], to_many)
        told = self.known(node.rows[0][left], node.rows[1][right])
        return len(np.unique(left[~told]))

    def _of(self, columns: Sequence[int]) -> _Node:
        node = self.tables.root()
        for c in columns[::-1]:
            node = self.tables.extended(node, c)
        return node

    def _constant(self, c: int) -> bool:
        one, two = self.tables.first[c], self.tables.second[c]
        return bool((one == one[0]).all() and (two == one[0]).all())

    def _joining(self, mask: int, taking: int) -> Joining:
        return Joining(tuple(sorted(self.tables.names[c] for c in _members(mask))), taking)


def _members(mask: int) -> list[int]:
    return [c for c in range(mask.bit_length()) if mask >> c & 1]


def sorts_rows(columns: Sequence[Ints]) -> bool:
    """Tell whether rows are sorted by some order of all columns, each of them rising or falling.

    A column that rises (or falls) among rows that tie so far can be taken next whatever comes later, so that trying one
    after another is exact.

    Parameters
    ----------
    columns : sequence of ndarray, shape (n,)
        Ranks of values; −1 where a value is missing, which may stand before all others or after them.

    Examples
    --------
    >>> ward, age = np.array([1, 1, 0, 0]), np.array([3, 5, 2, 4])
    >>> sorts_rows([age, ward]), sorts_rows([age])
    (True, False)
    """
    left = list(columns)
    tied = np.ones(max(len(columns[0]) - 1, 0), dtype=bool) if left else np.zeros(0, dtype=bool)
    while left:
        step = next((c for c in left if _monotone(c, tied)), None)
        if step is None:
            return False
        left = [c for c in left if c is not step]
        tied = tied & (step[1:] == step[:-1])
    return True


def _monotone(column: Ints, tied: Bools) -> bool:
    last = np.where(column < 0, column.max(initial=0) + 1, column)
    rises = (np.diff(ranks)[tied] for ranks in (column, last))
    return any(bool((d >= 0).all() or (d <= 0).all()) for d in rises)
