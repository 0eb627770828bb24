"""What single cells of a table can be, in whole numbers, as far as it is asked for.

Every table that is found on the way tells of all cells: a question that one of them answers needs no program.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import propagated
from sfumato.kernels.tabular.programme import Programme
from sfumato.kernels.tabular.whole_numbers import solve

__all__ = ["Reachable"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NEAR = 1e-6


class Reachable:
    """Tables in whole numbers with given sums of cells.

    Parameters
    ----------
    rows, right
        Which cells make up each sum, shape (sums, cells), and the sums.
    true
        A table that has these sums.
    possible
        Cells that are not ruled out beforehand; all others are 0.

    Examples
    --------
    >>> square = sp.csr_array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> cells = Reachable(square, np.array([7, 3, 6, 4]), np.array([5, 2, 1, 2]), np.ones(4, dtype=bool))
    >>> cells.ends(0), cells.wide(3, 3), cells.wide(3, 4)
    ((3, 6), True, False)
    """

    def __init__(self, rows: sp.csr_array, right: Ints, true: Ints, possible: Bools) -> None:
        self.rows, self.right = sp.csr_array(rows).astype(np.float64), right.astype(np.float64)
        low, high = np.zeros(len(true)), np.where(possible, np.inf, 0.0)
        low, high = propagated(self.rows, self.right, self.right, low, high)
        self.low, self.high = np.ceil(low - _NEAR) + 0.0, np.floor(high + _NEAR) + 0.0
        self.least, self.most = true.astype(np.float64), true.astype(np.float64)
        self.programs = self.whole = 0
        self._linear: Programme | None = None

    def wide(self, cell: int, width: int) -> bool:
        """Whether the most and the least that a cell can be lie `width` apart or farther."""
        for sign in (1, -1):
            if self.most[cell] - self.least[cell] >= width:
                return True
            if self.high[cell] - self.low[cell] < width:
                return False
            self._linearly(cell, sign)
        for sign in (1, -1):
            if self.most[cell] - self.least[cell] >= width:
                return True
            if self.high[cell] - self.low[cell] < width:
                return False
            self._whole(cell, sign)
        return bool(self.most[cell] - self.least[cell] >= width)

    def narrowed(self, cell: int, width: int) -> bool:
        """Whether the ends are known to lie less than `width` apart, after linear programs where that is open."""
        for sign in (1, -1):
            apart = self.most[cell] - self.least[cell] >= width
            if apart or self.high[cell] - self.low[cell] < width:
                break
            self._linearly(cell, sign)
        return bool(self.high[cell] - self.low[cell] < width)

    def reaches(self, cell: int, count: int = 1) -> bool:
        """Whether a cell can be so many or more."""
        for step in (self._linearly, self._whole):
            if self.most[cell] >= count or self.high[cell] < count:
                break
            step(cell, 1)
        return bool(self.most[cell] >= count)

    def ends(self, cell: int) -> tuple[int, int]:
        """The least and the most that a cell can be."""
        for sign in (1, -1):
            for step in (self._linearly, self._whole):
                if self._settled(cell, sign):
                    break
                step(cell, sign)
        return int(self.low[cell]), int(self.high[cell])

    def _settled(self, cell: int, sign: int) -> bool:
        return bool(self.most[cell] >= self.high[cell] if sign > 0 else self.least[cell] <= self.low[cell])

    def _linearly(self, cell: int, sign: int) -> None:
        """Move an end inwards by a linear program; where its table is whole the end is reached."""
        if self._settled(cell, sign):
            return
        if self._linear is None:
            self._linear = Programme(self.rows, self.right, self.right, self.low, self.high)
        found = self._linear.least(np.array([cell]), np.array([-float(sign)]))
        self.programs += 1
        if found is None:  # no end; propagation gives one to whatever stands in a sum
            return
        if sign > 0:
            self.high[cell] = min(self.high[cell], np.floor(found[cell] + _NEAR))
        else:
            self.low[cell] = max(self.low[cell], np.ceil(found[cell] - _NEAR))
        self._see(found)

    def _see(self, table: Floats) -> None:
        whole = np.rint(table)
        if np.abs(whole - table).max(initial=0.0) < _NEAR and np.array_equal(self.rows @ whole, self.right):
            np.minimum(self.least, whole, out=self.least)
            np.maximum(self.most, whole, out=self.most)

    def _whole(self, cell: int, sign: int) -> None:
        """Find an end by a program in whole numbers."""
        if self._settled(cell, sign):
            return
        cost = np.zeros(len(self.low))
        cost[cell] = -float(sign)
        whole = np.ones(len(cost), dtype=bool)
        found = solve(self.rows, self.right, self.right, cost, self.low, self.high, whole)
        self.programs += 1
        self.whole += 1
        if found.values is None or not found.optimal:
            raise AssertionError("the true table is a solution")
        self._see(found.values)
        end = np.rint(found.values[cell])
        if sign > 0:
            self.high[cell] = self.most[cell] = end
        else:
            self.low[cell] = self.least[cell] = end
