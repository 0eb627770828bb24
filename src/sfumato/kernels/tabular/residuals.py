"""What published sums miss by where values were rounded: the least that makes some table possible."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.programme import Contradiction
from sfumato.kernels.tabular.programs import program

__all__ = ["residuals"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_TINY = 1e-9


def residuals(matrix: sp.csr_array, value: Floats, hidden: Bools, low: Floats, high: Floats, allowed: float) -> Floats:
    """Find how far each equation is missed, in all as little as can be.

    Parameters
    ----------
    matrix, value, hidden
        Equations M a = 0, values, and the cells whose values are not published.
    low, high
        What hidden cells lie between, shape (cells,).
    allowed
        The most that an equation may miss.

    Returns
    -------
    ndarray, shape (equations,)
        `e` such that M a + e = 0 holds for some hidden values within their bounds.

    Raises
    ------
    Contradiction
        Where there are none.

    Examples
    --------
    A total of 9 whose published part is 10:

    >>> matrix, hidden = sp.csr_array([[1.0, 1.0, -1.0]]), np.array([False, True, False])
    >>> residuals(matrix, np.array([10.0, np.nan, 9.0]), hidden, np.zeros(3), np.full(3, np.inf), 2.0).tolist()
    [-1.0]
    """
    rows = matrix.shape[0]
    right = -(matrix @ np.where(hidden, 0.0, value))
    scale = max(1.0, float(np.abs(right).max(initial=0.0)))
    cells = np.flatnonzero(hidden)
    sides = sp.hstack([sp.csr_array(matrix[:, cells]), sp.eye_array(rows), -sp.eye_array(rows)], format="csr")
    cost = np.concatenate([np.zeros(len(cells)), np.ones(2 * rows)])
    most = np.full(2 * rows, allowed * (1 + _TINY) + _TINY * scale)
    least, largest = np.concatenate([low[cells], 0 * most]) / scale, np.concatenate([high[cells], most]) / scale
    solver = program(sp.csc_array(sides), cost, least, largest, right / scale)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise Contradiction
    found = np.asarray(solver.getSolution().col_value)
    over, under = found[len(cells) : len(cells) + rows], found[len(cells) + rows :]
    missed = (over - under) * scale
    return np.where(np.abs(missed) > _TINY * scale, missed, 0.0)
