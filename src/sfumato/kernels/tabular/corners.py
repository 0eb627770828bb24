"""The least and the most of every cell by programs: linear ones, and whole-number ones where these leave a doubt.

All programs of a table differ in their costs alone, so that each starts where the last one ended. Every solution is a
table that could be the true one and tells of all cells at once: a cell end that some table reaches needs no program of
its own. With whole numbers, ends are first rounded inwards; a whole-number program is solved only for those ends that
no whole table seen so far reaches, and that corners under random costs, which mostly are whole, do not reach either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import propagated
from sfumato.kernels.tabular.programme import Contradiction, Programme
from sfumato.progress import Progress, quiet

__all__ = ["Corners", "corners"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NEAR = 1e-6
"""Distance from a whole number within which a result of a program is one."""
_NODES = 2_000
"""A whole-number program that needs more nodes than this leaves its cell as it is."""
_SWEEPS = 4
_PLAIN, _TRIES = 4, 8
"""Corners that are tried for a whole table before a whole-number program."""


@dataclass(frozen=True)
class Corners:
    """Ends of cells.

    Parameters
    ----------
    low, high : ndarray, shape (cells,)
        The least and the most that each can be.
    programs, whole_programs : int
        How many were solved, linear and with whole numbers.
    sharp : ndarray of bool
        Whether both ends are proved to be reached.
    """

    low: Floats
    high: Floats
    programs: int
    whole_programs: int
    sharp: Bools


def corners(
    rows: sp.csr_array,
    least: Floats,
    most: Floats,
    low: Floats,
    high: Floats,
    *,
    whole: bool,
    integer: bool = True,
    effort: float = np.inf,
    progress: Progress = quiet,
) -> Corners:
    """Find the least and the most of every cell.

    Parameters
    ----------
    rows, least, most
        Sums of cells, and what each can be.
    low, high
        What is known of the cells before.
    whole
        All cells are whole numbers: ends are rounded inwards.
    integer
        Settle ends that no whole table seen reaches, by whole-number programs.
    effort
        At most so many programs times cells are spent on that; what is left keeps the ends of linear programs, rounded.

    Raises
    ------
    Contradiction
        Where there is no such table.

    Examples
    --------
    >>> square = sp.csr_array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> sums = np.array([7.0, 3.0, 6.0, 4.0])
    >>> found = corners(square, sums, sums, np.zeros(4), np.full(4, np.inf), whole=True)
    >>> found.low.tolist(), found.high.tolist()
    ([3.0, 1.0, 0.0, 0.0], [6.0, 4.0, 3.0, 3.0])
    """
    rows = sp.csr_array(rows).astype(np.float64)
    if whole:
        low, high = np.ceil(low - _NEAR), np.floor(high + _NEAR)
        least, most = np.ceil(least - _NEAR), np.floor(most + _NEAR)
    low, high = propagated(rows, least, most, low, high)
    if whole:
        low, high = np.ceil(low - _NEAR) + 0.0, np.floor(high + _NEAR) + 0.0
    if np.any(low > high + _NEAR):
        raise Contradiction
    sharp = np.ones(len(low), dtype=bool)
    programs = whole_programs = 0
    pieces = _pieces(rows, low, high)
    for k, (cells, own) in enumerate(pieces):
        progress("bounding cells", k / len(pieces))
        fixed = np.where(low == high, low, 0.0)
        moved = rows[own] @ fixed
        matrix = sp.csr_array(rows[own][:, cells])
        piece = _Piece(matrix, least[own] - moved, most[own] - moved, low[cells], high[cells], whole)
        piece.linear(progress)
        if whole and integer:
            piece.integer(effort, progress)
        low[cells], high[cells], sharp[cells] = piece.low, piece.high, piece.sharp()
        programs, whole_programs = programs + piece.programme.solved, whole_programs + piece.whole_programs
    return Corners(low + 0.0, high + 0.0, programs, whole_programs, sharp)


def _pieces(rows: sp.csr_array, low: Floats, high: Floats) -> list[tuple[Ints, Ints]]:
    """Open cells that sums connect, and these sums."""
    open_cells = np.flatnonzero(high > low)
    matrix = sp.csr_array(rows[:, open_cells])
    coo = matrix.tocoo()
    many, n = matrix.shape
    graph = sp.csr_array((np.ones(coo.nnz), (coo.row, coo.col + many)), (many + n, many + n))
    _, label = sp.csgraph.connected_components(graph, directed=False)
    out = []
    for name in np.unique(label[many:]):
        cells, own = open_cells[label[many:] == name], np.flatnonzero(label[:many] == name)
        out.append((cells, own[np.diff(matrix.indptr)[own] > 0]))
    return out


class _Piece:
    """Cells that hang together: their ends from outside, and how far tables that were seen reach."""

    def __init__(self, matrix: sp.csr_array, least: Floats, most: Floats, low: Floats, high: Floats, whole: bool):
        self.matrix, self.least, self.most, self.whole = matrix, least, most, whole
        self.low, self.high = low.copy(), high.copy()
        self.programme = Programme(matrix, least, most, low, high)
        finite = np.concatenate([x[np.isfinite(x)] for x in (least, most, low, high)])
        self.close = _NEAR if whole else 1e-9 * max(1.0, float(np.max(np.abs(finite), initial=0.0)))
        n = len(low)
        self.in_low, self.in_high = np.full(n, np.inf), np.full(n, -np.inf)
        self.whole_low, self.whole_high = np.full(n, np.inf), np.full(n, -np.inf)
        self.whole_programs = 0

    def see(self, table: Floats) -> None:
        """A table that is possible."""
        table = np.clip(table, self.low, self.high)
        np.minimum(self.in_low, table, out=self.in_low)
        np.maximum(self.in_high, table, out=self.in_high)
        if self.whole:
            near = np.round(table)
            sums = self.matrix @ near
            if np.all(np.abs(near - table) < _NEAR) and np.all((sums >= self.least) & (sums <= self.most)):
                np.minimum(self.whole_low, near, out=self.whole_low)
                np.maximum(self.whole_high, near, out=self.whole_high)

    def open_low(self) -> Bools:
        return np.asarray(self.in_low > self.low + self.close)

    def open_high(self) -> Bools:
        return np.asarray(self.in_high < self.high - self.close)

    def linear(self, progress: Progress) -> None:
        """Ends by linear programs, rounded inwards where cells are whole."""
        n = len(self.low)
        for k in range(_SWEEPS):
            cells = np.flatnonzero(self.open_low() if k % 2 else self.open_high())[(k // 2) :: 1 + k // 2]
            if len(cells) and np.isfinite(self.high[cells]).all():
                table = self.programme.least(cells, np.full(len(cells), 1.0 if k % 2 else -1.0))
                if table is not None:
                    self.see(table)
        for cell in range(n):
            if self.in_high[cell] < self.high[cell] - self.close:
                table = self.programme.least(np.array([cell]), np.array([-1.0]))
                if table is None:
                    self.in_high[cell] = np.inf
                    continue
                self.see(table)
                self.high[cell] = min(self.high[cell], self._inward(table[cell], -1))
            if self.in_low[cell] > self.low[cell] + self.close:
                table = self.programme.least(np.array([cell]), np.array([1.0]))
                if table is not None:
                    self.see(table)
                    self.low[cell] = max(self.low[cell], self._inward(table[cell], 1))
            if cell % 64 == 0:
                progress("bounding cells", cell / n)
        if np.any(self.low > self.high + self.close):
            raise Contradiction

    def _inward(self, end: float, side: int) -> float:
        if not self.whole:
            return end
        return float(np.ceil(end - _NEAR)) if side > 0 else float(np.floor(end + _NEAR))

    def integer(self, effort: float, progress: Progress) -> None:
        """Settle the ends that no whole table seen reaches."""
        costs, solver, begun = np.random.default_rng(0), None, self.programme.solved
        n = len(self.low)
        for cell in range(n):
            for side in (-1, 1):
                while not self._reached(cell, side):
                    # a whole-number program costs as much as a linear one for each cell, or so
                    spent = n * (self.programme.solved - begun + n * self.whole_programs)
                    if spent > effort or self._corner(cell, side, costs) or spent + n * n > effort:
                        break
                    solver = solver or _Whole(self.matrix, self.least, self.most)
                    table, proved = solver.table(cell, self._end(cell, side), self.low, self.high)
                    self.whole_programs += 1
                    if table is not None:
                        self.see(np.round(table))
                    if table is not None or not proved:
                        break
                    if side < 0:
                        self.high[cell] -= 1.0
                    else:
                        self.low[cell] += 1.0
                    if self.low[cell] > self.high[cell]:
                        raise Contradiction
            if cell % 64 == 0:
                progress("bounding cells", cell / n)

    def _end(self, cell: int, side: int) -> float:
        return float(self.high[cell] if side < 0 else self.low[cell])

    def _corner(self, cell: int, side: int, costs: np.random.Generator) -> bool:
        """Look for a whole table that reaches an end: corners under costs drawn at random mostly are whole."""
        one, end = np.array([cell]), np.array([self._end(cell, side)])
        every = np.arange(len(self.low))
        self.programme.bounds(one, end, end)
        for k in range(_TRIES):
            push = np.where(self.whole_low > self.low, 1.0, 0.0) - np.where(self.whole_high < self.high, 1.0, 0.0)
            push = np.where(np.isinf(self.high), 1.0, np.where(push == 0, 0.1, push))
            push *= costs.exponential(size=len(every))
            table = self._table(every, push)
            if table is None:
                break
            self.see(table)
            if not self._reached(cell, side) and k >= _PLAIN:
                self._dive(table, push)
            if self._reached(cell, side):
                break
        self.programme.bounds(one, self.low[one], self.high[one])
        return self._reached(cell, side)

    def _table(self, cells: Ints, costs: Floats) -> Floats | None:
        """The cheapest table, None where there is none."""
        try:
            return self.programme.least(cells, costs)
        except Contradiction:
            return None

    def _dive(self, table: Floats, costs: Floats) -> None:
        """Round the cells of a table one after the other, the others following, until it is whole or none is left."""
        fixed, every = [], np.arange(len(table))
        while True:
            off = np.abs(table - np.round(table))
            if off.max() < _NEAR:
                self.see(table)
                break
            cell = int(np.argmin(np.where(off < _NEAR, np.inf, off)))
            fixed.append(cell)
            near = np.round(table[[cell]])
            self.programme.bounds(np.array([cell]), near, near)
            follow = self._table(every, costs)
            if follow is None:
                break
            table = follow
        back = np.array(fixed, dtype=np.int64)
        self.programme.bounds(back, self.low[back], self.high[back])

    def _reached(self, cell: int, side: int) -> bool:
        if side < 0:
            return bool(self.whole_high[cell] >= self.high[cell] or np.isinf(self.high[cell]))
        return bool(self.whole_low[cell] <= self.low[cell])

    def sharp(self) -> Bools:
        """Cells both whose ends a table reaches."""
        low, high = (self.whole_low, self.whole_high) if self.whole else (self.in_low, self.in_high)
        up = (high >= self.high - self.close) | np.isinf(self.high)
        return np.asarray((low <= self.low + self.close) & up)


class _Whole:
    """Whole-number programs over one set of rows."""

    def __init__(self, matrix: sp.csr_array, least: Floats, most: Floats) -> None:
        import highspy

        from sfumato.kernels.tabular.programs import quiet_solver

        self._highs: Any = highspy
        self._solver: Any = quiet_solver()
        self._solver.setOptionValue("mip_max_nodes", _NODES)
        n = matrix.shape[1]
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        lp.row_lower_, lp.row_upper_ = least, most
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data.astype(float)
        lp.integrality_ = [highspy.HighsVarType.kInteger] * n
        self._solver.passModel(lp)
        self._every = np.arange(n, dtype=np.int32)

    def table(self, cell: int, value: float, low: Floats, high: Floats) -> tuple[Floats | None, bool]:
        """A whole table in which a cell has a value; without one, whether it is proved that there is none."""
        low, high = low.copy(), high.copy()
        low[cell] = high[cell] = value
        self._solver.changeColsBounds(len(self._every), self._every, low, high)
        self._solver.clearSolver()
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == self._highs.HighsModelStatus.kInfeasible:
            return None, True
        if status == self._highs.HighsModelStatus.kOptimal:
            return np.array(self._solver.getSolution().col_value), False
        return None, False
