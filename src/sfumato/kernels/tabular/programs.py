"""The linear programs behind suppression: how far can a cell move, and what does it cost to let it."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.work import Work, WorkEnded

__all__ = ["Flows", "Reach", "quiet_solver"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_LARGE, _BEGINNING = 20_000, 10
"""To begin a program costs as much as so many iterations for every so many columns."""


def quiet_solver() -> highspy.Highs:
    """A solver that says nothing, uses one thread and draws the same numbers every time.

    Examples
    --------
    >>> quiet_solver().getNumCol()
    0
    """
    solver: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in (("output_flag", False), ("threads", 1), ("random_seed", 0), ("parallel", "off")):
        solver.setOptionValue(name, value)
    return solver


def program(
    matrix: sp.csc_array, cost: Floats, low: Floats, high: Floats, right: Floats | None = None
) -> highspy.Highs:
    """A linear program `minimise cost z, matrix z = right (0), low <= z <= high`, to be solved again and again."""
    solver = quiet_solver()
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, high
    lp.row_lower_ = lp.row_upper_ = np.zeros(matrix.shape[0]) if right is None else right
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    solver.passModel(lp)
    return solver


def solved(solver: highspy.Highs, work: Work | None = None) -> bool:
    """Run a solver within the work that is left; whether it came to the optimum.

    What it cost is counted, a program without iterations as one; of large ones also what it takes to begin.

    Raises
    ------
    WorkEnded
        Where the work does not suffice: such a program tells nothing.
    """
    if work is not None:
        if work.over:
            raise WorkEnded
        solver.setOptionValue("simplex_iteration_limit", work.left)
    solver.run()
    if work is not None:
        work.spend(max(1, int(solver.getInfo().simplex_iteration_count)) + solver.getNumCol() // _LARGE * _BEGINNING)
        if solver.getModelStatus() == highspy.HighsModelStatus.kIterationLimit:
            raise WorkEnded
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


class Reach:
    """How far a cell can move when every cell moves within its box and all equations hold.

    Only a program that was solved to its end says anything: where the solver stops before, the cell counts as one that
    cannot move, and so is never taken for protected.
    """

    def __init__(self, matrix: sp.csr_array, work: Work | None = None) -> None:
        self.cells, self.work = matrix.shape[1], work
        self.transposed = sp.csr_array(matrix.T)
        zeros = np.zeros(self.cells)
        self.solver = program(sp.csc_array(matrix), zeros, zeros, zeros)
        self.every = np.arange(self.cells, dtype=np.int32)
        self.aim: int | None = None
        self.optimal = False

    def box(self, low: Floats, high: Floats) -> None:
        """Let every cell move from `low` to `high`."""
        self.solver.changeColsBounds(self.cells, self.every, low, high)

    def bound(self, cell: int, low: float, high: float) -> None:
        """Change the box of one cell."""
        self.solver.changeColBounds(cell, low, high)

    def farthest(self, cell: int, sign: int) -> tuple[float, Floats]:
        """How far a cell can move upwards (sign 1) or downwards (-1), and how the others move with it.

        Nowhere, where the program cannot be solved to its end: from where the last one ended, then from the beginning.
        """
        if self.aim is not None and self.aim != cell:
            self.solver.changeColCost(self.aim, 0.0)  # one aim at a time
        self.solver.changeColCost(cell, -float(sign))
        self.aim = cell
        self.optimal = solved(self.solver, self.work)
        if not self.optimal:
            self.solver.clearSolver()
            self.optimal = solved(self.solver, self.work)
        if not self.optimal:
            return 0.0, np.zeros(self.cells)
        moved = np.asarray(self.solver.getSolution().col_value)
        return sign * moved[cell], moved

    def prices(self, cell: int, sign: int) -> Floats:
        """What each cell's room was worth in the last program: `prices z = sign z_cell` for every z with M z = 0.

        Of a program that was not solved to its end, the cell's own room alone.
        """
        worth = np.zeros(self.cells)
        if self.optimal:
            worth += self.transposed @ np.round(np.asarray(self.solver.getSolution().row_dual), 7)
        worth[cell] += sign
        return worth


class Flows:
    """The cheapest way to let a cell move by a given amount: `min cost (z+ + z-)`, M (z+ - z-) = 0."""

    def __init__(self, matrix: sp.csr_array, work: Work | None = None) -> None:
        self.matrix, self.cells, self.work = matrix, matrix.shape[1], work
        both = sp.csc_array(sp.hstack([matrix, -matrix]))
        zeros = np.zeros(2 * self.cells)
        self.solver = program(both, zeros, zeros, zeros)
        self.every = np.arange(2 * self.cells, dtype=np.int32)

    def cost(self, cost: Floats) -> None:
        """What a unit of movement costs in each cell."""
        self.solver.changeColsCost(2 * self.cells, self.every, np.concatenate([cost, cost]))

    def cheapest(self, cell: int, sign: int, amount: float, down: Floats, up: Floats) -> Floats | None:
        """How all cells move, at least cost, when a cell moves by an amount; None where it cannot."""
        low, high = np.zeros(2 * self.cells), np.concatenate([up, down])
        moves, back = (cell, self.cells + cell) if sign > 0 else (self.cells + cell, cell)
        if high[moves] < amount * (1 - 1e-9):
            return None
        low[moves], high[moves], high[back] = amount, amount, 0.0
        self.solver.changeColsBounds(2 * self.cells, self.every, low, high)
        self.solver.clearSolver()  # nothing moves but one cell: nearer than where the program before it ended
        if not solved(self.solver, self.work):
            return None
        moved: Floats = np.asarray(self.solver.getSolution().col_value)
        return moved[: self.cells] - moved[self.cells :]
