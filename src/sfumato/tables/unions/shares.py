"""Who has what in sums of cells: a contributor of several cells is one, and one may be left out.

Most contributors stand in one finest cell. What these have in a cell is added up once; only the others are carried one
by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.rollup import Contributions, Rolled, Upward, expanded, put_together, roll_up, together
from sfumato.tables.table import Table

__all__ = ["Known", "Shares", "Summed"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_FIGURES = tuple(Rolled.__dataclass_fields__)[1:]


@dataclass(frozen=True, eq=False)
class Shares:
    """What contributors have in the cells of a system of equations.

    Parameters
    ----------
    local
        What those have that stand in one finest cell, added up by cell; the keys are cells of the system.
    one
        The same one by one, in the order of the contributors, each in its finest cell.
    spread
        What each of the others has in each cell; the keys are cells of the system.
    alone
        The contributor, where a cell has only one; else -1. Shape (cells,).
    ranks
        How many of the largest contributions are held.
    """

    local: Rolled
    one: Contributions
    spread: Contributions
    alone: Ints
    ranks: int

    @classmethod
    def of(cls, table: Table, cell: Ints, given: Contributions, ranks: int) -> Shares:
        """From contributions in the finest cells of a table, and the cell of the system that each of its lines is."""
        size = int(cell.max(initial=-1)) + 1
        lines = np.flatnonzero(cell >= 0)
        line = np.zeros(size, dtype=np.int64)
        line[cell[lines][::-1]] = lines[::-1]  # the first of lines that are one cell
        order = np.argsort(table.keys[line])
        keys = table.keys[line][order]
        sizes, upward = [len(axis.codes) for axis in table.axes], [Upward.of(axis.above) for axis in table.axes]
        own = together(given)
        several = np.bincount(own.who)[own.who] > 1 if len(own.who) else np.zeros(0, dtype=bool)
        one, wide = own.of(~several), _climbed(own.of(several), sizes, upward)
        rolled = roll_up(one, sizes, upward, ranks)
        at, there = _places(rolled.key, keys)
        local = Rolled(order[at[there]], *(getattr(rolled, name)[there] for name in _FIGURES))
        at, there = _places(wide.key, keys)
        spread = together(replace(wide.of(there), key=order[at[there]]))
        whole = put_together(local, spread, ranks)
        alone = np.full(size, -1, dtype=np.int64)
        alone[whole.key] = whole.single
        return cls(local, one.of(np.argsort(one.who)), spread, alone, ranks)

    @property
    def everybody(self) -> Ints:
        """All contributors."""
        return np.union1d(self.one.who, self.spread.who)

    def summed(self, member: sp.csr_array) -> Summed:
        """What is in each of several sets of cells; `member` has shape (sets, cells)."""
        of_set = np.repeat(np.arange(member.shape[0]), np.diff(member.indptr))
        place = np.full(member.shape[1], -1, dtype=np.int64)
        place[self.local.key] = np.arange(len(self.local.key))
        at = place[member.indices]
        rows, sets = at[at >= 0], of_set[at >= 0]
        local = Rolled(sets, *(getattr(self.local, name)[rows] for name in _FIGURES))
        begun = np.searchsorted(self.spread.key, np.arange(member.shape[1] + 1))
        many = np.diff(begun)[member.indices]
        rows = np.repeat(begun[member.indices] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
        every = replace(self.spread.of(rows), key=np.repeat(of_set, many))
        joined = together(every)
        found = put_together(local, joined, self.ranks)
        many_sets = member.shape[0]
        total, heads, largest = np.zeros(many_sets), np.zeros(many_sets, np.int64), np.zeros((many_sets, self.ranks))
        total[found.key], heads[found.key], largest[found.key] = found.total, found.heads, found.largest
        return Summed(total, heads, largest, joined, _names(every))


@dataclass(frozen=True, eq=False)
class Summed:
    """What is in each of several sets of cells.

    Parameters
    ----------
    total, heads, largest
        As in `Rolled`, shape (sets,) and (sets, ranks).
    spread
        Contributors that stand in several finest cells, one line in each set; the keys are sets.
    entries
        Names of set and contributor, in rising order, as often as one of these stands in a cell of the set.
    """

    total: Floats
    heads: Ints
    largest: Floats
    spread: Contributions
    entries: Ints


@dataclass(frozen=True, eq=False)
class Known:
    """Contributors with cells in a set that they are alone in: a line for each contributor and set.

    Parameters
    ----------
    of_set, who
        The set, and the contributor.
    size, rest
        The size of its contribution to the set, and to those cells of the set that others are in as well.
    units
        How many of that size there are to a rival.
    elsewhere
        Whether it is in other cells of the set as well.
    """

    of_set: Ints
    who: Ints
    size: Floats
    rest: Floats
    units: Ints
    elsewhere: Bools

    @classmethod
    def of(cls, shares: Shares, summed: Summed, member: sp.csr_array) -> Known:
        """From what is in sets; `member` has shape (sets, cells)."""
        of_set = np.repeat(np.arange(member.shape[0]), np.diff(member.indptr))
        inside = shares.alone[member.indices] >= 0
        of_set, cell = of_set[inside], member.indices[inside].astype(np.int64)
        who = shares.alone[cell]
        order = np.lexsort((who, of_set))
        of_set, cell, who = of_set[order], cell[order], who[order]
        at = np.flatnonzero(np.append(True, (np.diff(of_set) != 0) | (np.diff(who) != 0))[: len(who)])
        if not len(at):
            none = np.empty(0)
            return cls(of_set, who, none, none, who, none > 0)
        alone = np.add.reduceat(_size_alone(shares, cell, who), at)
        cells = np.diff(np.append(at, len(who)))
        of_set, who = of_set[at], who[at]
        place = np.minimum(np.searchsorted(shares.one.who, who), max(len(shares.one.who) - 1, 0))
        local = shares.one.who[place] == who if len(shares.one.who) else np.zeros(len(who), dtype=bool)
        size, units = alone.copy(), np.ones(len(who), dtype=np.int64)
        units[local] = shares.one.units[place[local]]
        elsewhere = np.zeros(len(who), dtype=bool)
        wide = np.flatnonzero(~local)
        if len(wide):
            scale = _scale(summed.spread)
            name = of_set[wide] * scale + who[wide]
            line = np.searchsorted(summed.spread.key * scale + summed.spread.who, name)
            size[wide], units[wide] = summed.spread.size[line], summed.spread.units[line]
            many = np.searchsorted(summed.entries, name, "right") - np.searchsorted(summed.entries, name, "left")
            elsewhere[wide] = many > cells[wide]
        rest = np.where(elsewhere, np.abs(size - alone), 0.0)
        return cls(of_set, who, np.abs(size), rest, units, elsewhere)

    def largest(self, summed: Summed, ranks: int, concerned: Bools | None = None) -> Floats:
        """The largest contributions to each set without the cells that the contributor is alone in.

        Parameters
        ----------
        summed
            The sets, with so many more ranks as one contributor may take up.
        ranks
            How many of the largest are wanted.
        concerned
            Whose contributions are among these at all; None: all.
        """
        held = summed.largest[self.of_set]
        out = np.concatenate([held, np.zeros((len(held), held.shape[1] - ranks))], axis=1)
        place = np.arange(held.shape[1])
        first = np.argmin(np.abs(held - self.size[:, None]), axis=1) if held.shape[1] else np.zeros(0, dtype=np.int64)
        near = np.abs(held[np.arange(len(held)), first] - self.size) <= 1e-9 * self.size
        gone = (place >= first[:, None]) & (place < (first + self.units)[:, None]) & near[:, None]
        added = np.where(np.arange(held.shape[1] - ranks) < self.units[:, None], self.rest[:, None], 0.0)
        if concerned is not None:
            gone, added = gone & concerned[:, None], added * concerned[:, None]
        out[:, : held.shape[1]][gone] = 0.0
        out[:, held.shape[1] :] = added
        return -np.sort(-out, axis=1)[:, :ranks]


def _climbed(given: Contributions, sizes: list[int], upward: list[Upward]) -> Contributions:
    """Each contribution once for every cell that it is counted in."""
    weight = 1
    for size, up in zip(reversed(sizes), reversed(upward), strict=True):
        rows, key = expanded(given.key, size, weight, up)
        given = replace(given.of(rows), key=key)
        weight *= size
    return given


def _places(wanted: Ints, keys: Ints) -> tuple[Ints, Bools]:
    """Where numbers stand in a rising list, and which do."""
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return at, keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)


def _scale(given: Contributions) -> int:
    return int(given.who.max(initial=0)) + 1


def _names(given: Contributions) -> Ints:
    """One number for each set and contributor, in rising order."""
    return np.sort(given.key * _scale(given) + given.who)


def _size_alone(shares: Shares, cell: Ints, who: Ints) -> Floats:
    """The size of the only contribution to each of some cells."""
    place, there = _places(who, shares.one.who)
    size = np.zeros(len(cell))
    size[there] = shares.one.size[place[there]]
    line = np.searchsorted(shares.spread.key, cell[~there])
    size[~there] = shares.spread.size[line]
    return size
