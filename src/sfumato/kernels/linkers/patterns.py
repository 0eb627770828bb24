"""Which keys agree, and how far: comparison patterns counted over all pairs of combinations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import MISSING, Keys
from sfumato.kernels.rows import scatter

__all__ = ["MOST_KEYS", "Patterns", "Ranked", "compare", "count_patterns", "cuts", "dense", "levels_of", "ranked"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_KEYS = 30
"""More keys than these have no patterns that fit a number."""
_DENSE = 2**20
_MOST = 2**17
"""Different patterns that are counted at most: then no further people are looked at."""
_FAR = MISSING / 10
_BLOCK = 2**13


@dataclass(frozen=True, eq=False)
class Patterns:
    """How often each pattern of agreement occurs among the pairs of two tables.

    Parameters
    ----------
    levels : ndarray, shape (P, k)
        Level of each key, categories first: 0 equal, 1 unequal; of a number 0 close, 1 near, 2 more. −1 where one side
        is missing and may be anything.
    count : ndarray, shape (P,)
        Pairs of rows.
    width
        How many levels each key has.
    people
        Rows of the first table that were compared: all but where there are very many different patterns.
    """

    levels: Ints
    count: Ints
    width: tuple[int, ...]
    people: int

    def shares(self, weight: Floats, added: float = 0.0) -> list[Floats]:
        """For each key the share of each level, each pattern counted as `weight` says, with `added` for each level."""
        out = []
        for k, width in enumerate(self.width):
            known = self.levels[:, k] >= 0
            total = np.bincount(self.levels[known, k], weights=weight[known], minlength=width) + added
            whole = total.sum()
            out.append(total / whole if whole > 0 else np.full(width, 1 / width))
        return out


def levels_of(d: Floats, sd: float) -> Ints:
    """Level of each distance between two numbers: at most 0.1 sd, at most 0.4 sd, more.

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.4, 0.5]), 1.0).tolist()
    [0, 1, 2]
    """
    close, near = cuts(np.array([sd]))[0]
    return np.where(d <= close, 0, np.where(d <= near, 1, 2))


def cuts(sd: Floats) -> Floats:
    """Distances up to which numbers are close, and near, shape (q, 2); the last bits of sds decide nothing."""
    return np.column_stack([0.1 * sd, 0.4 * sd]) * (1 + 1e-9)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Two tables in whole numbers: each comparison is whether a record's rank lies within a person's limits.

    Parameters
    ----------
    ranks : ndarray, shape (k, n), int32
        Of each record the number of its category, or the rank of its number among those that records have; −1 where
        it is missing and may be anything.
    limits : ndarray, shape (k, m, 4), int32
        Of each person the lowest and highest rank that is close, and those that are near; for categories twice their
        own. All −1 where the person's value is missing and may be anything.
    base : ndarray, shape (k,)
        How many levels each key has, with one for comparisons that tell nothing.
    """

    ranks: NDArray[np.int32]
    limits: NDArray[np.int32]
    base: Ints

    @property
    def cells(self) -> float:
        """How many patterns there could be."""
        return float(np.prod(self.base.astype(np.float64)))


def ranked(people: Keys, records: Keys, sd: Floats, wildcard: bool = False) -> Ranked:
    """Bring two tables into whole numbers.

    Parameters
    ----------
    people, records, sd, wildcard
        As for `count_patterns`.
    """
    c, q, m, n = len(people.codes), len(people.numbers), len(people), len(records)
    ranks, limits = np.empty((c + q, n), dtype=np.int32), np.empty((c + q, m, 4), dtype=np.int32)
    ranks[:c], limits[:c] = records.codes, people.codes[:, :, None]
    for k, (close, near) in enumerate(cuts(sd)):
        levels, ranks[c + k] = np.unique(records.numbers[k], return_inverse=True)
        a = people.numbers[k]
        missing = a > _FAR
        for at, cut in ((0, close), (2, near)):
            reach = np.where(missing, 0.0, cut)
            limits[c + k, :, at] = np.searchsorted(levels, a - reach)
            limits[c + k, :, at + 1] = np.searchsorted(levels, a + reach, side="right") - 1
        if wildcard:
            ranks[c + k][records.numbers[k] > _FAR] = -1
            limits[c + k][missing] = -1
    base = np.array([2] * c + [3] * q, dtype=np.int64) + wildcard
    return Ranked(ranks, limits, base)


def count_patterns(
    people: Keys, records: Keys, sd: Floats, wildcard: bool = False, both: Ranked | None = None
) -> Patterns:
    """Count the comparison patterns of all pairs of rows.

    Parameters
    ----------
    people, records
        Two tables.
    sd : ndarray, shape (q,)
        Standard deviation of each number.
    wildcard
        Whether a missing value may be anything, so that its comparison tells nothing.
    both
        What `ranked` gives of them, where that is known.

    Raises
    ------
    DataError
        Where there are more than `MOST_KEYS` keys.

    Examples
    --------
    >>> one = Keys(np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([1, 2]), np.array([0, 1, 1]))
    >>> found = count_patterns(one, one, np.empty(0))
    >>> found.levels[:, 0].tolist(), found.count.tolist()
    ([0, 1], [5, 4])
    """
    c, q = len(people.codes), len(people.numbers)
    if c + q > MOST_KEYS:
        raise DataError(f"Records are linked by at most {MOST_KEYS} keys. Name those that an intruder knows best.")
    both = both or ranked(people, records, sd, wildcard)
    if dense(both):
        counts = _count_dense(
            both.ranks, both.limits, people.count, records.count, both.base, int(both.cells), wildcard
        )
        pattern = np.flatnonzero(counts)
        count, seen = counts[pattern], len(people.member)
    else:  # where not all people are looked at, those who are must not be alike
        mixed = np.argsort(scatter(np.arange(len(people), dtype=np.uint64)))
        limits, weight = np.ascontiguousarray(both.limits[:, mixed]), people.count[mixed]
        pattern, count, done = _count_hashed(both.ranks, limits, weight, records.count, both.base, _MOST, wildcard)
        order = np.argsort(pattern)
        pattern, count, seen = pattern[order], count[order], int(weight[:done].sum())
    levels = np.empty((len(pattern), c + q), dtype=np.int64)
    rest = pattern.copy()
    for k in range(c + q - 1, -1, -1):
        rest, levels[:, k] = np.divmod(rest, both.base[k])
    return Patterns(levels - wildcard, count, (*[2] * c, *[3] * q), seen)


def dense(both: Ranked) -> bool:
    """Whether there can be so few patterns that each has a cell of its own."""
    return both.cells <= _DENSE


@compiled
def compare(
    found: NDArray[np.int32] | Ints,
    low: int,
    size: int,
    person: int,
    ranks: NDArray[np.int32],
    limits: NDArray[np.int32],
    base: Ints,
    wildcard: bool,
) -> None:
    """Patterns of one person with a block of records; with wildcards digit 0 is for comparisons that tell nothing."""
    for j in range(size):
        found[j] = 0
    for k in range(len(base)):
        # a slice of its own: no place could be below 0, so that loops are done many at a time
        column = ranks[k, low : low + size]
        width, own = found.dtype.type(base[k]), limits[k, person]
        first, last, lowest, highest = own[0], own[1], own[2], own[3]
        two = base[k] == (3 if wildcard else 2)
        if wildcard and last < 0 and first < 0:
            for j in range(size):
                found[j] = found[j] * width
        elif wildcard and two:
            for j in range(size):
                r = column[j]
                found[j] = found[j] * width + (0 if r < 0 else (1 if r == first else 2))
        elif wildcard:
            for j in range(size):
                r = column[j]
                digit = 1 + (1 if r < first or r > last else 0) + (1 if r < lowest or r > highest else 0)
                found[j] = found[j] * width + (0 if r < 0 else digit)
        elif two:
            for j in range(size):
                found[j] = found[j] * width + (0 if column[j] == first else 1)
        else:
            for j in range(size):
                r = column[j]
                digit = (1 if r < first or r > last else 0) + (1 if r < lowest or r > highest else 0)
                found[j] = found[j] * width + digit


@compiled
def _count_dense(
    ranks: NDArray[np.int32],
    limits: NDArray[np.int32],
    weight: Ints,
    count: Ints,
    base: Ints,
    cells: int,
    wildcard: bool,
) -> Ints:
    """Count patterns in a table that has a cell for each possible one."""
    n = len(count)
    found, out = np.empty(min(_BLOCK, n), dtype=np.int32), np.zeros(cells, dtype=np.int64)
    for low in range(0, n, _BLOCK):
        size = min(_BLOCK, n - low)
        part = count[low : low + size]
        for i in range(len(weight)):
            compare(found, low, size, i, ranks, limits, base, wildcard)
            for j in range(size):
                out[found[j]] += weight[i] * part[j]
    return out


@compiled
def _slot(pattern: Ints, size: int, wanted: int) -> int:
    """Where a pattern stands in a table of `size` (a power of two) slots, or would stand."""
    at = (wanted * 0x9E3779B97F4A7C15 >> 20) & (size - 1)
    while pattern[at] >= 0 and pattern[at] != wanted:
        at = (at + 1) & (size - 1)
    return at


@compiled
def _count_hashed(
    ranks: NDArray[np.int32],
    limits: NDArray[np.int32],
    weight: Ints,
    count: Ints,
    base: Ints,
    most: int,
    wildcard: bool,
) -> tuple[Ints, Ints, int]:
    """Count the patterns that occur; the table doubles when it is half full."""
    n, size, there, done = len(count), 4096, 0, 0
    found = np.empty(n, dtype=np.int64)
    pattern, total = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for i in range(len(weight)):
        if there > most:
            break
        compare(found, 0, n, i, ranks, limits, base, wildcard)
        for j in range(n):
            at = _slot(pattern, size, found[j])
            if pattern[at] < 0:
                if 2 * there >= size:
                    wider, more = np.full(2 * size, -1, dtype=np.int64), np.zeros(2 * size, dtype=np.int64)
                    for old in range(size):
                        if pattern[old] >= 0:
                            new = _slot(wider, 2 * size, pattern[old])
                            wider[new], more[new] = pattern[old], total[old]
                    pattern, total, size = wider, more, 2 * size
                    at = _slot(pattern, size, found[j])
                pattern[at] = found[j]
                there += 1
            total[at] += weight[i] * count[j]
        done = i + 1
    used = np.flatnonzero(pattern >= 0)
    return pattern[used], total[used], done
