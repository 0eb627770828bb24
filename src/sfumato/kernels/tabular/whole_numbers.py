"""Programs in whole numbers over the equations of a table, solved once with a limit of time or of nodes."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.programs import quiet_solver

__all__ = ["Solved", "parts_only", "solve"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Solved:
    """What a program came to.

    Parameters
    ----------
    values
        The best solution, None where none was found.
    optimal
        Whether nothing better exists; without a solution, whether there is none.
    gap
        By what share of the best one a better one may be cheaper; None without a solution, or a bound.
    cost
        What it costs.
    iterations
        What the solver spent on it.
    """

    values: Floats | None
    optimal: bool
    gap: float | None
    cost: float
    iterations: int = 0


def solve(
    matrix: sp.csr_array,
    least: Floats,
    most: Floats,
    cost: Floats,
    low: Floats,
    high: Floats,
    whole: Bools,
    *,
    offset: float = 0.0,
    seconds: float | None = None,
    nodes: int | None = None,
    gap: float = 0.0,
) -> Solved:
    """Minimise `cost x + offset` where `least <= matrix x <= most` and `low <= x <= high`, some x whole numbers.

    Parameters
    ----------
    matrix, least, most
        Rows, shape (m, n), and the least and the most of each.
    cost, low, high, whole
        Of each column, shape (n,).
    offset
        What is paid in any case: the gap is a share of all of it.
    seconds
        When to stop with the best that was found.
    nodes
        After how many nodes of the search to stop: the same on every machine.
    gap
        The share at which to stop.

    Examples
    --------
    >>> row, one = sp.csr_array([[2.0, 3.0]]), np.ones(2)
    >>> found = solve(row, np.array([4.0]), np.array([9.0]), one, 0 * one, 9 * one, one > 0)
    >>> found.cost, found.optimal, found.gap
    (2.0, True, 0.0)
    """
    solver = quiet_solver()
    solver.setOptionValue("mip_rel_gap", float(gap))
    if seconds is not None:
        solver.setOptionValue("time_limit", float(max(seconds, 0.0)))
    if nodes is not None:
        solver.setOptionValue("mip_max_nodes", int(nodes))
    solver.setOptionValue("mip_feasibility_tolerance", 1e-9)
    solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.offset_ = offset
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, high
    lp.row_lower_, lp.row_upper_ = least, most
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    if whole.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(one)] for one in whole]
    solver.passModel(lp)
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    spent = max(int(info.simplex_iteration_count), 1)
    if status == highspy.HighsModelStatus.kInfeasible or (
        status == highspy.HighsModelStatus.kUnboundedOrInfeasible and not (np.any(cost) and np.any(np.isinf(high)))
    ):
        return Solved(None, True, None, np.inf, spent)
    if info.primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
        return Solved(None, False, None, np.inf, spent)
    values = np.asarray(solver.getSolution().col_value)
    values[whole] = np.round(values[whole])
    paid = float(cost @ values) + offset
    optimal = status == highspy.HighsModelStatus.kOptimal and gap == 0
    left = 0.0 if optimal else _gap(paid, float(info.mip_dual_bound), bool(whole.any()))
    return Solved(values, optimal, left, paid, spent)


def _gap(paid: float, bound: float, whole: bool) -> float | None:
    if not whole or not np.isfinite(bound):
        return None
    return max(0.0, (paid - bound) / max(abs(paid), 1e-12))


def parts_only(matrix: sp.csr_array) -> Bools:
    """Cells that are no total: where these are whole numbers all are, which leaves less to branch on.

    Examples
    --------
    >>> parts_only(sp.csr_array([[1, 1, -1]])).tolist()
    [True, True, False]
    """
    entries = matrix.tocoo()
    out = np.ones(matrix.shape[1], dtype=bool)
    out[entries.coords[1][entries.data < 0]] = False
    return out
