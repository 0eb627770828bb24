"""What it tells that a hidden cell is listed: empty cells are left out of tables, or published as zeros."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.attacker import intervals

__all__ = ["LISTED", "listed_cells"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

LISTED = (
    "Whoever knows that no hidden count is 0, because empty cells are left out or published as zeros, can work out an "
    "unsafe one. Take --lower 1 (lower=1) to hold against this too."
)


def listed_cells(matrix: sp.csr_array, value: Floats, hidden: Bools, primary: Bools) -> Bools:
    """Primary cells of a table of counts that are determined as soon as every hidden count is known to be 1 or more.

    A row that says 3 and hides three listed cells says that each of them is 1.

    Examples
    --------
    >>> hidden = np.array([True, True, True, False])
    >>> row, told = sp.csr_array([[1, 1, 1, -1]]), np.array([np.nan, np.nan, np.nan, 3.0])
    >>> listed_cells(row, told, hidden, hidden).tolist()
    [True, True, True, False]
    """
    asked = np.flatnonzero(primary & hidden)
    none = np.zeros(len(hidden), dtype=bool)
    if not len(asked):
        return none
    try:
        found = intervals(matrix, value, hidden, 1.0, np.inf, asked)
    except DataError:  # some hidden count is 0 after all
        return none
    none[asked] = found.high[asked] - found.low[asked] < 0.5
    return none
