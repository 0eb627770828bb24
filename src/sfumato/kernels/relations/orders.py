"""Which columns are never above another one, where that is no matter of chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["orders_of"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_FIRST = 512
"""Rows on which most pairs fall already."""
_BREAKS = 0.02
"""Share of records in which a random pairing must break an order."""
_ERROR = 0.01
"""How probable it is at most that independent columns are found in an order, with any of all pairs."""


def orders_of(values: Floats, alike: Sequence[int]) -> list[tuple[int, int]]:
    """Find pairs of columns of which the first is at most the second in all records that have both.

    Parameters
    ----------
    values : ndarray of float64, shape (rows, columns)
        Not a number where it is missing.
    alike
        Of each column what it is a measure of: only those of equal numbers are compared, as dates with dates.

    Returns
    -------
    list of (int, int)
        Neighbours alone: where a is at most b, and b at most c, nothing is said of a and c. Columns that are equal
        in all records are compared with others by their first.

    Notes
    -----
    A pairing of independent columns must break the order in 2% of the records, and in so many that to see none
    broken would be a wonder, whatever pair one looked at.

    Examples
    --------
    >>> first = np.arange(600.0) % 100
    >>> orders_of(np.stack([first, first + 7, first + 9], axis=1), [0, 0, 0])
    [(0, 1), (1, 2)]
    """
    width = values.shape[1]
    least = math.log(max(width, 2) ** 2 / _ERROR)
    below = np.zeros((width, width), dtype=bool)
    some = values[np.unique(np.linspace(0, len(values) - 1, min(len(values), _FIRST)).astype(np.int64))]
    for i in range(width):
        with np.errstate(invalid="ignore"):
            may = ~(some[:, i : i + 1] > some).any(axis=0)
        for j in np.flatnonzero(may).tolist():
            if i != j and alike[i] == alike[j]:
                below[i, j] = _below(values[:, i], values[:, j], least)
    return _neighbours(below)


def _below(one: Floats, other: Floats, least: float) -> bool:
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    if not len(one) or (one > other).any():
        return False
    lower = np.searchsorted(np.sort(other), one, side="left").sum() / len(one)
    return bool(lower >= max(_BREAKS * len(one), least))


def _neighbours(below: Bools) -> list[tuple[int, int]]:
    """The pairs that do not follow from others; of columns that are equal the first stands for all."""
    same = below & below.T
    first = [i for i in range(len(below)) if not same[i, :i].any()]
    left = below[np.ix_(first, first)] & ~same[np.ix_(first, first)]
    steps = left.astype(np.float64)
    direct = left & ~((steps @ steps) > 0)
    found = [(first[i], first[j]) for i, j in np.argwhere(direct).tolist()]
    return found
