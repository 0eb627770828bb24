"""Which levels of a variable occur in which cells of others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["levels_told"]

Places = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]


@compiled
def _mark(cell: Places, level: Places, out: Bools) -> None:
    for i in range(len(cell)):
        out[cell[i], level[i]] = True


def levels_told(cell: Places, level: Places, cells: int, levels: int) -> Bools:
    """Tell which levels somebody of each cell has.

    Parameters
    ----------
    cell, level : ndarray of int, shape (records,)
        Of each record.
    cells, levels
        How many there are.

    Returns
    -------
    ndarray of bool, shape (cells, levels)

    Examples
    --------
    >>> levels_told(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2).tolist()
    [[True, True], [False, True]]
    """
    out = np.zeros((cells, levels), dtype=np.bool_)
    _mark(cell, level, out)
    return out
