"""Number, mean and variance of floats from exact sums, rounded once.

A float is a whole number of units of 2^-1074, its square one of 2^-2148, so sums of both are whole numbers: the same in
whatever order and grouping values are added up, on every machine. Draws of noise are keyed on the bits of the true
value, and an imputed value is a mean: one that differs in its last bit would draw other noise.

To add many values fast, they are cut into limbs of 26 bits, which hold them exactly. Sums of limbs, and of products of
two limbs in two halves, fit 64-bit integers by far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sums", "exact_sums", "moments", "parts"]

_UNIT = 1074  # the smallest float is 2 ** -_UNIT
_BITS = 26
_HALF = (1 << _BITS) - 1
_AT_ONCE = 1 << 16
"""Values whose limbs are cut together: they and their products stay in the processor's cache."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Digits = defaultdict[int, Ints]


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
    first, second = [0] * len(starts), [0] * len(starts)
    for groups, place, one, two in parts(x, starts):
        for group, some, squares in zip(groups.tolist(), one.tolist(), two.tolist(), strict=True):
            first[group] += some << place
            second[group] += squares << place
    sizes = np.diff(starts, append=len(x)).tolist()
    return [Sums(n, one, two) for n, one, two in zip(sizes, first, second, strict=True)]


def parts(x: Floats, starts: Ints) -> Iterator[tuple[Ints, int, Ints, Ints]]:
    """Digits of the sums of each group, some values after the other: what is added up where no whole number is so long.

    Parameters
    ----------
    x, starts
        As of `exact_sums`.

    Yields
    ------
    groups, place, first, second
        Groups, shape (h,), a place in binary digits, a multiple of 26, and what stands there in the sum of values and
        in that of squares, shape (h,): numbers from 0 to 2^26, but for the highest, which have the sign. So what stands
        in one place can be added 2^36 times in 64 bits.

    Raises
    ------
    ValueError
        For infinite values or NaN.
    """
    if not np.isfinite(x).all():
        raise ValueError("sums are of finite values: leave out the missing and the infinite ones")
    filled = np.flatnonzero(np.diff(starts, append=len(x)))
    begins = starts[filled]
    for low in range(0, len(x), _AT_ONCE):
        high = min(low + _AT_ONCE, len(x))
        left, right = np.searchsorted(begins, low, side="right") - 1, np.searchsorted(begins, high)
        at = np.maximum(begins[left:right] - low, 0)
        limbs = list(_limbs(x[low:high]))
        first, second = _sums(limbs, at), _squares(limbs, at)
        for place in sorted(first.keys() | second.keys()):
            yield filled[left:right], place, first[place], second[place]


def _sums(limbs: Sequence[tuple[int, Ints]], at: Ints) -> Digits:
    """By place, digits of the sums of the groups that begin `at`."""
    found = _zeros(at)
    for place, limb in limbs:
        found[place] += np.add.reduceat(limb, at)
    return _carried(found)


def _squares(limbs: Sequence[tuple[int, Ints]], at: Ints) -> Digits:
    """By place, digits of the sums of squares."""
    found = _zeros(at)
    for i, (place, limb) in enumerate(limbs):
        for other, limb_ in limbs[: i + 1]:
            product = limb * limb_
            times = 1 if other == place else 2  # a mixed product stands twice
            found[place + other] += times * np.add.reduceat(product & _HALF, at)
            found[place + other + _BITS] += times * np.add.reduceat(product >> _BITS, at)
    return _carried(found)


def _zeros(at: Ints) -> Digits:
    return defaultdict(lambda: np.zeros(len(at), dtype=np.int64))


def _carried(digits: Digits) -> Digits:
    """Leave 26 bits in every place, and what is over, with the sign, in one above the highest."""
    for place in range(min(digits, default=0), max(digits, default=-1) + 1, _BITS):
        digits[place + _BITS] += digits[place] >> _BITS
        digits[place] &= _HALF
    return digits


def _limbs(x: Floats) -> Iterator[tuple[int, Ints]]:
    """Places, multiples of 26, and whole numbers below 2^26 in size: the sum of `limb << place` is `x` in its units."""
    rest = x
    place = -(-(int(np.frexp(np.abs(x).max())[1]) + _UNIT) // _BITS) * _BITS
    while rest.any():
        place -= _BITS
        limb = np.trunc(_shifted(rest, _UNIT - place))
        yield place, limb.astype(np.int64)
        rest = rest - _shifted(limb, place - _UNIT)


def _shifted(x: Floats, by: int) -> Floats:
    """Times a power of two, as `numpy.ldexp` has it, which is slower where that power is a float."""
    return x * 2.0**by if -1000 <= by <= 1000 else np.ldexp(x, by)


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
