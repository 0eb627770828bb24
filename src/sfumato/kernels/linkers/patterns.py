"""Which keys agree, and how far: comparison patterns counted over all pairs of combinations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import MISSING, Keys
from sfumato.kernels.rows import scatter

__all__ = ["MOST_KEYS", "Patterns", "count_patterns", "cuts", "levels_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_KEYS = 30
"""More keys than these have no patterns that fit a number."""
_DENSE = 2**20
_MOST = 2**17
"""Different patterns that are counted at most: then no further people are looked at."""
_FAR = MISSING / 10


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


def count_patterns(people: Keys, records: Keys, sd: Floats, wildcard: bool = False) -> Patterns:
    """Count the comparison patterns of all pairs of rows.

    Parameters
    ----------
    people, records
        Two tables.
    sd : ndarray, shape (q,)
        Standard deviation of each number.
    wildcard
        Whether a missing value may be anything, so that its comparison tells nothing.

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
    width = (*[2] * c, *[3] * q)
    base = np.array([w + wildcard for w in width], dtype=np.int64)
    cells = float(np.prod(base.astype(np.float64)))
    mixed = np.arange(len(people))
    if cells > _DENSE:  # where not all people are looked at, those who are must not be alike
        mixed = np.argsort(scatter(mixed.astype(np.uint64)))
    arguments = (
        np.ascontiguousarray(people.codes.T[mixed]),
        np.ascontiguousarray(people.numbers.T[mixed]),
        people.count[mixed],
        records.codes,
        records.numbers,
        records.count,
        cuts(sd),
        base,
    )
    if cells <= _DENSE:
        counts = _count_dense(*arguments, int(cells), wildcard)
        pattern = np.flatnonzero(counts)
        count, done = counts[pattern], len(people)
    else:
        pattern, count, done = _count_hashed(*arguments, _MOST, wildcard)
        order = np.argsort(pattern)
        pattern, count = pattern[order], count[order]
    levels = np.empty((len(pattern), c + q), dtype=np.int64)
    rest = pattern.copy()
    for k in range(c + q - 1, -1, -1):
        rest, levels[:, k] = np.divmod(rest, base[k])
    return Patterns(levels - wildcard, count, width, int(people.count[mixed[:done]].sum()))


@compiled
def _compare(
    found: Ints,
    row: NDArray[np.int32],
    value: Floats,
    codes: NDArray[np.int32],
    numbers: Floats,
    cut: Floats,
    base: Ints,
    wildcard: bool,
) -> None:
    """Patterns of one person with all records; with wildcards level −1 is digit 0, and the others follow."""
    n, c, more = len(found), len(row), 1 if wildcard else 0
    found[:] = 0
    for k in range(c):
        a, width, column = row[k], base[k], codes[k]
        if wildcard:
            for j in range(n):
                b = column[j]
                found[j] = found[j] * width + (0 if a < 0 or b < 0 else (1 if b == a else 2))
        else:
            for j in range(n):
                found[j] = found[j] * width + (0 if column[j] == a else 1)
    for k in range(len(value)):
        a, width, column, close, near = value[k], base[c + k], numbers[k], cut[k, 0], cut[k, 1]
        for j in range(n):
            d = abs(column[j] - a)
            digit = more + (0 if d <= close else (1 if d <= near else 2))
            if wildcard and (d > _FAR or a > _FAR):
                digit = 0
            found[j] = found[j] * width + digit


@compiled
def _count_dense(
    rows: NDArray[np.int32],
    values: Floats,
    weight: Ints,
    codes: NDArray[np.int32],
    numbers: Floats,
    count: Ints,
    cut: Floats,
    base: Ints,
    cells: int,
    wildcard: bool,
) -> Ints:
    """Count patterns in a table that has a cell for each possible one."""
    n = len(count)
    found, out = np.empty(n, dtype=np.int64), np.zeros(cells, dtype=np.int64)
    for i in range(len(rows)):
        _compare(found, rows[i], values[i], codes, numbers, cut, base, wildcard)
        for j in range(n):
            out[found[j]] += weight[i] * count[j]
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
    rows: NDArray[np.int32],
    values: Floats,
    weight: Ints,
    codes: NDArray[np.int32],
    numbers: Floats,
    count: Ints,
    cut: Floats,
    base: Ints,
    most: int,
    wildcard: bool,
) -> tuple[Ints, Ints, int]:
    """Count the patterns that occur; the table doubles when it is half full."""
    n, size, there, done = len(count), 4096, 0, 0
    found = np.empty(n, dtype=np.int64)
    pattern, total = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for i in range(len(rows)):
        if there > most:
            break
        _compare(found, rows[i], values[i], codes, numbers, cut, base, wildcard)
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
