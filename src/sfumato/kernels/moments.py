"""Number, mean and variance of floats from exact sums, rounded once.

A float is a whole number of units of 2^-1074, its square one of 2^-2148, so sums of both are whole numbers: the same in
whatever order and grouping values are added up, on every machine. Draws of noise are keyed on the bits of the true
value, and an imputed value is a mean: one that differs in its last bit would draw other noise.

To add many values fast, they are cut into limbs of 26 bits, which hold them exactly. Sums of limbs, and of products of
two limbs in two halves, fit 64-bit integers by far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sums", "exact_sums", "moments"]

_UNIT = 1074  # the smallest float is 2 ** -_UNIT
_BITS = 26
_HALF = (1 << _BITS) - 1
_AT_ONCE = 1 << 16
"""Values whose limbs are cut together: they and their products stay in the processor's cache."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of some values, which add up without rounding.

    Parameters
    ----------
    n
        How many values.
    first
        Their sum, in units of 2^-1074.
    second
        Sum of their squares, in units of 2^-2148.

    Examples
    --------
    >>> Sums.of(np.array([0.1, 0.2])) + Sums.of(np.array([0.3])) == Sums.of(np.array([0.3, 0.2, 0.1]))
    True
    """

    n: int = 0
    first: int = 0
    second: int = 0

    @classmethod
    def of(cls, x: Floats) -> Sums:
        """Sums of finite values, shape (n,)."""
        return exact_sums(x, np.zeros(1, dtype=np.int64))[0]

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.first + other.first, self.second + other.second)

    def __mul__(self, times: int) -> Sums:
        """Sums of the same values, each so many times."""
        return Sums(self.n * times, self.first * times, self.second * times)

    @property
    def total(self) -> float:
        """Sum, the nearest float; infinite beyond the largest."""
        return _quotient(self.first, 1 << _UNIT)

    @property
    def mean(self) -> float:
        """Mean, the nearest float; NaN for n = 0."""
        return _quotient(self.first, self.n << _UNIT) if self.n else float("nan")

    @property
    def variance(self) -> float:
        """Variance (divisor n − 1), the nearest float; NaN for n < 2."""
        if self.n < 2:
            return float("nan")
        return _quotient(self.n * self.second - self.first**2, self.n * (self.n - 1) << 2 * _UNIT)


def _quotient(over: int, under: int) -> float:
    """Python divides whole numbers of any length with one rounding, to the nearest."""
    try:
        return over / under
    except OverflowError:
        return float("inf") if over > 0 else float("-inf")


def exact_sums(x: Floats, starts: Ints) -> list[Sums]:
    """Sums of the values of each group.

    Parameters
    ----------
    x
        Finite values, shape (n,), group after group.
    starts
        Where each group begins, shape (g,), not decreasing; a group may be empty.

    Returns
    -------
    list of Sums
        One a group.

    Raises
    ------
    ValueError
        For infinite values or NaN.

    Examples
    --------
    >>> [sums.mean for sums in exact_sums(np.array([1.0, 2.0, 5.0]), np.array([0, 2]))]
    [1.5, 5.0]
    """
    if not np.isfinite(x).all():
        raise ValueError("sums are of finite values: leave out the missing and the infinite ones")
    sizes = np.diff(starts, append=len(x))
    first, second = [0] * len(starts), [0] * len(starts)
    filled = np.flatnonzero(sizes)
    begins = starts[filled]
    for low in range(0, len(x), _AT_ONCE):
        high = min(low + _AT_ONCE, len(x))
        left, right = np.searchsorted(begins, low, side="right") - 1, np.searchsorted(begins, high)
        groups = filled[left:right].tolist()
        at = np.maximum(begins[left:right] - low, 0)
        limbs = list(_limbs(x[low:high]))
        for i, (unit, limb) in enumerate(limbs):
            _put(first, groups, np.add.reduceat(limb, at), unit + _UNIT)
            for j, (other, limb_) in enumerate(limbs[: i + 1]):
                product = limb * limb_
                place = unit + other + 2 * _UNIT + (i != j)  # a mixed product stands twice
                _put(second, groups, np.add.reduceat(product & _HALF, at), place)
                _put(second, groups, np.add.reduceat(product >> _BITS, at), place + _BITS)
    return [Sums(n, one, two) for n, one, two in zip(sizes.tolist(), first, second, strict=True)]


def _limbs(x: Floats) -> Iterator[tuple[int, Ints]]:
    """Exponents and whole numbers below 2^26 in size: the sum of `limb * 2 ** exponent` is `x`, exactly."""
    rest = x
    top = int(np.frexp(np.abs(x).max())[1])
    while rest.any():
        unit = max(top - _BITS, -_UNIT)
        limb = np.trunc(np.ldexp(rest, -unit))
        yield unit, limb.astype(np.int64)
        rest = rest - np.ldexp(limb, unit)
        top = unit


def _put(totals: list[int], groups: list[int], parts: Ints, place: int) -> None:
    for group, part in zip(groups, parts.tolist(), strict=True):
        totals[group] += part << place


def moments(x: Floats) -> tuple[int, float, float]:
    """Give number, mean and variance (divisor n − 1) of values, each rounded once.

    Parameters
    ----------
    x
        Finite values, shape (n,).

    Returns
    -------
    n, mean, variance
        Mean is NaN for n = 0, variance for n < 2.

    Raises
    ------
    ValueError
        For infinite values or NaN.

    Examples
    --------
    >>> moments(np.array([1e9, 1e9 + 1, 1e9 + 2]))
    (3, 1000000001.0, 1.0)
    """
    sums = Sums.of(x)
    return sums.n, sums.mean, sums.variance
