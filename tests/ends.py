"""How far one unknown may go under equations and bounds: plain linear programs, with nothing of this project."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

__all__ = ["Ends"]

OPTIMAL, UNBOUNDED = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnbounded


class Ends:
    """The least and the greatest value of each unknown z with `matrix z = right` and `low <= z <= high`.

    One program is solved again and again, with the aim alone changed: each starts where the one before it ended.

    Examples
    --------
    >>> Ends([[1, 1]], [10], 0, [4, np.inf]).of(1)
    (6.0, 10.0)
    """

    def __init__(self, matrix: ArrayLike | sp.csr_array, right: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        columns = sp.csc_array(matrix).astype(float)
        size = columns.shape[1]
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = columns.shape
        lp.col_cost_ = np.zeros(size)
        lp.col_lower_, lp.col_upper_ = (np.broadcast_to(np.asarray(end, float), size).copy() for end in (low, high))
        lp.row_lower_ = lp.row_upper_ = np.asarray(right, float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = columns.indptr, columns.indices
        lp.a_matrix_.value_ = columns.data
        self.solver = highspy.Highs()
        for name, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            self.solver.setOptionValue(name, value)
        self.solver.passModel(lp)

    def of(self, unknown: int) -> tuple[float, float]:
        """The least and the greatest value of an unknown; an infinite one where nothing holds it."""
        return self.end(unknown, 1), self.end(unknown, -1)

    def end(self, unknown: int, sign: int) -> float:
        """The least value of an unknown, or the greatest one (sign -1)."""
        self.solver.changeColCost(unknown, float(sign))
        self.solver.run()
        if self.solver.getModelStatus() not in (OPTIMAL, UNBOUNDED):  # it lost its way from there
            self.solver.clearSolver()
            self.solver.run()
        status = self.solver.getModelStatus()
        self.solver.changeColCost(unknown, 0.0)
        assert status in (OPTIMAL, UNBOUNDED), status
        return self.solver.getSolution().col_value[unknown] if status == OPTIMAL else sign * -np.inf
