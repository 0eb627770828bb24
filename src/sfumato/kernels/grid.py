"""The grid that numbers were recorded on: how many decimal places they have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_GRID", "decimals", "round_half_up"]

NO_GRID = 15
"""Decimal places that stand for "no grid": full precision."""


def decimals(x: NDArray[np.float64]) -> int:
    """Fewest decimal places that write every value, 0 to 15.

    Parameters
    ----------
    x
        Values, shape (n,), no NaN.

    Returns
    -------
    int
        15 where there is no such grid below it.

    Examples
    --------
    >>> decimals(np.array([7.25, 8.0]))
    2
    """
    step = max(1, len(x) // 1000)
    place = 0
    for part in (x[::step], x):  # a sample first: most columns without a grid are told by it
        while place < NO_GRID and not _on_grid(part, place):
            place += 1
    return place


def _on_grid(x: NDArray[np.float64], place: int) -> bool:
    scaled = x * 10.0**place
    return bool(np.all(np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled)) * 1e-3 + 1e-10))


def round_half_up(x: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Round to `place` decimal places, halves up, shape (n,). With 15 or more places the values stay as they are.

    A half is told with a relative tolerance of 1e-12, so that the last bit of a sum does not decide.
    """
    if place >= NO_GRID:
        return x
    scaled = x * 10.0**place
    whole = np.floor(scaled + 0.5 + 1e-12 * np.maximum(1.0, np.abs(scaled)))
    return np.asarray(np.round(whole / 10.0**place, place) + 0.0)
