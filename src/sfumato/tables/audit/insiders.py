"""Insiders: what one who contributed to a hidden cell works out of another one.

Whoever is alone in a hidden cell knows its value; the largest of several knows that it is no less than what is his.
(Smaller ones know less, and what contributors of the unsafe cell itself find of each other is what its rule is about.)
So for each unsafe cell a table is looked for that is as far from the truth as the level asks, and possible for all
insiders at once; only where there is none they are asked one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import Need
from sfumato.kernels.tabular.determined import determined_by, drawn_moves, motions
from sfumato.kernels.tabular.goals import FAR, room
from sfumato.kernels.tabular.programs import Flows
from sfumato.kernels.tabular.work import Work, WorkEnded
from sfumato.tables.equations import Merged
from sfumato.tables.table import CONTRIBUTORS, SINGLE, Table, is_count

__all__ = ["Inside", "found_by_insiders", "found_exactly", "found_too_closely", "sets_alone"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TINY = 1e-7


@dataclass(frozen=True)
class Inside:
    """Who is in which cell, as far as it is known.

    Parameters
    ----------
    alone
        Cells with a single contributor, shape (cells,).
    largest
        The largest contribution to each cell, NaN where it is not known.
    name
        A number for the single contributor of a cell, the same in every cell; NaN where it is not known.
    """

    alone: Bools
    largest: Floats
    name: Floats

    def sets(self, hidden: Bools) -> list[Ints]:
        """For each who is alone in hidden cells, all of these; where nobody is named, each cell is somebody else's."""
        cells = np.flatnonzero(hidden & self.alone)
        named = cells[~np.isnan(self.name[cells])]
        order = named[np.argsort(self.name[named], kind="stable")]
        starts = np.flatnonzero(np.diff(self.name[order], prepend=np.nan) != 0)
        return [*np.split(order, starts[1:])[: len(starts)], *cells[np.isnan(self.name[cells])].reshape(-1, 1)]

    def same(self, cell: int, others: Ints) -> Bools:
        """Whether the insider of other cells is the one of this cell: alone in both, or with the same contribution."""
        one = self.alone[others] & self.alone[cell] & (self.name[others] == self.name[cell])
        return np.asarray(one | (~self.alone[others] & (self.largest[others] == self.largest[cell])))


def sets_alone(table: Table, merged: Merged, hidden: Bools) -> list[Ints]:
    """For each contributor, or holding, the hidden cells that this one is alone in; of counts none.

    Whoever is in a count knows no more of it than others do. Where nobody is named, each such cell is somebody else's.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.tables.equations import equations
    >>> lines = {"v": ["Total", "a", "b"], "x": [9.0, 2.0, 7.0], "contributors": [3, 1, 2]}
    >>> table = Table.of(pl.DataFrame(lines), "x")
    >>> [cells.tolist() for cells in sets_alone(table, equations(table), np.array([False, True, True]))]
    [[1]]
    """
    heads, single = table.column(CONTRIBUTORS), table.column(SINGLE)
    if heads is None or is_count(table):
        return []
    name = np.full(len(table), np.nan) if single is None else single
    return Inside(merged.gather([heads], "min", np.nan) == 1, np.empty(0), merged.gather([name], "max", np.nan)).sets(
        hidden
    )


def found_by_insiders(
    matrix: sp.csr_array, hidden: Bools, primary: Bools, sets: Sequence[Ints]
) -> list[tuple[Ints, Ints]]:
    """Who finds hidden primary cells by the equations of the whole system, knowing a set of cells; and which.

    Who knows a single cell, or several that move in proportion, finds what moves in proportion to it. For those who
    know more, moves are drawn that leave all they know as it is: what does not move is found.

    Examples
    --------
    >>> row, some = sp.csr_array([[1, 1, 1, -1]]), np.array([True, True, False, False])
    >>> [(known.tolist(), found.tolist()) for known, found in found_by_insiders(row, some, some, [np.array([0])])]
    [([0], [1])]
    """
    group = motions(matrix, hidden).group
    asked = np.flatnonzero(primary & (group >= 0))
    by_group = asked[np.argsort(group[asked], kind="stable")]
    cells, moved = np.flatnonzero(hidden), None
    kinds = [np.unique(group[known][group[known] >= 0], return_index=True) for known in sets]
    most = max((len(kind[0]) for kind in kinds), default=0)
    out = []
    for known, (groups, first) in zip(sets, kinds, strict=True):
        if len(groups) > 1:
            moved = drawn_moves(matrix, hidden, most + 2) if moved is None else moved
            moving = known[group[known] >= 0][first]
            still = cells[determined_by(moved, np.searchsorted(cells, moving))]
            found = asked[np.isin(asked, still)]
        else:
            a, b = np.searchsorted(group[by_group], [groups[0], groups[0] + 1]) if len(groups) else (0, 0)
            found = by_group[a:b]
        found = np.setdiff1d(found, known)
        if len(found):
            out.append((known, found))
    return out


def found_exactly(matrix: sp.csr_array, hidden: Bools, primary: Bools, inside: Inside) -> Bools:
    """Primary cells that somebody finds from all the hidden cells that he is alone in.

    Examples
    --------
    >>> row, some = sp.csr_array([[1, 1, 1, -1]]), np.array([True, True, False, False])
    >>> inside = Inside(np.array([True, False, False, False]), np.full(4, np.nan), np.full(4, np.nan))
    >>> found_exactly(row, some, some, inside).tolist()
    [False, True, False, False]
    """
    out = np.zeros(len(hidden), dtype=bool)
    for _, found in found_by_insiders(matrix, hidden, primary, inside.sets(hidden)):
        out[found] = True
    return out


def found_too_closely(
    matrix: sp.csr_array,
    value: Floats,
    hidden: Bools,
    asked: Bools,
    need: Need,
    inside: Inside,
    bounds: tuple[Floats, Floats],
    work: Work | None = None,
) -> Bools | None:
    """Cells that some insider bounds more closely than their level allows; None where the work ended before.

    Parameters
    ----------
    matrix, value, hidden
        The equations, the true values, the cells that are not published.
    asked
        The cells to be looked at: those that hold against outsiders.
    need
        How far below and above its value each must remain possible. Of sliding levels nothing is told.
    inside
        Who is in which cell.
    bounds
        What everybody knows of each cell.
    work
        What the programs may cost.

    Examples
    --------
    Of three cells with a published total, the last has one firm of 90 and one of 1: the first firm knows that there is
    no more than 1 to be had for the others from it.

    >>> row, value = sp.csr_array([[1, 1, 1, -1]]), np.array([20.0, 30.0, 91.0, 141.0])
    >>> hidden, asked = np.array([1, 0, 1, 0]) > 0, np.array([1, 0, 0, 0]) > 0
    >>> two = np.where(asked, 2.0, 0.0)
    >>> inside = Inside(np.zeros(4, dtype=bool), np.array([15.0, 9.0, 90.0, 90.0]), np.full(4, np.nan))
    >>> found_too_closely(row, value, hidden, asked, Need(two, two, 0 * two), inside, (0 * two, two + np.inf)).tolist()
    [True, False, False, False]
    """
    if need.sliding.any() or np.isnan(value[hidden]).any():
        return None
    cells = np.flatnonzero(hidden)
    part = sp.csr_array(sp.csc_array(matrix)[:, cells]).astype(np.float64)
    part = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr))])
    search = _Search(part, value[cells], inside, cells, bounds, Work() if work is None else work)
    short = np.zeros(len(hidden), dtype=bool)
    for cell in np.flatnonzero(asked & hidden).tolist():
        place = int(np.searchsorted(cells, cell))
        for sign, level in ((1, need.upper[cell]), (-1, need.lower[cell])):
            if level > 0 and not short[cell]:
                try:
                    short[cell] = search.short(place, sign, float(level))
                except WorkEnded:
                    return None
    return short


class _Search:
    """Flows among the hidden cells, within what insiders know."""

    def __init__(
        self,
        matrix: sp.csr_array,
        value: Floats,
        inside: Inside,
        cells: Ints,
        bounds: tuple[Floats, Floats],
        work: Work,
    ) -> None:
        self.flows = Flows(matrix, work)
        self.down, self.up = room(value, bounds[0][cells], bounds[1][cells])
        self.inside = Inside(inside.alone[cells], inside.largest[cells], inside.name[cells])
        least = np.where(np.isnan(self.inside.largest), -np.inf, self.inside.largest)
        least = np.where(np.isfinite(bounds[0][cells]), least, -np.inf)  # with negative parts, one part bounds nothing
        alone = self.inside.alone
        self.falls = np.where(alone, 0.0, np.minimum(self.down, np.maximum(value - least, 0.0)))
        self.rises = np.where(alone, 0.0, self.up)
        self.knowing = (self.falls < self.down) | (self.rises < self.up)
        self.flows.cost(np.where(self.knowing, 10.0, 1.0))  # flows keep away from those who know

    def short(self, cell: int, sign: int, level: float) -> bool:
        """Whether some insider finds a cell to be nearer than its level."""
        others = np.flatnonzero(self.knowing)
        others = others[(others != cell) & ~self.inside.same(cell, others)]
        if self.moved(cell, sign, level, others) is not None:
            return False  # one table will do against all
        moved = self.moved(cell, sign, level, others[:0])
        if moved is None:
            return False  # it is the outsiders', who are told of elsewhere
        low, high = self.falls / level, self.rises / level
        touched = others[(moved[others] > high[others] + _TINY) | (moved[others] < -low[others] - _TINY)]
        return any(self.moved(cell, sign, level, self.of(other, others)) is None for other in touched.tolist())

    def of(self, cell: int, others: Ints) -> Ints:
        """The cells that the insider of one knows of."""
        if not self.inside.alone[cell] or np.isnan(self.inside.name[cell]):
            return np.array([cell])
        own = self.inside.alone[others] & (self.inside.name[others] == self.inside.name[cell])
        return np.asarray(others[own], dtype=np.int64)

    def moved(self, cell: int, sign: int, level: float, known: Ints) -> Floats | None:
        """How cells can move with one that moves by its level, within what is known of some; in units of the level."""
        falls, rises = np.minimum(self.down / level, FAR), np.minimum(self.up / level, FAR)
        falls[known], rises[known] = (np.minimum(end[known] / level, FAR) for end in (self.falls, self.rises))
        return self.flows.cheapest(cell, sign, 1.0 - 1e-6, falls, rises)
