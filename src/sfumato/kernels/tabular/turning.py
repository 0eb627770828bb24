"""Directions in which unsafe cells move: a balanced start, then turned around where prices say that it pays.

Where every direction is fixed, the rest is one linear program. Its prices tell, for each unsafe cell, what turning it
around costs at the least: what cannot pay is never tried, and each program starts from where the last one ended.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.asked import Asked
from sfumato.kernels.tabular.programs import program

__all__ = ["Turned", "balanced", "turned"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_NEAR = 1e-9
_AT_ONCE = 8
"""At first one in so many unsafe cells is turned around at once."""


@dataclass(frozen=True)
class Turned:
    """What a search for directions came to.

    Parameters
    ----------
    way
        Of each unsafe cell, 1 where it goes up and 0 where it goes down.
    cost
        What the changes cost in the linear program; infinite where these directions do not fit together.
    """

    way: Floats
    cost: float


def balanced(asked: Asked) -> Floats:
    """Directions with which the unsafe cells of each sum make up for each other, as far as goes cell by cell.

    Examples
    --------
    >>> row, one = sp.csr_array([[1, 1, -1]]), np.ones(3)
    >>> asked = Asked(row, np.array([True, True, False]), one, one, one, one, one, True)
    >>> balanced(asked).tolist()
    [1.0, 0.0]
    """
    cells = np.flatnonzero(asked.unsafe)
    matrix = sp.csc_array(asked.matrix.astype(np.float64))
    off, way = np.zeros(matrix.shape[0]), np.zeros(len(cells))
    must = forced(asked)
    # levels are compared without their last bits, so that these decide nothing
    level = asked.up_level[cells] + asked.down_level[cells]
    near = np.round(level / max(float(level.max(initial=0.0)), 1e-300), 9)
    for k in np.lexsort((np.arange(len(cells)), -near)).tolist():
        span = slice(matrix.indptr[cells[k]], matrix.indptr[cells[k] + 1])
        rows, signs = matrix.indices[span], matrix.data[span]
        up, down = signs * asked.up_level[cells[k]], -signs * asked.down_level[cells[k]]
        above, below = float(np.abs(off[rows] + up).sum()), float(np.abs(off[rows] + down).sum())
        way[k] = must[k] if must[k] >= 0 else float(above <= below + _NEAR * (above + below))
        off[rows] += up if way[k] else down
    return way


def forced(asked: Asked) -> Floats:
    """Of each unsafe cell, the direction that it must take: 1 up, 0 down, -1 either."""
    cells = np.flatnonzero(asked.unsafe)
    must = np.where(asked.down[cells] < asked.down_level[cells], 1.0, -1.0)
    return np.where(asked.up[cells] < asked.up_level[cells], 0.0, must)


def turned(asked: Asked, way: Floats, *, effort: int, enough: float, seconds: float | None) -> Turned:
    """Turn directions around as long as it gets cheaper.

    Parameters
    ----------
    asked
        The problem; that changes are whole is left aside.
    way
        The directions to begin with.
    effort
        Steps of the simplex method after which it ends: the same every time.
    enough
        The cost at which it ends.
    seconds
        When to end in any case.

    Examples
    --------
    >>> row, one = sp.csr_array([[1, 1, -1]]), np.ones(3)
    >>> asked = Asked(row, np.array([True, True, False]), one, one, 9 * one, 9 * one, np.array([1, 1, 9.0]), True)
    >>> found = turned(asked, np.array([1.0, 1.0]), effort=100, enough=0.0, seconds=None)
    >>> found.way.tolist(), found.cost
    ([0.0, 1.0], 2.0)
    """
    until = None if seconds is None else time.monotonic() + seconds
    search = _Programme(asked, way)
    best = search.run()
    if not np.isfinite(best):
        return Turned(way, best)
    free = forced(asked) < 0
    most = max(1, len(way) // _AT_ONCE)
    at_once, tried, gain = most, np.zeros(len(way), dtype=bool), search.gain()
    while best > enough and search.steps < effort and (until is None or time.monotonic() < until):
        pays = np.flatnonzero(free & ~tried & (gain < -_NEAR * best))
        if not len(pays):
            break
        pick = pays[np.lexsort((pays, np.round(gain[pays] / best, 9)))[:at_once]]
        search.turn(pick)
        now = search.run()
        if now < best * (1 - _NEAR):
            best, gain = now, search.gain()
            tried[:] = False
            at_once = min(2 * at_once, most)
            continue
        search.turn(pick)
        tried[pick] |= at_once == 1
        at_once = max(1, at_once // 2)
    return Turned(search.way, best)


class _Programme:
    """The linear program in which all directions are fixed, solved again after some were turned around."""

    def __init__(self, asked: Asked, way: Floats) -> None:
        self.asked, self.way = asked, way.copy()
        self.cells, self.n = np.flatnonzero(asked.unsafe), len(asked.unsafe)
        plain = sp.csc_array(asked.matrix.astype(np.float64))
        self.transposed = sp.csr_array(plain.T)
        cost, high = np.concatenate([asked.cost, asked.cost]), np.concatenate([asked.up, asked.down])
        both = sp.csc_array(sp.hstack([plain, -plain], format="csc"))
        self.solver = program(both, cost, np.zeros(2 * self.n), high)
        self.steps = 0
        self._bound(np.arange(len(self.cells)))

    def _bound(self, which: Ints) -> None:
        cell, up = self.cells[which], self.way[which] > 0
        low = np.where(up, self.asked.up_level[cell], 0.0), np.where(up, 0.0, self.asked.down_level[cell])
        high = np.where(up, self.asked.up[cell], 0.0), np.where(up, 0.0, self.asked.down[cell])
        columns = np.concatenate([cell, cell + self.n]).astype(np.int32)
        self.solver.changeColsBounds(len(columns), columns, np.concatenate(low), np.concatenate(high))

    def turn(self, which: Ints) -> None:
        """Turn cells around."""
        self.way[which] = 1 - self.way[which]
        self._bound(which)

    def run(self) -> float:
        """What the directions cost; infinite where they do not fit together."""
        if np.any(forced(self.asked) == 1 - self.way):
            return float("inf")
        self.solver.run()
        info = self.solver.getInfo()
        self.steps += max(1, int(info.simplex_iteration_count))
        solved = self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return float(info.objective_function_value) if solved else float("inf")

    def gain(self) -> Floats:
        """What turning each cell around changes the cost by, at the least: the cost is convex in how far it moves."""
        price = (self.transposed @ np.asarray(self.solver.getSolution().row_dual))[self.cells]
        cost = self.asked.cost[self.cells]
        up = self.asked.up_level[self.cells] * (cost - price)
        down = self.asked.down_level[self.cells] * (cost + price)
        return np.asarray(np.where(self.way > 0, down - up, up - down), dtype=np.float64)
