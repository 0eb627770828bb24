"""How near records are to a person, and how many are around: least distances, kernel means and votes by kernels.

Distances add up over keys: 0 or 1 for a category; for a number how far it is in its own unit, 1 at most, so that no
single number hides that all else agrees. Kernels are exp(−d / w), taken from the nearest record on, so that nothing
vanishes however many keys there are. Nothing of size m × n is ever kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import MISSING, Keys
from sfumato.kernels.linkers.scan import TIE

__all__ = ["DENSITY", "VOTE", "Apart", "Widths", "around", "reaches", "voted"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FAR = MISSING / 10
_UNKNOWN = 0.5
_BLOCK = 1024
_MOST = 48.0  # beyond it exp(−x) adds nothing to a sum that holds a 1
_MIDDLE, _PART = 0.8, 0.25
_EXACT = 1e300


@dataclass(frozen=True, eq=False)
class Apart:
    """How far people and records are from each other.

    Parameters
    ----------
    reach : ndarray, shape (q,)
        From which difference on a number is another one altogether; 0 where any difference is.
    wildcard
        Whether a missing value may be anything: it is half as far as another one. Else it is a value of its own.
    """

    reach: Floats
    wildcard: bool = False

    @property
    def slope(self) -> Floats:
        """What a unit of difference adds."""
        slope = np.full(len(self.reach), _EXACT)
        np.divide(1.0, self.reach, out=slope, where=self.reach > 0)
        return slope


@dataclass(frozen=True)
class Widths:
    """Widths of kernels: a base divided by whole numbers, so that all of them come from one exponential.

    Parameters
    ----------
    base
        The base.
    powers
        The whole numbers.

    Examples
    --------
    >>> [round(w, 2) for w in DENSITY.all], [round(w, 2) for w in VOTE.all]
    ([0.3, 0.6, 1.0], [0.15, 0.35])
    """

    base: float
    powers: tuple[int, ...]

    @property
    def all(self) -> tuple[float, ...]:
        """The widths."""
        return tuple(self.base / power for power in self.powers)


DENSITY = Widths(3.0, (10, 5, 3))
"""For kernel means: .3, .6 and 1."""
VOTE = Widths(1.05, (7, 3))
"""For votes: .15 and .35."""


def reaches(numbers: Floats) -> Floats:
    """From which difference on numbers are others altogether: a quarter of the width of their middle 80%, shape (q,).

    Where that width is 0, since one value is so common, it is that of all other values; 0 where these are alike, too.

    Parameters
    ----------
    numbers : ndarray, shape (q, n)
        NaN or `MISSING` where there is none.

    Examples
    --------
    >>> reaches(np.array([np.arange(11.0), [0.0] * 10 + [5.0]])).round(6).tolist()
    [2.0, 0.0]
    """
    return np.array([_reach(np.sort(row[row < _FAR])) for row in numbers], dtype=np.float64)


def _reach(values: Floats) -> float:
    width, common = _width(values)
    if not width:
        width, _ = _width(values[values != common])
    return _PART * width


def _width(values: Floats) -> tuple[float, float]:
    if not len(values):
        return 0.0, 0.0
    low, high = np.quantile(values, [(1 - _MIDDLE) / 2, (1 + _MIDDLE) / 2])
    return float(high - low), float(low)


def around(people: Keys, records: Keys, apart: Apart, widths: Widths) -> tuple[Floats, Floats]:
    """Distance of each person to the nearest record, and logs of the kernel means over all records.

    Parameters
    ----------
    people, records
        Both with categories numbered alike.
    apart
        How far they are from each other.
    widths
        Of the kernels.

    Returns
    -------
    near : ndarray, shape (m,)
        Least distance of each combination of people.
    means : ndarray, shape (widths, m)
        log of the mean of exp(−d / w).

    Examples
    --------
    >>> people = Keys(np.array([[0]], np.int32), np.empty((0, 1)), np.ones(1, int), np.zeros(1, int))
    >>> records = Keys(np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([3, 1]), np.array([0, 0, 0, 1]))
    >>> near, means = around(people, records, Apart(np.empty(0)), Widths(1.0, (1,)))
    >>> near.tolist(), np.exp(means).round(4).tolist()  # (3 + exp(−1)) / 4
    ([0.0], [[0.842]])
    """
    near, sums = _around(
        np.ascontiguousarray(people.codes.T),
        np.ascontiguousarray(people.numbers.T),
        records.codes,
        records.numbers,
        records.count.astype(np.float64),
        apart.slope,
        apart.wildcard,
        widths.base,
        np.array(widths.powers, dtype=np.int64),
    )
    means = np.log(sums) - near / np.array(widths.all)[:, None] - math.log(records.count.sum())
    return near, means


def voted(people: Keys, records: Keys, apart: Apart, widths: Widths, told: Ints, truth: Ints) -> Floats:
    """How often a value is guessed rightly by the one whose records weigh most, each by its kernel.

    Parameters
    ----------
    people, records, apart, widths
        As for `around`.
    told : ndarray, shape (n,)
        Number of the value that each released row tells, 0, 1, …
    truth : ndarray, shape (r,)
        Number of each person's value.

    Returns
    -------
    ndarray, shape (widths, r)
        1 / t where the person's value is one of t that weigh most, else 0.

    Examples
    --------
    >>> people = Keys(np.array([[0]], np.int32), np.empty((0, 1)), np.array([1]), np.zeros(1, int))
    >>> records = Keys(np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([1, 2]), np.array([0, 1, 1]))
    >>> voted(people, records, Apart(np.empty(0)), VOTE, np.array([1, 0, 0]), np.array([1])).tolist()
    [[1.0], [1.0]]
    """
    values = int(max(told.max(initial=0), truth.max(initial=0))) + 1
    # records by what they tell, so that those of a value stand together
    pair, number = np.unique(told * len(records) + records.member, return_counts=True)
    value, record = np.divmod(pair, len(records))
    start = np.searchsorted(value, np.arange(values + 1)).astype(np.int64)
    order = np.argsort(people.member, kind="stable")
    first = np.searchsorted(people.member[order], np.arange(len(people) + 1)).astype(np.int64)
    right = np.empty((len(widths.powers), len(truth)))
    right[:, order] = _votes(
        np.ascontiguousarray(people.codes.T),
        np.ascontiguousarray(people.numbers.T),
        np.ascontiguousarray(records.codes[:, record]),
        np.ascontiguousarray(records.numbers[:, record]),
        number.astype(np.float64),
        apart.slope,
        apart.wildcard,
        widths.base,
        np.array(widths.powers, dtype=np.int64),
        start,
        first,
        truth[order],
    )
    return right


@compiled
def _fill(
    far: Floats,
    size: int,
    low: int,
    row: Codes,
    value: Floats,
    codes: Codes,
    numbers: Floats,
    slope: Floats,
    wildcard: bool,
) -> None:
    """Distances of one person to a block of records."""
    for j in range(size):
        far[j] = 0.0
    for k in range(len(row)):
        a = row[k]
        column = codes[k, low : low + size]
        if wildcard:
            for j in range(size):
                b = column[j]
                far[j] += _UNKNOWN if a < 0 or b < 0 else (0.0 if b == a else 1.0)
        else:
            for j in range(size):
                far[j] += 0.0 if column[j] == a else 1.0
    for k in range(len(value)):
        a, steep = value[k], slope[k]
        number = numbers[k, low : low + size]
        if wildcard:
            for j in range(size):
                b = number[j]
                d = min(abs(b - a) * steep, 1.0)
                far[j] += _UNKNOWN if a > _FAR or b > _FAR else d
        else:
            for j in range(size):
                d = abs(number[j] - a) * steep
                far[j] += d if d < 1.0 else 1.0


@compiled
def _decay(out: Floats, far: Floats, size: int, least: float, base: float) -> None:
    """exp(−(d − least) / base), to about nine digits where it counts: a series, squared eight times.

    Unlike the library's exponential it is done for many records at a time, and is the same on every machine.
    """
    scale = 1.0 / (256.0 * base)
    most = _MOST / 256.0
    for j in range(size):
        x = (far[j] - least) * scale
        x = x if x < most else most
        e = 1.0 - x * (1.0 - x / 2 * (1.0 - x / 3 * (1.0 - x / 4 * (1.0 - x / 5 * (1.0 - x / 6)))))
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        out[j] = e * e


@compiled
def _raised(out: Floats, one: Floats, spare: Floats, size: int, power: int) -> None:
    """A whole power of numbers."""
    for j in range(size):
        out[j] = 1.0
        spare[j] = one[j]
    while power > 0:
        if power % 2:
            for j in range(size):
                out[j] *= spare[j]
        power //= 2
        if power > 0:
            for j in range(size):
                spare[j] *= spare[j]


@compiled
def _weighed(one: Floats, weight: Floats, low: int, high: int) -> float:
    """Sum of products over a stretch, four at a time."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    fours = high - (high - low) % 4
    for j in range(low, fours, 4):
        a += weight[j] * one[j]
        b += weight[j + 1] * one[j + 1]
        c += weight[j + 2] * one[j + 2]
        d += weight[j + 3] * one[j + 3]
    for j in range(fours, high):
        a += weight[j] * one[j]
    return (a + b) + (c + d)


@compiled
def _around(
    rows: Codes,
    values: Floats,
    codes: Codes,
    numbers: Floats,
    count: Floats,
    slope: Floats,
    wildcard: bool,
    base: float,
    powers: Ints,
) -> tuple[Floats, Floats]:
    """Go through all pairs, block of records by block, with sums relative to the nearest so far."""
    m, n, w = len(rows), len(count), len(powers)
    near, sums = np.full(m, np.inf), np.zeros((w, m))
    block = min(_BLOCK, n)
    far, one, out, spare = np.empty(block), np.empty(block), np.empty(block), np.empty(block)
    for low in range(0, n, _BLOCK):
        size = min(_BLOCK, n - low)
        weight = count[low : low + size]
        for i in range(m):
            _fill(far, size, low, rows[i], values[i], codes, numbers, slope, wildcard)
            least = np.inf
            for j in range(size):
                least = min(least, far[j])
            if least < near[i]:
                for k in range(w):
                    sums[k, i] *= math.exp((least - near[i]) / base * powers[k])
                near[i] = least
            _decay(one, far, size, near[i], base)
            for k in range(w):
                _raised(out, one, spare, size, powers[k])
                sums[k, i] += _weighed(out, weight, 0, size)
    return near, sums


@compiled
def _votes(
    rows: Codes,
    values: Floats,
    codes: Codes,
    numbers: Floats,
    count: Floats,
    slope: Floats,
    wildcard: bool,
    base: float,
    powers: Ints,
    start: Ints,
    first: Ints,
    truth: Ints,
) -> Floats:
    """Weigh the values of all records for each combination of people, and count who has one that weighs most."""
    m, n, w, many = len(rows), len(count), len(powers), len(start) - 1
    right = np.zeros((w, len(truth)))
    far, one, out, spare = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    votes = np.empty(many)
    for i in range(m):
        _fill(far, n, 0, rows[i], values[i], codes, numbers, slope, wildcard)
        least = np.inf
        for j in range(n):
            least = min(least, far[j])
        _decay(one, far, n, least, base)
        for k in range(w):
            _raised(out, one, spare, n, powers[k])
            for v in range(many):
                votes[v] = _weighed(out, count, start[v], start[v + 1])
            most = votes.max() * (1 - TIE)
            share = 0
            for v in range(many):
                share += votes[v] >= most
            for at in range(first[i], first[i + 1]):
                if votes[truth[at]] >= most:
                    right[k, at] = 1.0 / share
    return right
