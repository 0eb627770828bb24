"""Which hidden cells are told where all of them are whole numbers: one number alone is possible.

A cell is not told as soon as two tables of whole numbers fit in which it differs. Ends of linear programs are often
whole (in tables of two dimensions always): a few programs that push all cells at once, up or down by chance, find such
tables for most. What they leave is decided cell by cell: by the interval of the linear program, which holds one whole
number alone where it is narrow enough; by its ends, where these are whole; else by programs in whole numbers, which ask
for a table with more, and with less, than in the first one. To round intervals inwards is not enough: in three
dimensions, or with several groupings, cells that are whole together can leave less than each of them by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import components, hidden_system, propagated
from sfumato.kernels.tabular.programme import Contradiction, Programme
from sfumato.kernels.tabular.whole_numbers import solve
from sfumato.kernels.tabular.work import Work, WorkEnded

__all__ = ["Told", "told"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SWEEPS = 6
"""Programs that push all cells at once."""
_NODES = 2_000
"""Nodes of the search after which a program in whole numbers leaves a cell undecided."""
_CLOSE = 1e-6


@dataclass(frozen=True)
class Told:
    """What is known of cells as whole numbers.

    Parameters
    ----------
    told : ndarray of bool, shape (cells,)
        Hidden cells for which one number alone is possible.
    free : ndarray of bool, shape (cells,)
        Hidden cells for which two are. A cell that is neither was not decided within the work.
    value : ndarray, shape (cells,)
        The number of those that are told; NaN for all others.
    """

    told: Bools
    free: Bools
    value: Floats


def told(
    matrix: sp.csr_array,
    value: Floats,
    hidden: Bools,
    low: Floats,
    high: Floats,
    first: Bools | None = None,
    *,
    truth: Floats | None = None,
    work: Work | None = None,
) -> Told:
    """Decide which hidden cells are told.

    Parameters
    ----------
    matrix : csr_array, shape (equations, cells)
        Equations M a = 0, in whole numbers.
    value : ndarray, shape (cells,)
        Published values, whole numbers; those of hidden cells are not looked at.
    hidden : ndarray of bool
        Cells whose values are not published.
    low, high
        What readers know of each cell before.
    first : ndarray of bool, optional
        Cells that are decided before all others.
    truth : ndarray, optional
        A table of whole numbers that fits, such as the true one; NaN where it is not known.
    work
        Where to stop.

    Raises
    ------
    Contradiction
        Where published cells and bounds contradict each other.

    Examples
    --------
    Three hidden counts of which none is 0, and 3 in all:

    >>> row, one = sp.csr_array([[1, 1, 1, -1]]), np.ones(4)
    >>> found = told(row, np.array([np.nan, np.nan, np.nan, 3.0]), np.arange(4) < 3, one, one * np.inf)
    >>> found.value.tolist()
    [1.0, 1.0, 1.0, nan]
    """
    cells = np.flatnonzero(hidden)
    system = hidden_system(matrix, value, hidden, 0.0)
    least, most = np.ceil(system[1] - _CLOSE), np.floor(system[2] + _CLOSE)
    bottom, top = np.ceil(low[cells] - _CLOSE), np.floor(high[cells] + _CLOSE)
    bottom, top = propagated(system[0], least, most, bottom, top)
    bottom, top = np.ceil(bottom - _CLOSE), np.floor(top + _CLOSE)
    if (bottom > top).any():
        raise Contradiction
    ends = (bottom.copy(), top.copy())
    free = np.zeros(len(cells), dtype=bool)
    work, fits = Work() if work is None else work, np.full(len(cells), np.nan) if truth is None else truth[cells]
    early = np.zeros(len(cells), dtype=bool) if first is None else first[cells]
    for part, rows, _ in components(system[0], bottom, top, np.ones(len(cells), dtype=bool)):
        of_rows = sp.csr_array(system[0][rows])
        moved = of_rows @ np.where(bottom == top, bottom, 0.0)
        right = ((least[rows] - moved), (most[rows] - moved))
        piece = _Piece(sp.csr_array(of_rows[:, part]), right, (bottom[part], top[part]), work)
        piece.decide(fits[part], early[part])
        ends[0][part], ends[1][part], free[part] = piece.low, piece.high, piece.free
    one = ends[0] == ends[1]
    out = Told(np.zeros(len(hidden), dtype=bool), np.zeros(len(hidden), dtype=bool), np.full(len(hidden), np.nan))
    out.told[cells], out.free[cells], out.value[cells[one]] = one, free & ~one, ends[0][one]
    return out


class _Piece:
    """Open cells that equations connect: bounds from outside, and the whole tables that were found."""

    def __init__(self, matrix: sp.csr_array, right: tuple[Floats, Floats], ends: tuple[Floats, Floats], work: Work):
        self.matrix, self.right, self.work = matrix, right, work
        self.low, self.high = ends[0].copy(), ends[1].copy()
        self.programme = Programme(matrix, *right, *ends, work)
        self.seen = (np.full(len(self.low), np.inf), np.full(len(self.low), -np.inf))
        self.rng = np.random.default_rng(20261128)  # which way cells are pushed matters nothing; the same each time

    @property
    def free(self) -> Bools:
        """Cells that differ between tables."""
        return np.asarray(self.seen[0] < self.seen[1])

    @property
    def open(self) -> Bools:
        """Cells that are not decided."""
        return np.asarray(~self.free & (self.low < self.high))

    def see(self, table: Floats | None) -> bool:
        """Take a table for a witness if it fits when it is rounded; whether it does."""
        if table is None or np.isnan(table).any():
            return False
        whole = np.round(table)
        sums = self.matrix @ whole
        fits = (whole >= self.low) & (whole <= self.high)
        if not fits.all() or (sums < self.right[0]).any() or (sums > self.right[1]).any():
            return False
        np.minimum(self.seen[0], whole, out=self.seen[0])
        np.maximum(self.seen[1], whole, out=self.seen[1])
        return True

    def decide(self, truth: Floats, early: Bools) -> None:
        """Decide as many cells as the work allows, some of them first."""
        self.see(truth)
        try:
            for _ in range(_SWEEPS):
                cells = np.flatnonzero(self.open & np.isfinite(self.low) & np.isfinite(self.high))
                if len(cells):
                    self.see(self.programme.least(cells, self.rng.choice([-1.0, 1.0], len(cells))))
            order = np.arange(len(early))
            for cell in np.concatenate([order[early], order[~early]]).tolist():
                if self.open[cell]:
                    self._decide(cell)
        except WorkEnded:
            return

    def _decide(self, cell: int) -> None:
        """Decide one cell: by its interval, else in whole numbers."""
        for sign in (1.0, -1.0):
            table = self.programme.least(np.array([cell]), np.array([sign]))
            if table is not None:
                self.see(table)
                end = np.ceil(table[cell] - _CLOSE) if sign > 0 else np.floor(table[cell] + _CLOSE)
                self._narrow(cell, float(end), sign)
            if not self.open[cell]:
                return
        if np.isinf(self.seen[0][cell]) and self._possible(cell, self.low[cell], self.high[cell]) is False:
            raise Contradiction
        number = self.seen[0][cell]
        if np.isinf(number):
            return
        if self.open[cell] and self._possible(cell, number + 1, self.high[cell]) is False:
            self._narrow(cell, number, -1.0)
        if self.open[cell] and self._possible(cell, self.low[cell], number - 1) is False:
            self._narrow(cell, number, 1.0)

    def _narrow(self, cell: int, end: float, sign: float) -> None:
        """A cell is no less (sign 1), or no more, than this."""
        if sign > 0:
            self.low[cell] = max(self.low[cell], end)
        else:
            self.high[cell] = min(self.high[cell], end)
        if self.low[cell] > self.high[cell]:
            raise Contradiction

    def _possible(self, cell: int, low: float, high: float) -> bool | None:
        """Whether there is a whole table in which a cell lies between two numbers; None where it is not decided."""
        if low > high:
            return False
        ends = (self.low.copy(), self.high.copy())
        ends[0][cell], ends[1][cell] = low, high
        nodes = min(_NODES, self.work.left // len(ends[0]))  # each node has a program of so many cells
        if not nodes:
            raise WorkEnded
        every = np.ones(len(ends[0]), dtype=bool)
        found = solve(self.matrix, *self.right, np.zeros(len(every)), *ends, every, nodes=nodes)
        self.work.spend(found.iterations)
        if found.values is None and found.optimal:
            return False
        return True if self.see(found.values) else None
