"""Suppression by hypercubes, for comparison with the other methods only.

Each primary cell is made a corner of a box of cells: two in each direction, all corners hidden. Going round the box,
one half of its corners rises and the other falls, so the cell may move by the least of what these corners leave. It is
quick, hides far more than is needed, and looks at one box at a time.

The box is found from the equations: beside the cell, one cell of each row it stands in; and where two such sides meet,
the cell that stands in a row with both.

Source: Repsilber (1994, 2002); Hundepool et al., Handbook on Statistical Disclosure Control, section 4.4.4.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.progress import Progress, quiet
from sfumato.tables.suppress.problem import Problem
from sfumato.tables.suppress.repair import mended
from sfumato.tables.suppress.result import Suppression

__all__ = ["boxes_of", "suppress_hypercube"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SIDES = 12
"""So many cells of each row, the cheapest, are tried as the next corner."""


class Neighbours:
    """Which cells stand in which rows."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix = sp.csr_array(matrix)
        by_cell = sp.csc_array(self.matrix)
        self.rows = [
            by_cell.indices[by_cell.indptr[i] : by_cell.indptr[i + 1]].tolist() for i in range(by_cell.shape[1])
        ]
        starts = self.matrix.indptr
        self.cells = [self.matrix.indices[starts[r] : starts[r + 1]].tolist() for r in range(self.matrix.shape[0])]
        self.sign = {
            (r, c): s for r, cells in enumerate(self.cells) for c, s in zip(cells, self._signs(r), strict=True)
        }

    def _signs(self, row: int) -> list[float]:
        starts = self.matrix.indptr
        return [float(x) for x in self.matrix.data[starts[row] : starts[row + 1]]]

    def beside(self, cell: int) -> set[int]:
        """Cells that stand in a row with a cell."""
        return {other for row in self.rows[cell] for other in self.cells[row]} - {cell}

    def parts(self, cell: int) -> list[int]:
        """The rows in which a cell is a part."""
        return [row for row in self.rows[cell] if self.sign[row, cell] > 0]

    def balanced(self, corners: list[int]) -> dict[int, int] | None:
        """Whether each corner rises or falls when the first one rises, where all rows then hold; None: they do not."""
        inside = set(corners)
        way, waiting = {corners[0]: 1}, [corners[0]]
        while waiting:
            cell = waiting.pop()
            for row in self.rows[cell]:
                same = [c for c in self.cells[row] if c in inside]
                if len(same) != 2:
                    return None
                other = same[0] if same[1] == cell else same[1]
                needed = -way[cell] if self.sign[row, cell] == self.sign[row, other] else way[cell]
                if other not in way:
                    waiting.append(other)
                if way.setdefault(other, needed) != needed:
                    return None
        return way if len(way) == len(inside) else None


def boxes_of(near: Neighbours, cell: int, worth: Floats) -> list[dict[int, int]]:
    """The boxes that a cell is a corner of, as corners and whether they rise (1) or fall (-1) with it.

    Examples
    --------
    >>> inside = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    >>> square = sp.csr_array(np.hstack([inside, -np.eye(4)]))
    >>> boxes_of(Neighbours(square), 0, np.ones(8))
    [{0: 1, 1: -1, 2: -1, 3: 1}]
    """
    rows = near.parts(cell)
    sides = []
    for row in rows:
        others = [c for c in near.cells[row] if c != cell and near.sign[row, c] > 0]
        sides.append(sorted(others, key=lambda c: (worth[c], c))[:SIDES])
    found = []
    for chosen in product(*sides):
        corners = _corners(near, cell, rows, chosen, worth) if rows else None
        way = near.balanced(corners) if corners else None
        if way is not None:
            found.append(dict(sorted(way.items())))
    return found


def _corners(near: Neighbours, cell: int, rows: list[int], sides: tuple[int, ...], worth: Floats) -> list[int] | None:
    """The corners of the box with these sides: where several cells stand in a row with both sides, the cheapest."""
    at: dict[tuple[int, ...], int] = {(): cell, **{(i,): side for i, side in enumerate(sides)}}
    for size in range(2, len(sides) + 1):
        for directions in combinations(range(len(sides)), size):
            below = [at[tuple(d for d in directions if d != left)] for left in directions]
            both = set.intersection(*(near.beside(c) for c in below)) - set(at.values())
            both -= {c for row in rows for c in near.cells[row]}
            if not both:
                return None
            at[directions] = min(both, key=lambda c: (worth[c], c))
    return list(at.values())


def _movement(way: dict[int, int], up: Floats, down: Floats) -> tuple[float, float]:
    """How far the first corner may rise and fall."""
    rises = min(float(up[c] if sign > 0 else down[c]) for c, sign in way.items())
    falls = min(float(down[c] if sign > 0 else up[c]) for c, sign in way.items())
    return rises, falls


def suppress_hypercube(problem: Problem, progress: Progress = quiet) -> Suppression:
    """Hide the corners of a box for each primary cell; flows help where no box is enough. For comparison.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sfumato.tables.suppress.problem import prepare
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> problem = prepare(system, value == 2, cost=value, lower=np.zeros(4), upper=np.full(4, np.inf))
    >>> suppress_hypercube(problem).secondary.tolist()
    [False, True, False, False]
    """
    near, hidden, goals = Neighbours(problem.matrix), problem.fixed.copy(), problem.goals
    cells = sorted({int(c) for c in goals.cell})
    for i, cell in enumerate(cells):
        progress("hiding cells by hypercubes", i / len(cells))
        of = goals[goals.cell == cell]
        need = [float(of.amount[(of.sign == sign) & ~of.cone].max(initial=0.0)) for sign in (1, -1)]
        best: tuple[bool, int, float] | None = None
        corners: list[int] = []
        for way in boxes_of(near, cell, np.where(hidden, 0.0, problem.cost)):
            new = [c for c in way if not hidden[c]]
            rises, falls = _movement(way, problem.up, problem.down)
            short = rises < need[0] or falls < need[1] or rises + falls <= 0 or not problem.open[new].all()
            rank = (short, len(new), float(problem.cost[new].sum()))
            if best is None or rank < best:
                best, corners = rank, new
        if best is not None and not best[0]:
            hidden[corners] = True
    note = "The hypercube method is here for comparison; cells that no box protects are protected by flows."
    problem, hidden = mended(problem, hidden, publish=False)
    return problem.result(hidden, "hypercube", note=note)
