"""Quantiles from counts: order statistics of any number of values, found digit by digit.

A float's bits, read as a whole number, stand in the order of the floats once those of negative numbers are turned
round. So the value of a rank is found by counting how often its first 16 bits are what they may be, then the next 16
among those that begin as it does, and so on: four passes that keep counts, never values, and add up over any parts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIGIT", "DIGITS", "between", "from_ordered", "ordered", "quantile", "ranks"]

DIGIT = 16
"""Bits that a pass looks at."""
DIGITS = 4
"""Passes."""
_SIGN = np.uint64(1 << 63)

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


def ordered(x: Floats) -> Words:
    """Whole numbers in the order of the values, shape (n,), no NaN; −0 and 0 are one.

    Examples
    --------
    >>> bool((np.diff(ordered(np.array([-2.0, -1.0, 0.0, 1e-300, 3.0])).astype(float)) > 0).all())
    True
    """
    bits = (x + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_ordered(words: Words) -> Floats:
    """The values of such numbers, shape (n,).

    Examples
    --------
    >>> from_ordered(ordered(np.array([-2.5, 0.1]))).tolist()
    [-2.5, 0.1]
    """
    return np.where(words & _SIGN, words ^ _SIGN, ~words).view(np.float64)


def ranks(n: int, prob: float) -> tuple[int, int, float]:
    """Ranks (from 0) of the two values that a quantile of n > 0 lies between, and its share of the way (type 7).

    Examples
    --------
    >>> ranks(4, 0.5)
    (1, 2, 0.5)
    """
    place = (n - 1) * prob
    low = min(int(place), n - 1)
    return low, min(low + 1, n - 1), place - low


def between(low: float, high: float, share: float) -> float:
    """The value at that share of the way from `low` to `high`, in the arithmetic of `numpy.quantile`.

    Examples
    --------
    >>> between(1.0, 2.0, 0.5)
    1.5
    """
    step = high - low
    return high - step * (1 - share) if share >= 0.5 else low + step * share


def quantile(values: Floats, prob: float) -> float | None:
    """Quantile (type 7) of sorted values, shape (n,); None of none.

    Examples
    --------
    >>> quantile(np.array([1.0, 2.0, 4.0]), 0.25)
    1.5
    """
    if not len(values):
        return None
    low, high, share = ranks(len(values), prob)
    return between(float(values[low]), float(values[high]), share)
