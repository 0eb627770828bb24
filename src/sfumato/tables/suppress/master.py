"""The choice of cells to hide under the inequalities that are known: relaxed, and in whole cells."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.cuts import Cut
from sfumato.kernels.tabular.programs import quiet_solver
from sfumato.kernels.tabular.work import Work

__all__ = ["Master"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

IDLE = 6
"""An inequality that did not bind in so many programs is forgotten; it is found again where it is needed."""
ROUGH = 0.02
"""With a smaller gap than that the solver need not look for patterns beside its branching."""
_LOOKING = ("mip_heuristic_run_rins", "mip_heuristic_run_rens", "mip_heuristic_run_root_reduced_cost")


@dataclass
class Row:
    """One inequality `sum share_i x_i >= right` over free cells, and for how long it has not bound."""

    at: Ints
    share: Floats
    right: float
    idle: int = 0

    def key(self) -> tuple[bytes, bytes, float]:
        """Equal for equal inequalities."""
        return self.at.tobytes(), np.round(self.share, 6).tobytes(), self.right


class Master:
    """Minimise the cost of hidden cells, subject to the inequalities so far.

    Parameters
    ----------
    cost
        What hiding each cell costs, shape (cells,).
    free
        Cells that may be hidden or not.
    work
        What counts the iterations.
    """

    def __init__(self, cost: Floats, free: Bools, work: Work) -> None:
        self.cost, self.work = cost, work
        self.free = np.flatnonzero(free)
        self.place = np.full(len(cost), -1)
        self.place[self.free] = np.arange(len(self.free))
        self.published = np.zeros(len(self.free), dtype=bool)  # cells that no better pattern hides
        self.rows: list[Row] = []
        self.keys: set[tuple[bytes, bytes, float]] = set()
        self.reduced = np.zeros(len(self.free))
        self.solver = self._solver()

    def _solver(self) -> highspy.Highs:
        solver, n = quiet_solver(), len(self.free)
        none = np.zeros(n, dtype=np.int32)
        upper = np.where(self.published, 0.0, 1.0)
        solver.addCols(n, self.cost[self.free], np.zeros(n), upper, 0, none, none[:0], np.zeros(0))
        for row in self.rows:
            self._put(solver, row)
        return solver

    @staticmethod
    def _put(solver: highspy.Highs, row: Row) -> None:
        solver.addRow(row.right, highspy.kHighsInf, len(row.at), row.at.astype(np.int32), row.share)

    def add(self, cut: Cut, right: float = 1.0) -> bool:
        """Add an inequality; False where it is known."""
        at = self.place[cut[0]]
        row = Row(at[at >= 0], cut[1][at >= 0], right)
        if row.key() in self.keys:
            return False
        self.keys.add(row.key())
        self.rows.append(row)
        self._put(self.solver, row)
        return True

    def relaxed(self) -> tuple[float, Floats]:
        """The least cost when cells may be hidden in part, and the pattern."""
        self.solver.run()
        self._spend(self.solver)
        found = self.solver.getSolution()
        self.reduced = np.asarray(found.col_dual)
        for row, activity in zip(self.rows, np.asarray(found.row_value).tolist(), strict=True):
            row.idle = row.idle + 1 if activity > row.right + 1e-6 else 0
        return float(self.solver.getInfo().objective_function_value), self._spread(np.asarray(found.col_value))

    def _spend(self, solver: highspy.Highs) -> None:
        self.work.spend(max(1, int(solver.getInfo().simplex_iteration_count)))

    def _spread(self, x: Floats) -> Floats:
        pattern = np.zeros(len(self.cost))
        pattern[self.free] = np.clip(np.where(np.abs(x - np.round(x)) < 1e-7, np.round(x), x), 0.0, 1.0)
        return pattern

    def fix(self, bound: float, best: float) -> None:
        """Leave out cells whose hiding alone would cost more than the best pattern (reduced-cost fixing)."""
        out = (self.reduced > best - bound + 1e-9) & ~self.published
        where = np.flatnonzero(out).astype(np.int32)
        self.published |= out
        if len(where):
            self.solver.changeColsBounds(len(where), where, np.zeros(len(where)), np.zeros(len(where)))

    def forget(self, idle: int = IDLE) -> None:
        """Drop inequalities that have not bound for long."""
        drop = [i for i, row in enumerate(self.rows) if row.idle > idle]
        if drop:
            self.solver.deleteRows(len(drop), np.array(drop, dtype=np.int32))
            self.keys -= {self.rows[i].key() for i in drop}
            self.rows = [row for row in self.rows if row.idle <= idle]

    def whole(self, best: float, step: float, gap: float, nodes: int, seconds: float) -> tuple[float, list[Floats]]:
        """A proved bound, and the patterns of whole cells found that cost less than `best`, the cheapest first."""
        solver = self._solver()
        n = len(self.free)
        if step > 0:  # in steps of costs the solver sees that they are whole, and rounds its bounds up
            counted = np.round(self.cost[self.free] / step)
            solver.changeColsCost(n, np.arange(n, dtype=np.int32), counted)
        unit = step or 1.0
        solver.changeColsIntegrality(n, np.arange(n, dtype=np.int32), np.full(n, 1, dtype=np.uint8))
        for name, value in (
            ("objective_bound", (best - step * 0.99) / unit),
            ("mip_rel_gap", gap),
            ("mip_abs_gap", 1e-7),
            ("mip_improving_solution_save", True),
            ("mip_max_nodes", nodes),
            ("mip_allow_restart", False),  # most of the work is at the root, and would be done again
            # near the end patterns come from the search itself, and branching is quicker than looking for more
            *((name, gap > ROUGH) for name in _LOOKING),
            ("mip_pscost_minreliable", 8 if gap > ROUGH else 2),
            ("time_limit", max(0.01, seconds)),
        ):
            solver.setOptionValue(name, value)
        solver.run()
        self._spend(solver)
        info = solver.getInfo()
        if solver.getModelStatus() in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kObjectiveBound):
            return best, []
        bound = min(float(info.mip_dual_bound) * unit, best)
        if info.primal_solution_status != highspy.kSolutionStatusFeasible:
            return bound, []
        saved = [np.asarray(found.col_value) for found in solver.getSavedMipSolutions()]
        patterns = [np.round(self._spread(x)) for x in [np.asarray(solver.getSolution().col_value), *saved[::-1]]]
        different = {x.tobytes(): x for x in patterns[::-1]}
        return bound, sorted(different.values(), key=lambda x: float(self.cost @ x))
