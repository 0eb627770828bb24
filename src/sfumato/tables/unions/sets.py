"""Which sets of hidden cells have a known sum.

A published total less its published parts is the sum of its hidden parts. Where one of these is itself a total, its
hidden parts may take its place. Only replacements down to the end matter: what lies between is safe where they are,
for the parts that it has besides are published, and safe. So there are, for each equation, its own set and, for each
order of the dimensions, the one in which every hidden total is replaced along the first dimension that splits it.
Replacements along different dimensions for different cells of one set are tried as well, as far as they are few.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Sets", "hashes", "known_sets"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST = 64
"""So many ways to replace the hidden totals of one equation are looked at."""
DIMENSIONS = 5
"""Up to so many dimensions are taken in every order; of more, each first once, the others as they come and reversed."""


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of hidden cells, each once.

    Parameters
    ----------
    member
        1 where a cell is in a set, shape (sets, cells).
    left
        Equations of which not every set was looked at.
    """

    member: sp.csr_array
    left: int


def known_sets(matrix: sp.csr_array, along: Sequence[Sequence[str]], hidden: Bools, decided: Bools) -> Sets:
    """List the sets of hidden cells whose sum can be worked out of one equation, and of totals that are split on.

    An equation between tables with hidden cells on both sides tells a difference of two sums: it counts as left.

    Parameters
    ----------
    matrix
        The equations, shape (equations, cells): 1 for parts, -1 for totals.
    along
        The variables that each sums over.
    hidden
        Cells that are not published, shape (cells,).
    decided
        Published cells that are not said to be safe: where one is subtracted, the set before counts as well.

    Examples
    --------
    Of the cells f, m of a town and its total t, those of all towns, and the total of all:

    >>> rows = sp.csr_array([[1, 1, -1, 0, 0], [0, 0, 1, 1, -1]])
    >>> found = known_sets(rows, [["sex"], ["town"]], np.array([1, 0, 1, 1, 0]) > 0, np.zeros(5, dtype=bool))
    >>> found.member.toarray().tolist(), found.left
    ([[0, 0, 1, 1, 0], [1, 0, 0, 1, 0]], 0)
    """
    cells = np.flatnonzero(hidden)
    parts, totals = (_side(matrix, sign) for sign in (1, -1))
    inside = [sp.csr_array(side[:, cells]) for side in (parts, totals)]
    many_parts, many_totals = (np.diff(side.indptr) for side in inside)
    one_total = np.diff(totals.indptr) == 1
    both = (many_parts > 0) & (many_totals > 0)
    begun = [inside[0][np.flatnonzero((many_parts > 0) & ~both)], inside[1][np.flatnonzero((many_totals > 0) & ~both)]]
    first = sp.csr_array(sp.vstack(begun, format="csr"))
    splits = _Splits.of(inside, np.flatnonzero(one_total & (many_totals > 0)), along, parts @ decided > 0)
    name = hashes(len(cells))
    found = _Found(name, [first])
    for ends in splits.ends():
        found.add(sp.csr_array(first @ ends))
    mixed, left = _Mixed(splits, name).of(first)
    found.add_lists(mixed)
    member = found.sets()
    whole = sp.csr_array((member.data, cells[member.indices], member.indptr), shape=(member.shape[0], len(hidden)))
    return Sets(whole, left + int((both & ~one_total).sum()))


def _side(matrix: sp.csr_array, sign: int) -> sp.csr_array:
    """1 for the parts, or for the totals."""
    side = sp.csr_array(matrix * sign > 0).astype(np.int64)
    side.sort_indices()
    return side


def hashes(n: int) -> Ints:
    """A number for each of n cells: sets are told apart by the sums of their cells' (modulo 2^64).

    Examples
    --------
    >>> len(set(hashes(1000).tolist()))
    1000
    """
    x = (np.arange(1, n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)  # splitmix64
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).view(np.int64)


class _Found:
    """Sets that were found, each once, in the order of finding."""

    def __init__(self, name: Ints, begun: Sequence[sp.csr_array]) -> None:
        self.name = name
        self.seen: set[int] = set()
        self.parts: list[sp.csr_array] = []
        for part in begun:
            self.add(part)

    def add(self, rows: sp.csr_array) -> None:
        """Take the sets that are new; one cell alone, or none, is no union."""
        rows.sort_indices()
        names, at = np.unique(rows @ self.name, return_index=True)
        many = np.diff(rows.indptr)[at]
        fresh = np.array([n not in self.seen for n in names.tolist()], dtype=bool) & (many > 1)
        self.seen.update(names[fresh].tolist())
        self.parts.append(sp.csr_array(rows[np.sort(at[fresh])]))

    def add_lists(self, found: dict[int, list[int]]) -> None:
        """The same for sets by their names, as lists of cells."""
        lists = [sorted(cells) for name, cells in found.items() if name not in self.seen and len(cells) > 1]
        if lists:
            start = np.cumsum([0, *map(len, lists)])
            place = np.array([cell for cells in lists for cell in cells], dtype=np.int64)
            ones = np.ones(len(place), dtype=np.int64)
            self.parts.append(sp.csr_array((ones, place, start), shape=(len(lists), len(self.name))))

    def sets(self) -> sp.csr_array:
        """All of them."""
        return sp.csr_array(sp.vstack(self.parts, format="csr"))


@dataclass(frozen=True, eq=False)
class _Splits:
    """How hidden totals are split into their hidden parts.

    Parameters
    ----------
    parts
        The hidden parts of each equation, shape (equations, hidden cells).
    row
        By dimension, the equation that splits a cell; -1 for none. Shape (dimensions, hidden cells).
    loose
        Whether an equation has published parts that are not said to be safe.
    """

    parts: sp.csr_array
    row: Ints
    loose: Bools

    @classmethod
    def of(cls, inside: Sequence[sp.csr_array], rows: Ints, along: Sequence[Sequence[str]], loose: Bools) -> _Splits:
        parts, totals = inside
        cell = totals.indices[totals.indptr[rows]]
        found: dict[tuple[str, int], Ints] = {}
        for row, total in zip(rows.tolist(), cell.tolist(), strict=True):
            for name in along[row] or ("",):
                rank = 0  # of several groupings of a variable, each is a dimension
                while (name, rank) in found and found[name, rank][total] >= 0:
                    rank += 1
                found.setdefault((name, rank), np.full(parts.shape[1], -1, dtype=np.int64))[total] = row
        row_of = [found[key] for key in sorted(found)]
        return cls(parts, np.stack(row_of) if row_of else np.empty((0, parts.shape[1]), dtype=np.int64), loose)

    def ends(self) -> list[sp.csr_array]:
        """For each order of the dimensions, the cells that take the place of each in the end; each outcome once."""
        out: dict[bytes, sp.csr_array] = {}
        for order in self._orders():
            chosen = np.full(self.row.shape[1], -1, dtype=np.int64)
            for dimension in reversed(order):
                chosen = np.where(self.row[dimension] >= 0, self.row[dimension], chosen)
            kept = np.where((chosen >= 0) & self.loose[np.maximum(chosen, 0)], -1, chosen)
            for one in (chosen, kept):
                if one.tobytes() not in out:
                    out[one.tobytes()] = self._end(one)
        return list(out.values())

    def _orders(self) -> list[tuple[int, ...]]:
        many = range(len(self.row))
        if len(self.row) <= DIMENSIONS:
            return list(itertools.permutations(many))
        rest = [[d for d in many if d != first] for first in many]
        return [order for first in many for order in ((first, *rest[first]), (first, *reversed(rest[first])))]

    def _end(self, chosen: Ints) -> sp.csr_array:
        size = len(chosen)
        split = np.flatnonzero(chosen >= 0)
        stays = np.flatnonzero(chosen < 0)
        inner = self.parts[chosen[split]].tocoo()
        row, column = np.concatenate([split[inner.row], stays]), np.concatenate([inner.col, stays])
        step = sp.csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=(size, size))
        while np.any(chosen[step.indices] >= 0):  # parts of parts, twice as deep each time
            step = sp.csr_array(step @ step)
        return step


_Node = tuple[object, ...]


class _Mixed:
    """The sets in which different cells are replaced along different dimensions, where they are few."""

    def __init__(self, splits: _Splits, name: Ints) -> None:
        self.splits, self.name = splits, name.tolist()
        self.parts = np.split(splits.parts.indices, splits.parts.indptr[1:-1])
        columns = splits.row.T
        self.rows = [sorted({int(r) for r in of if r >= 0}) for of in columns]
        self.choices: dict[int, dict[int, _Node] | None] = {}
        self.several: set[int] = set()
        for cell in self._upwards():
            self.choices[cell] = self._of_cell(cell)

    def of(self, first: sp.csr_array) -> tuple[dict[int, list[int]], int]:
        """The sets by their names; and how many equations have more of them than were looked at."""
        found: dict[int, list[int]] = {}
        left = 0
        for cells in np.split(first.indices, first.indptr[1:-1]) if first.shape[0] else []:
            if not any(cell in self.several for cell in cells.tolist()):
                continue
            every = self._product(cells.tolist())
            if every is None:
                left += 1
                continue
            for name, node in every.items():
                if name not in found:
                    found[name] = _leaves(node)
        return found, left

    def _upwards(self) -> list[int]:
        """Hidden cells, each after its parts."""
        done: dict[int, None] = {}
        for begun in range(len(self.rows)):
            waiting = [begun]
            while waiting:
                cell = waiting[-1]
                below = [c for r in self.rows[cell] for c in self.parts[r].tolist() if c not in done]
                if cell in done or not below:
                    done[waiting.pop()] = None
                else:
                    waiting += below
        return list(done)

    def _of_cell(self, cell: int) -> dict[int, _Node] | None:
        """What may take the place of a cell; None for more than are looked at."""
        rows = self.rows[cell]
        found: dict[int, _Node] = {}
        if not rows or any(self.splits.loose[row] for row in rows):
            found[self.name[cell]] = (cell,)
        for row in rows:
            every = self._product(self.parts[row].tolist())
            if every is None or len(found := found | every) > MOST:
                self.several.add(cell)
                return None
        if len(found) > 1:
            self.several.add(cell)
        return found

    def _product(self, cells: Sequence[int]) -> dict[int, _Node] | None:
        """One choice for each of several cells."""
        out: dict[int, _Node] = {0: ()}
        for cell in cells:
            own = self.choices[cell]
            if own is None or len(own) * len(out) > MOST:
                return None
            out = {_wrapped(a + b): (x, y) for a, x in out.items() for b, y in own.items()}
        return out


def _wrapped(name: int) -> int:
    """A sum as 64 bits hold it."""
    return (name + 2**63) % 2**64 - 2**63


def _leaves(node: _Node) -> list[int]:
    out, waiting = [], [node]
    while waiting:
        for part in waiting.pop():
            if isinstance(part, tuple):
                waiting.append(part)
            else:
                out.append(int(str(part)))
    return out
