"""Quantiles from counts: order statistics of any number of values, found digit by digit.

A float's bits, read as a whole number, stand in the order of the floats once those of negative numbers are turned
round. So the value of a rank is found by counting how often its first 20 bits are what they may be, then the next ones
among those that begin as it does, and so on: passes that keep counts, and add up over any parts. Once few values are
left that begin so, which the counts tell, all bits that are left are one digit: two passes, most often.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "FIRST", "between", "from_ordered", "ordered", "quantile", "ranks", "reached", "tallied", "width"]

BITS = 64
"""Bits of a number."""
FIRST = 20
"""Bits of the first digit: of positive numbers those of the exponent, and eight more."""
_NEXT = 16
_FEW = 1 << 20  # different values that a pass may count one by one
_SIGN = np.uint64(1 << 63)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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


def width(left: int, places: int, values: int) -> int:
    """Bits of the next digit: all that are left where few values begin as those of the ranks do.

    Parameters
    ----------
    left
        Bits that are not yet known.
    places
        In how many places a digit is wanted: beginnings, of all groups.
    values
        How many values begin so. None of the ranks has others.

    Examples
    --------
    >>> width(44, 3, 1000), width(44, 3, 10**9)
    (44, 16)
    """
    bits = left if values <= _FEW else min(left, _NEXT)
    return min(bits, BITS - 1 - places.bit_length())


def tallied(words: Words) -> tuple[Words, Ints]:
    """Different numbers, rising, and how often each of them stands, shape (m,).

    Examples
    --------
    >>> [part.tolist() for part in tallied(np.array([7, 5, 7], dtype=np.uint64))]
    [[5, 7], [1, 2]]
    """
    if not len(words):
        return words, np.zeros(0, dtype=np.int64)
    low = words.min()
    if words.max() - low < max(4 * len(words), 1 << _NEXT):
        bars = np.bincount((words - low).view(np.int64))
        there = np.flatnonzero(bars)
        return there.view(np.uint64) + low, bars[there]
    different, times = np.unique(words, return_counts=True)
    return different, times.astype(np.int64, copy=False)


def reached(starts: Ints, times: Ints, at: Ints, rest: Ints) -> tuple[Ints, Ints]:
    """Bars that ranks fall into, and their ranks within these.

    Parameters
    ----------
    starts
        The first bar of each place, shape (h,).
    times
        How long each bar is, place after place, shape (m,).
    at, rest
        The place of each rank, and the rank within it from 0, shape (t,).

    Returns
    -------
    bars, rest
        Shape (t,).

    Examples
    --------
    >>> bars, rest = reached(np.array([0, 2]), np.array([3, 1, 4]), np.array([0, 0, 1]), np.array([2, 3, 3]))
    >>> bars.tolist(), rest.tolist()
    ([0, 1, 2], [2, 0, 3])
    """
    ends = np.cumsum(times)
    before = np.concatenate([[0], ends])
    wanted = before[starts[at]] + rest
    bars = np.searchsorted(ends, wanted, side="right")
    return bars, wanted - before[bars]


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
