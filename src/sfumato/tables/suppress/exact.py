"""The optimal suppression by cutting planes."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.cuts import Attackers, Cut
from sfumato.kernels.tabular.programs import quiet_solver

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Master:
    """The relaxed choice of cells: `min cost x`, every inequality found so far, 0 <= x <= 1."""

    def __init__(self, cost: Floats, free: Bools) -> None:
        self.free = np.flatnonzero(free)
        self.place = np.full(len(cost), -1)
        self.place[self.free] = np.arange(len(self.free))
        self.cost = cost
        self.solver = quiet_solver()
        self.solver.setOptionValue("presolve", "off")
        n = len(self.free)
        none = np.zeros(0)
        self.solver.addCols(n, cost[self.free], np.zeros(n), np.ones(n), 0, np.zeros(n, np.int32), none.astype(np.int32), none)
        self.upper = np.ones(n)
        self.rows: list[tuple[Ints, Floats, float]] = []
        self.known: set[bytes] = set()
        self.slack: list[int] = []

    def add(self, cut: Cut, right: float = 1.0) -> bool:
        at = self.place[cut[0]]
        keep = at >= 0
        at, share = at[keep], cut[1][keep]
        key = at.tobytes() + np.round(share, 6).tobytes() + bytes([int(right)])
        if key in self.known:
            return False
        self.known.add(key)
        self.rows.append((at, share, right))
        self.slack.append(0)
        self.solver.addRow(right, highspy.kHighsInf, len(at), at.astype(np.int32), share)
        return True

    def solve(self) -> tuple[float, Floats]:
        self.solver.run()
        x = np.zeros(len(self.cost))
        sol = self.solver.getSolution()
        x[self.free] = np.clip(np.asarray(sol.col_value), 0, 1)
        self.reduced = np.asarray(sol.col_dual)
        acts = np.asarray(sol.row_value)
        drop = []
        for i, (act, row) in enumerate(zip(acts.tolist(), self.rows, strict=True)):
            self.slack[i] = self.slack[i] + 1 if act > row[2] + 1e-6 else 0
        return self.solver.getInfo().objective_function_value, x

    def purge(self, rounds: int) -> None:
        drop = [i for i, s in enumerate(self.slack) if s > rounds]
        if drop:
            self.solver.deleteRows(len(drop), np.array(drop, dtype=np.int32))
            gone = set(drop)
            for i in drop:
                at, share, right = self.rows[i]
                self.known.discard(at.tobytes() + np.round(share, 6).tobytes() + bytes([int(right)]))
            self.rows = [r for i, r in enumerate(self.rows) if i not in gone]
            self.slack = [r for i, r in enumerate(self.slack) if i not in gone]

    def fix(self, bound: float, best: float) -> int:
        out = (self.reduced > best - bound + 1e-9 * best) & (self.upper > 0)
        where = np.flatnonzero(out).astype(np.int32)
        if len(where):
            self.upper[where] = 0
            self.solver.changeColsBounds(len(where), where, np.zeros(len(where)), np.zeros(len(where)))
        return len(where)
