"""What controlled tabular adjustment is asked for, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Asked"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Asked:
    """What is asked for, cell by cell; all arrays have shape (cells,).

    Parameters
    ----------
    matrix
        Equations, shape (m, cells): the changes must add up as the values do.
    unsafe
        Cells that must move.
    down_level, up_level
        How far each of these at least, one way or the other.
    down, up
        How far each cell may move at most.
    cost
        What a unit of change costs.
    whole
        Whether changes are whole numbers.
    """

    matrix: sp.csr_array
    unsafe: Bools
    down_level: Floats
    up_level: Floats
    down: Floats
    up: Floats
    cost: Floats
    whole: bool
