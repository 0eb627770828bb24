"""Inequalities that every safe pattern obeys, found by linear programs of the attacker.

Under a pattern x (1: hidden, 0: published; between them while the search relaxes it) an attacker's cells move within
boxes that are scaled by x. Where a goal is not reached, the prices of the boxes are a capacity inequality
`sum c_i x_i >= 1` that x breaks and every safe pattern obeys. Coefficients are cut down to the right side, after the
cells that are hidden anyway have been moved there: that is what makes the search end soon.

Sources: Fischetti, Salazar (1999), Mathematical Programming 84, 283-312; (2001), Management Science 47, 1008-1027.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Goals, boxes
from sfumato.kernels.tabular.programs import Reach
from sfumato.kernels.tabular.work import Work

__all__ = ["Attackers", "Cut"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Cut = tuple[Ints, Floats]
"""Cells and coefficients of `sum c_i x_i >= 1`."""

REACHED = 1 - 1e-6
BROKEN = 1 - 1e-4
SLIVER = 1e-4


class Attackers:
    """The attackers of a table: what they know, and what they must not find.

    Parameters
    ----------
    matrix, goals, down, up
        The equations, what must be possible, how far cells may fall and rise by prior knowledge.
    fixed
        Cells that are hidden in every pattern.
    work
        What counts the iterations.
    """

    def __init__(
        self, matrix: sp.csr_array, goals: Goals, down: Floats, up: Floats, fixed: Bools, work: Work | None = None
    ) -> None:
        self.reach, self.matrix, self.work = Reach(matrix, work), sp.csc_array(matrix), work
        self.goals, self.down, self.up, self.fixed = goals, down, up, fixed
        self.proofs: dict[int, Ints] = {}
        self.seen: tuple[bytes, Ints, Reach] | None = None

    def safe(self, goal: int, hidden: Bools) -> bool:
        """Whether a pattern reaches a goal."""
        falls, rises = boxes(self.goals, goal, self.down, self.up)
        low, high = np.where(hidden, -falls, 0.0), np.where(hidden, rises, 0.0)
        return self._reached(goal, low, high)[0] >= REACHED

    def _reached(self, goal: int, low: Floats, high: Floats) -> tuple[float, Floats, Floats]:
        """How far it goes, and the prices of rising and of falling in each cell."""
        cell, sign = int(self.goals.cell[goal]), int(self.goals.sign[goal])
        self.reach.box(low, high)
        far, dear, cheap = 0.0, np.zeros(len(low)), np.zeros(len(low))
        for way in (sign,) if sign else (1, -1):
            far += self.reach.farthest(cell, way)[0]
            prices = self.reach.prices(cell, way)
            dear += np.maximum(prices, 0.0)
            cheap += np.maximum(-prices, 0.0)
        return far, dear, cheap

    def _small(self, pattern: Floats) -> tuple[Ints, Reach]:
        """The cells that a pattern hides, if only in part, and a program of these alone."""
        name = pattern.tobytes()
        if self.seen is None or self.seen[0] != name:
            cells = np.flatnonzero(self.fixed | (pattern > 0))
            matrix = sp.csr_array(self.matrix[:, cells])
            rows = np.flatnonzero(np.diff(matrix.indptr))
            self.seen = name, cells, Reach(sp.csr_array(matrix[rows]), self.work)
        return self.seen[1:]

    def _reaches(self, goal: int, pattern: Floats, falls: Floats, rises: Floats, whole: bool) -> bool:
        """Whether the cells that a pattern hides are enough for a goal; quick, for they are few."""
        cells, reach = self._small(pattern)
        if whole and goal in self.proofs and np.all((self.fixed | (pattern > 0))[self.proofs[goal]]):
            return True
        part = np.where(self.fixed, 1.0, pattern)[cells]
        most = np.inf if whole else np.where(self.fixed[cells], np.inf, 1.0)
        reach.box(-np.minimum(falls[cells], most) * part, np.minimum(rises[cells], most) * part)
        cell, sign = int(np.searchsorted(cells, self.goals.cell[goal])), int(self.goals.sign[goal])
        far = 0.0
        moved = np.zeros(len(cells))
        for way in (sign,) if sign else (1, -1):
            gone, moves = reach.farthest(cell, way)
            far += gone
            moved += np.abs(moves)
        if far < REACHED:
            return False
        if whole:
            self.proofs[goal] = cells[moved > 1e-9]
        return True

    def broken(self, goal: int, pattern: Floats) -> Cut | None:
        """An inequality that a (relaxed) pattern breaks, if the goal's program shows one."""
        falls, rises = boxes(self.goals, goal, self.down, self.up)
        if self._reaches(goal, pattern, falls, rises, bool(np.all(pattern == np.round(pattern)))):
            return None
        scale = np.where(self.fixed, 1.0, np.maximum(pattern, SLIVER))
        low = np.where(self.fixed, falls, np.minimum(falls, 1.0)) * scale
        high = np.where(self.fixed, rises, np.minimum(rises, 1.0)) * scale
        far, dear, cheap = self._reached(goal, -low, high)
        cut = self.cut(dear * rises + cheap * falls) if far < REACHED else None
        if cut is not None and cut[1] @ pattern[cut[0]] < BROKEN:
            return cut
        return self._certain(goal, falls, rises, pattern > 0.5) if np.all(pattern == np.round(pattern)) else None

    def _certain(self, goal: int, falls: Floats, rises: Floats, chosen: Bools) -> Cut | None:
        """The inequality that a pattern of whole cells breaks; None only where it reaches the goal."""
        hidden = self.fixed | chosen
        far, dear, cheap = self._reached(goal, np.where(hidden, -falls, 0.0), np.where(hidden, rises, 0.0))
        if far >= REACHED:
            return None
        cut = self.cut(dear * rises + cheap * falls)
        if cut is not None and cut[1] @ chosen[cut[0]] < REACHED:
            return cut
        others = np.flatnonzero(~hidden)  # the prices are too coarse to tell: at least one more cell it must be
        return others, np.ones(len(others))

    def cut(self, worth: Floats) -> Cut | None:
        """Make `sum worth_i x_i >= 1` an inequality of the free cells, cut down; None: it says nothing."""
        right = 1.0 - float(worth[self.fixed].sum())
        if right <= 1e-6:
            return None
        cells = np.flatnonzero(~self.fixed & (worth > 1e-7 * right))
        share = np.minimum(worth[cells] / right, 1.0)
        return cells, np.where(share > 1 - 1e-6, 1.0, share)

    def tightened(self, cut: Cut, pattern: Floats) -> Cut | None:
        """The cover inequality of a cut: of cells that together do not reach the goal, another one must be hidden.

        The cells taken together are those of the pattern, for their weight, then as many as have room.
        """
        cells, share = cut
        if share.min(initial=1.0) >= 1.0:
            return None
        order = np.lexsort((share, -np.round(pattern[cells] / share, 9)))
        together = np.zeros(len(cells), dtype=bool)
        total = 0.0
        for i in order.tolist():
            if total + share[i] < BROKEN:
                together[i] = True
                total += share[i]
        left = cells[~together]
        return (left, np.ones(len(left))) if pattern[left].sum() < BROKEN else None

    def least(self, goal: int, cut: Cut, chosen: Bools, cost: Floats, open_: Bools) -> Cut | None:
        """Of a cut that whole cells break, as few cells as can be: one of those left must be hidden.

        All cells beside the cut are hidden that may be, then those of it, the cheapest first, as long as the goal is
        not reached. None where the cut says as much itself.
        """
        cells, share = (part[open_[cut[0]]] for part in cut)
        if share.min(initial=1.0) >= 1:
            return None
        falls, rises = boxes(self.goals, goal, self.down, self.up)
        hidden = open_.copy()
        hidden[cells] = chosen[cells]
        cell, sign = int(self.goals.cell[goal]), int(self.goals.sign[goal])
        if sign == 0:
            return None
        self.reach.box(np.where(hidden, -falls, 0.0), np.where(hidden, rises, 0.0))
        far, _ = self.reach.farthest(cell, sign)
        if far >= BROKEN:
            return None
        left = cells[~hidden[cells] & (share >= 1)].tolist()  # by the prices each of these is enough by itself
        some = cells[~hidden[cells] & (share < 1)]
        for other in some[np.lexsort((some, cost[some]))].tolist():
            self.reach.bound(other, -falls[other], rises[other])
            if self.reach.farthest(cell, sign)[0] >= BROKEN:
                self.reach.bound(other, 0.0, 0.0)
                left.append(other)
        return np.sort(np.array(left, dtype=np.int64)), np.ones(len(left))

    def bridge(self, cell: int, pattern: Floats) -> Cut | None:
        """An inequality `sum c_i x_i >= x_cell`: a cell is hidden only for a flow through others; as coefficients."""
        scale = np.where(self.fixed, 1.0, np.maximum(pattern, SLIVER))
        low, high = np.where(self.down > 0, scale, 0.0), np.where(self.up > 0, scale, 0.0)
        low[cell] = high[cell] = 2.0
        self.reach.box(-low, high)
        need = pattern[cell]
        worth = np.zeros(len(pattern))
        for way in (1, -1):
            if self.reach.farthest(cell, way)[0] >= need * BROKEN:
                return None
            prices = self.reach.prices(cell, way)
            prices[cell] = 0.0
            worth += np.maximum(prices, 0) * (self.up > 0) + np.maximum(-prices, 0) * (self.down > 0)
        if worth[self.fixed].max(initial=0.0) > 1e-7:
            return None
        cells = np.flatnonzero(worth > 1e-7)
        if pattern[cells].sum() >= need * BROKEN:
            return None
        return np.append(cells, cell), np.append(np.ones(len(cells)), -1.0)
