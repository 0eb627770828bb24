"""Whether an id stands on several rows, and which columns rise within it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rising"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rising(unit: Ints, values: Floats) -> list[int]:
    """Columns that rise from each row of a unit to its next one, with no two rows alike.

    Parameters
    ----------
    unit : ndarray of int64, shape (rows,)
        Whose row it is.
    values : ndarray of float64, shape (rows, columns)
        Not a number where it is missing: such a column rises not.

    Examples
    --------
    >>> rising(np.array([1, 1, 2, 2]), np.array([[1.0, 5], [2, 5], [1, 5], [3, 6]]))
    [0]
    """
    order = np.argsort(unit, kind="stable")
    within = unit[order][1:] == unit[order][:-1]
    if not within.any():
        return []
    steps = np.diff(values[order], axis=0)[within]
    able = np.isfinite(values).all(axis=0) & (steps > 0).all(axis=0)
    return np.flatnonzero(able).tolist()
