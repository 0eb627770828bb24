"""Linear programs that differ in their costs alone: built once, each solved from where the one before it ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.work import Work, WorkEnded

__all__ = ["Contradiction", "Programme"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Contradiction(DataError):
    """Published cells and bounds that no table can have."""

    def __init__(self) -> None:
        super().__init__("the published cells contradict each other: no table has these sums within the bounds given")


class Programme:
    """Linear programs over one set of rows and bounds, that differ in their costs; each starts from the last one's end.

    Parameters
    ----------
    matrix, least, most
        Rows, and the least and the most that each may sum to.
    low, high
        Bounds of the columns.
    work
        What all the programs may cost.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> five, none, inf = np.array([5.0]), np.zeros(2), np.full(2, np.inf)
    >>> programme = Programme(sp.csr_array([[1.0, 1.0]]), five, five, none, inf)
    >>> programme.least(np.array([0]), np.array([-1.0])).tolist()
    [5.0, 0.0]
    """

    def __init__(
        self, matrix: sp.csr_array, least: Floats, most: Floats, low: Floats, high: Floats, work: Work | None = None
    ) -> None:
        import highspy

        self._highs: Any = highspy
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, setting in _SETTINGS.items():
            self._solver.setOptionValue(name, setting)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = np.zeros(matrix.shape[1])
        lp.col_lower_, lp.col_upper_ = low, high
        lp.row_lower_, lp.row_upper_ = least, most
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data.astype(float)
        self._solver.passModel(lp)
        self._costed: Ints = np.zeros(0, np.int64)
        self.solved = 0
        self.work = Work() if work is None else work

    def least(self, cells: Ints, costs: Floats) -> Floats | None:
        """The cheapest solution where the given cells cost so much, others nothing; None if there is no end to it.

        Raises
        ------
        WorkEnded
            Where that costs more than is left.
        """
        self._cost(cells, costs)
        for settings in _TRIES:
            for name, setting in settings.items():
                self._solver.setOptionValue(name, setting)
            if settings:
                self._solver.clearSolver()
            self._run()
            status = self._solver.getModelStatus()
            if status == self._highs.HighsModelStatus.kIterationLimit and self.work.over:
                raise WorkEnded
            if status == self._highs.HighsModelStatus.kOptimal:
                table = np.array(self._solver.getSolution().col_value)
            elif status in (
                self._highs.HighsModelStatus.kUnbounded,
                self._highs.HighsModelStatus.kUnboundedOrInfeasible,
            ):
                table = None
            else:
                continue
            for name in settings and _SETTINGS:
                self._solver.setOptionValue(name, _SETTINGS[name])
            return table
        raise Contradiction

    def towards(self, cells: Ints, costs: Floats, iterations: int) -> Floats | None:
        """A solution that is cheap where the given cells cost so much; the best of so many iterations, None if none is.

        Raises
        ------
        WorkEnded
            Where nothing is left to spend.
        """
        self._cost(cells, costs)
        self._run(iterations)
        if self._solver.getInfo().primal_solution_status != int(self._highs.SolutionStatus.kSolutionStatusFeasible):
            return None
        return np.array(self._solver.getSolution().col_value)

    def _cost(self, cells: Ints, costs: Floats) -> None:
        stale = np.setdiff1d(self._costed, cells)
        self._solver.changeColsCost(len(stale), stale.astype(np.int32), np.zeros(len(stale)))
        self._solver.changeColsCost(len(cells), cells.astype(np.int32), costs.astype(float))
        self._costed = cells
        self.solved += 1

    def _run(self, iterations: int | None = None) -> None:
        """Solve within so many iterations, and within the work that is left."""
        if self.work.over:
            raise WorkEnded
        left = self.work.left
        self._solver.setOptionValue("simplex_iteration_limit", left if iterations is None else min(left, iterations))
        self._solver.run()
        self.work.spend(max(int(self._solver.getInfo().simplex_iteration_count), 1))

    def bounds(self, cells: Ints, low: Floats, high: Floats) -> None:
        """Change the bounds of cells."""
        self._solver.changeColsBounds(len(cells), cells.astype(np.int32), low.astype(float), high.astype(float))


_SETTINGS: dict[str, bool | int | str] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": 4,  # primal: a change of costs leaves the last solution feasible
    "random_seed": 0,
}
_TRIES: tuple[dict[str, bool | int | str], ...] = ({}, {"simplex_strategy": 1}, {"presolve": "on"})
"""Where a program ends without a result, it is started again in other ways."""
