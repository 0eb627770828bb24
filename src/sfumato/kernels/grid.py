"""The grid that numbers were recorded on: how many decimal places they have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_GRID", "decimals", "round_half_up", "round_to_multiple", "significant"]

NO_GRID = 15
"""Decimal places that stand for "no grid": full precision."""
_FINEST = 10


def decimals(x: NDArray[np.float64]) -> int:
    """Fewest decimal places, 0 to 10, that write every value.

    Parameters
    ----------
    x
        Values, shape (n,), no NaN.

    Returns
    -------
    int
        `NO_GRID` (15) where ten are not enough.

    Examples
    --------
    >>> decimals(np.array([7.25, 8.0]))
    2
    """
    step = max(1, len(x) // 1000)
    place = 0
    for part in (x[::step], x):  # a sample first: most columns without a grid are told by it
        while not _on_grid(part, place):
            place += 1
            if place > _FINEST:
                return NO_GRID
    return place


def _on_grid(x: NDArray[np.float64], place: int) -> bool:
    """Whether rounding moves no value by more than the last bits of its float."""
    return bool(np.all(np.abs(np.round(x, place) - x) <= 4 * np.spacing(np.abs(x))))


def round_half_up(x: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Round to `place` decimal places, halves up, shape (n,). With 15 or more places the values stay as they are.

    A half is told with a relative tolerance of 1e-12, so that the last bit of a sum does not decide.
    """
    if place >= NO_GRID:
        return x
    scaled = x * 10.0**place
    whole = np.floor(scaled + 0.5 + 1e-12 * np.maximum(1.0, np.abs(scaled)))
    return np.asarray(np.round(whole / 10.0**place, place) + 0.0)


def round_to_multiple(x: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round to the nearest multiple of `step` > 0, halves up, shape (n,).

    Examples
    --------
    >>> round_to_multiple(np.array([2.4, 2.5, -2.5]), 5).tolist()
    [0.0, 5.0, 0.0]
    """
    scaled = x / step
    whole = np.floor(scaled + 0.5 + 1e-12 * np.maximum(1.0, np.abs(scaled)))
    place = min(NO_GRID, decimals(np.array([step])))
    return np.asarray(np.round(whole * step, place) + 0.0)


def significant(value: float, digits: int = 3) -> float:
    """Round to significant digits.

    Examples
    --------
    >>> significant(0.0426487)
    0.0426
    """
    return float(f"{value:.{digits}g}")
