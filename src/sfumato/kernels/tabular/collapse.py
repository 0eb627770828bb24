"""Which nodes of trees to collapse, at least cost, so that every one of many sets holds a collapsed one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Collapse", "collapse"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Collapse:
    """Nodes that are collapsed.

    Parameters
    ----------
    chosen
        Whether each node is, shape (nodes,).
    cost
        What they cost together.
    bound
        No choice costs less than this.
    """

    chosen: Bools
    cost: float
    bound: float


def collapse(
    cost: Floats, implies: Sequence[tuple[int, int]], sets: Sequence[Sequence[int]], seconds: float | None = None
) -> Collapse:
    """Collapse nodes at least cost, with a proof.

    Parameters
    ----------
    cost
        Of each node, not negative; shape (nodes,).
    implies
        Pairs (a, b): where a is collapsed, b is.
    sets
        Sets of nodes, of each of which one must be collapsed. None may be empty.
    seconds
        When to stop; the bound then says how much cheaper another choice could be.

    Examples
    --------
    >>> found = collapse(np.array([3.0, 1.0, 1.0]), [(0, 1), (0, 2)], [[0, 1], [2]])
    >>> found.chosen.tolist(), found.cost
    ([False, True, True], 2.0)
    """
    wanted = sorted({tuple(sorted(set(one))) for one in sets}, key=lambda one: (len(one), one))
    forced = _closed(np.isin(np.arange(len(cost)), [one[0] for one in wanted if len(one) == 1]), implies)
    left = [one for one in wanted if not any(forced[i] for i in one)]
    if not left:
        return Collapse(forced, float(cost[forced].sum()), float(cost[forced].sum()))
    chosen, bound = _programme(cost, implies, left, forced, seconds)
    chosen = _without_needless(chosen, cost, implies, left, forced)
    total = float(cost[chosen].sum())
    return Collapse(chosen, total, min(bound, total))


def _closed(chosen: Bools, implies: Sequence[tuple[int, int]]) -> Bools:
    out = chosen.copy()
    changed = True
    while changed:
        changed = False
        for a, b in implies:
            if out[a] and not out[b]:
                out[b] = changed = True
    return out


def _programme(
    cost: Floats,
    implies: Sequence[tuple[int, int]],
    sets: Sequence[Sequence[int]],
    forced: Bools,
    seconds: float | None,
) -> tuple[Bools, float]:
    import highspy

    from sfumato.kernels.tabular.programs import quiet_solver

    n = len(cost)
    rows = [*([(a, -1.0), (b, 1.0)] for a, b in implies), *([(i, 1.0) for i in one] for one in sets)]
    low = np.concatenate([np.zeros(len(implies)), np.ones(len(sets))])
    entries = [(r, i, x) for r, row in enumerate(rows) for i, x in row]
    r, c, x = (np.array(part) for part in zip(*entries, strict=True))
    matrix = sp.csr_array(sp.coo_array((x, (r, c)), shape=(len(rows), n)))
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, forced.astype(float), np.ones(n)
    lp.row_lower_, lp.row_upper_ = low, np.full(len(rows), np.inf)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(float)
    solver = quiet_solver()
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 1e-9 * float(cost.sum()))
    if seconds is not None:
        solver.setOptionValue("time_limit", float(seconds))
    solver.passModel(lp)
    solver.run()
    info = solver.getInfo()
    found = np.asarray(solver.getSolution().col_value)
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    # without an answer in time, everything is collapsed, which is always enough
    chosen = np.ones(n, dtype=bool) if len(found) != n or info.primal_solution_status != 2 else found > 0.5
    total = float(cost[chosen].sum())
    bound = total if optimal else float(info.mip_dual_bound) if np.isfinite(info.mip_dual_bound) else 0.0
    return chosen, max(bound, 0.0)


def _without_needless(
    chosen: Bools, cost: Floats, implies: Sequence[tuple[int, int]], sets: Sequence[Sequence[int]], forced: Bools
) -> Bools:
    """Nodes that need not be collapsed are not, the dearest first; costs of nothing settle nothing in a programme."""
    out = chosen.copy()
    above: list[list[int]] = [[] for _ in cost]
    for a, b in implies:
        above[b].append(a)
    within: list[list[int]] = [[] for _ in cost]
    covered = np.zeros(len(sets), dtype=np.int64)
    for number, one in enumerate(sets):
        for i in one:
            within[i].append(number)
            covered[number] += int(out[i])
    freed = True
    while freed:
        freed = False
        for i in sorted(np.flatnonzero(out & ~forced).tolist(), key=lambda i: (-cost[i], i)):
            if any(out[a] for a in above[i]) or any(covered[number] < 2 for number in within[i]):
                continue
            out[i], freed = False, True
            covered[within[i]] -= 1
    return out
