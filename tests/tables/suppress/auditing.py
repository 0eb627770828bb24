"""An audit written from the matrix alone, without anything of ours: the interval of a cell by scipy's linprog."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def interval(
    matrix: sp.csr_array, value: Floats, hidden: Bools, lower: Floats, upper: Floats, cell: int
) -> tuple[float, float]:
    """What an attacker finds of a hidden cell: the least and the greatest value it may have."""
    cells = np.flatnonzero(hidden)
    a = sp.csr_array(matrix).astype(float)
    rows = a[:, cells]
    right = -(a[:, np.flatnonzero(~hidden)] @ value[~hidden])
    used = np.flatnonzero(abs(rows).sum(axis=1))
    ends = []
    for sign in (1.0, -1.0):
        aim = np.where(cells == cell, sign, 0.0)
        bounds = [(lo, None if np.isinf(hi) else hi) for lo, hi in zip(lower[cells], upper[cells], strict=True)]
        found = linprog(
            aim, A_eq=rows[used] if len(used) else None, b_eq=right[used] if len(used) else None, bounds=bounds
        )
        ends.append(sign * found.fun if found.status == 0 else -sign * np.inf)
    return ends[0], ends[1]


def weak(
    matrix: sp.csr_array,
    value: Floats,
    primary: Bools,
    hidden: Bools,
    *,
    lower: Floats,
    upper: Floats,
    lower_level: Floats | None = None,
    upper_level: Floats | None = None,
    sliding_level: Floats | None = None,
    known: int | None = None,
) -> list[int]:
    """Primary cells that are determined, or that do not reach their level; for an insider who knows one cell."""
    zero = np.zeros(len(value))
    down, up, both = (zero if x is None else x for x in (lower_level, upper_level, sliding_level))
    seen = hidden.copy()
    if known is not None:
        seen[known] = False
    found = []
    for cell in np.flatnonzero(primary & seen).tolist():
        low, high = interval(matrix, value, seen, lower, upper, cell)
        slack = 1e-5 * max(1.0, down[cell], up[cell], both[cell])
        short = value[cell] - low < down[cell] - slack or high - value[cell] < up[cell] - slack
        if short or high - low < both[cell] - slack or high - low < 1e-6:
            found.append(cell)
    return found
