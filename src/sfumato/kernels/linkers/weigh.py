"""The best record of each person by weights of levels: worked out for each pattern that occurs, not for each record.

All records that compare alike with a person have one weight. So it is enough to count the patterns of a person's
comparisons, in whole numbers, and to weigh each once, whatever linkers there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import Keys
from sfumato.kernels.linkers.patterns import Ranked, compare, dense, ranked
from sfumato.kernels.linkers.scan import TIE, Best, Scoring, scan

__all__ = ["weigh"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 2**13
_CELLS = 2**19
"""Cells of patterns that are counted at a time, for as many people as they are enough for."""


def weigh(
    people: Keys, records: Keys, scorings: Sequence[Scoring], sd: Floats, both: Ranked | None = None
) -> list[Best]:
    """What `scan` finds for scorings without slopes, for several of them at once.

    Parameters
    ----------
    people, records
        Both with categories numbered alike.
    scorings
        What levels add; numbers of all at the same distances, and `apart` as what the last level adds.
    sd : ndarray, shape (q,)
        Standard deviation of each number.
    both
        What `ranked` gives of the tables, where that is known.

    Returns
    -------
    list of Best
        For each scoring; `first` is −1, since no record is looked at by itself.

    Examples
    --------
    >>> people = Keys(np.array([[0]], np.int32), np.empty((0, 1)), np.ones(1, int), np.zeros(1, int))
    >>> records = Keys(np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([3, 1]), np.array([0, 0, 0, 1]))
    >>> none = np.empty((0, 3))
    >>> scoring = Scoring((np.zeros(2),), np.array([-1.0]), none[:, 0], none[:, :2], none, none[:, 0], np.zeros(1))
    >>> found, = weigh(people, records, [scoring], np.empty(0))
    >>> found.score.tolist(), found.ties.tolist(), (2**found.total).tolist()
    ([0.0], [3], [3.5])
    """
    wildcard = bool(scorings) and scorings[0].wildcard
    both = both or ranked(people, records, sd, wildcard)
    if not dense(both):
        return [scan(people, records, scoring) for scoring in scorings]
    tables = np.stack([_by_level(people, scoring) for scoring in scorings])
    cells = int(both.cells)
    half = int(np.argmin(np.abs(np.cumsum(np.log(both.base)) - np.log(cells) / 2))) + 1
    together = max(1, min(len(people), 64, _CELLS // cells))
    score, ties, total = _weigh(
        both.ranks, both.limits, records.count, both.base, cells, half, together, tables, wildcard
    )
    nowhere = np.full(len(people), -1, dtype=np.int64)
    return [Best(score[i], ties[i], total[i], nowhere) for i in range(len(scorings))]


def _by_level(people: Keys, scoring: Scoring) -> Floats:
    """What each digit of a pattern adds for each combination of people, shape (people, k, digits)."""
    c, q, more = len(people.codes), len(people.numbers), int(scoring.wildcard)
    out = np.zeros((len(people), c + q, 3 + more))
    for k in range(c):
        out[:, k, more] = scoring.agree[k][np.maximum(people.codes[k], 0)]
        out[:, k, more + 1] = scoring.disagree[k]
    out[:, c:, more:] = scoring.level
    if scoring.wildcard:
        out[:, :, 0] = scoring.unknown
    return out


@compiled
def _summed(out: Floats, table: Floats, base: Ints, first: int, last: int) -> float:
    """What each combination of the digits of some keys adds, and the most that any does."""
    size, best = 1, -np.inf
    out[0] = 0.0
    for k in range(first, last):
        for old in range(size - 1, -1, -1):
            so_far = out[old]
            for digit in range(base[k] - 1, -1, -1):
                out[old * base[k] + digit] = so_far + table[k, digit]
        size *= base[k]
    for at in range(size):
        best = max(best, out[at])
    return best


@compiled
def _weigh(
    ranks: NDArray[np.int32],
    limits: NDArray[np.int32],
    count: Ints,
    base: Ints,
    cells: int,
    half: int,
    together: int,
    tables: Floats,
    wildcard: bool,
) -> tuple[Floats, Ints, Floats]:
    """Count the patterns of some people at a time, block by block of records, and weigh those that occur."""
    many, m, keys = tables.shape[0], tables.shape[1], tables.shape[2]
    n = len(count)
    score, total = np.empty((many, m)), np.empty((many, m))
    ties = np.zeros((many, m), dtype=np.int64)
    found = np.empty(min(_BLOCK, n), dtype=np.int32)
    number, met = np.zeros((together, cells), dtype=np.int64), np.empty((together, cells), dtype=np.int32)
    there, weight = np.empty(together, dtype=np.int64), np.empty(cells)
    width = np.int32(np.prod(base[half:]))
    high, low_part = np.empty(cells // width), np.empty(width)
    power, power_low = np.empty(cells // width), np.empty(width)
    for start in range(0, m, together):
        some = min(together, m - start)
        there[:] = 0
        for low in range(0, n, _BLOCK):
            size = min(_BLOCK, n - low)
            part = count[low : low + size]
            for i in range(some):
                compare(found, low, size, start + i, ranks, limits, base, wildcard)
                own, seen, known = number[i], met[i], there[i]
                for j in range(size):
                    pattern = found[j]
                    if own[pattern] == 0:
                        seen[known] = pattern
                        known += 1
                    own[pattern] += part[j]
                there[i] = known
        for i in range(some):
            own, seen, known = number[i], met[i], there[i]
            for linker in range(many):
                table, best, whole, tied = tables[linker, start + i], -np.inf, 0.0, 0
                top = _summed(high, table, base, 0, half) + _summed(low_part, table, base, half, keys)
                # sums of powers are sums of products; relative to the highest that there could be
                for at in range(len(high)):
                    power[at] = 2.0 ** high[at]
                for at in range(width):
                    power_low[at] = 2.0 ** (low_part[at] - top)
                for p in range(known):
                    above = seen[p] // width
                    below = seen[p] - above * width
                    w = high[above] + low_part[below]
                    weight[p] = w
                    best = max(best, w)
                    whole += own[seen[p]] * (power[above] * power_low[below])
                for p in range(known):
                    if weight[p] >= best - TIE:
                        tied += own[seen[p]]
                score[linker, start + i], ties[linker, start + i] = best, tied
                total[linker, start + i] = top + np.log2(whole)
            for p in range(known):
                own[seen[p]] = 0
    return score, ties, total
