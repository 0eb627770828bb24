"""Score every pair of combinations of keys, and keep of each person what counts: the best, its ties, the sum of all.

Scores are sums over keys. Nothing of size m × n is ever kept: each person's scores stand in a block that fits the
processor's nearest memory, and are forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import MISSING, Keys

__all__ = ["TIE", "Best", "Scoring", "between", "fill", "scan"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-9
"""Scores that differ by less are equal."""
_BLOCK = 2048
_NEGLIGIBLE = 50.0  # powers of two below the best that add nothing to a sum
_FAR = MISSING / 10


@dataclass(frozen=True, eq=False)
class Scoring:
    """What each key adds to the score of a pair.

    Parameters
    ----------
    agree
        For each of the c categorical keys what agreement on each category adds, an array by the category's number.
    disagree : ndarray, shape (c,)
        What disagreement adds.
    slope : ndarray, shape (q,)
        What each unit of distance adds, for the q numeric keys.
    cuts : ndarray, shape (q, 2)
        Distances up to which a pair is at the first level, and at the second.
    level : ndarray, shape (q, 3)
        What each level adds.
    apart : ndarray, shape (q,)
        What a number beside a missing one adds.
    unknown : ndarray, shape (c + q,)
        What a key adds where one side is missing and may be anything; categories first.
    wildcard
        Whether missing numbers may be anything. Else a missing number is equal to another one, and `apart` from all
        numbers; a missing category that is none of its own has no number (−1).
    """

    agree: tuple[Floats, ...]
    disagree: Floats
    slope: Floats
    cuts: Floats
    level: Floats
    apart: Floats
    unknown: Floats
    wildcard: bool = False

    def flat(self) -> tuple[Floats, Ints]:
        """What agreement adds in one array, and where each key's part of it begins."""
        sizes = [len(part) for part in self.agree]
        whole = np.concatenate([*self.agree, np.zeros(1)])
        return whole, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def parts(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, bool]:
        """All but `agree`, as loops take it."""
        return (
            self.disagree,
            self.slope,
            np.ascontiguousarray(self.cuts),
            np.ascontiguousarray(self.level),
            self.apart,
            self.unknown,
            self.wildcard,
        )


@dataclass(frozen=True, eq=False)
class Best:
    """What was found for each of m combinations.

    Parameters
    ----------
    score : ndarray, shape (m,)
        The highest score.
    ties : ndarray, shape (m,)
        Rows of the other table that have it.
    total : ndarray, shape (m,)
        Log₂ of the sum of 2^score over all rows of the other table.
    first : ndarray, shape (m,)
        A combination that has it.
    """

    score: Floats
    ties: Ints
    total: Floats
    first: Ints


def scan(people: Keys, records: Keys, scoring: Scoring, start: Floats | None = None, *, sums: bool = True) -> Best:
    """Score each combination of `people` with each of `records`.

    Parameters
    ----------
    people, records
        Both with categories numbered alike.
    scoring
        What keys add.
    start : ndarray, shape (records,), optional
        What the scores of each combination of records begin with.
    sums
        Whether sums are wanted; without them `total` is the score.

    Returns
    -------
    Best
        For each combination of people.

    Examples
    --------
    >>> people = Keys(np.array([[0]], np.int32), np.empty((0, 1)), np.ones(1, int), np.zeros(1, int))
    >>> records = Keys(np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([3, 1]), np.array([0, 0, 0, 1]))
    >>> none = np.empty((0, 3))
    >>> scoring = Scoring((np.zeros(2),), np.array([-1.0]), none[:, 0], none[:, :2], none, none[:, 0], np.zeros(1))
    >>> found = scan(people, records, scoring)
    >>> found.score.tolist(), found.ties.tolist(), (2**found.total).tolist()
    ([0.0], [3], [3.5])
    """
    agree, place = scoring.flat()
    begin = np.zeros(len(records)) if start is None else np.ascontiguousarray(start, dtype=np.float64)
    score, ties, total, first = _scan(
        np.ascontiguousarray(people.codes.T),
        np.ascontiguousarray(people.numbers.T),
        records.codes,
        records.numbers,
        records.count,
        begin,
        agree,
        place,
        *scoring.parts(),
        sums,
    )
    return Best(score, ties, total, first)


def between(people: Keys, records: Keys, pairs: tuple[Ints, Ints], scoring: Scoring) -> Floats:
    """Scores of given pairs of combinations, added up as `scan` does.

    Parameters
    ----------
    people, records, scoring
        As for `scan`.
    pairs
        Numbers of the combinations, two arrays of shape (r,).

    Returns
    -------
    ndarray, shape (r,)
    """
    one, two = pairs
    score = np.zeros(len(one))
    c = len(people.codes)
    for k in range(c):
        a, b = people.codes[k][one], records.codes[k][two]
        added = np.where(a == b, scoring.agree[k][np.maximum(a, 0)], scoring.disagree[k])
        score += np.where((a < 0) | (b < 0), scoring.unknown[k], added)
    for k in range(len(people.numbers)):
        a, b = people.numbers[k][one], records.numbers[k][two]
        d = np.abs(b - a)
        low, middle, high = scoring.level[k]
        added = scoring.slope[k] * np.where(d > _FAR, 0.0, d)
        added += np.where(d <= scoring.cuts[k, 0], low, np.where(d <= scoring.cuts[k, 1], middle, high))
        far = np.where(d > _FAR, scoring.unknown[c + k] if scoring.wildcard else scoring.apart[k], added)
        score += np.where(scoring.wildcard & (a > _FAR), scoring.unknown[c + k], far)
    return score


@compiled
def fill(
    scores: Floats,
    size: int,
    low: int,
    row: Codes,
    value: Floats,
    codes: Codes,
    numbers: Floats,
    begin: Floats,
    agree: Floats,
    place: Ints,
    disagree: Floats,
    slope: Floats,
    cuts: Floats,
    level: Floats,
    apart: Floats,
    unknown: Floats,
    wildcard: bool,
) -> None:
    """Scores of one person with a block of records."""
    c = len(row)
    # slices of their own: no place could be below 0, so that loops are done many at a time
    own = begin[low : low + size]
    for j in range(size):
        scores[j] = own[j]
    for k in range(c):
        a, wrong, free = row[k], disagree[k], unknown[k]
        column = codes[k, low : low + size]
        if a < 0:
            for j in range(size):
                scores[j] += free
            continue
        right = agree[place[k] + a]
        if wildcard:
            for j in range(size):
                b = column[j]
                scores[j] += free if b < 0 else (right if b == a else wrong)
        else:
            for j in range(size):
                scores[j] += right if column[j] == a else wrong
    for k in range(len(value)):
        a, far, free, steep = value[k], apart[k], unknown[c + k], slope[k]
        number = numbers[k, low : low + size]
        if wildcard:
            far = free
        if wildcard and a > _FAR:
            for j in range(size):
                scores[j] += free
            continue
        cut, wide = cuts[k, 0], cuts[k, 1]
        near, middle, more = level[k, 0], level[k, 1], level[k, 2]
        for j in range(size):
            d = abs(number[j] - a)
            w = steep * d + (near if d <= cut else (middle if d <= wide else more))
            scores[j] += far if d > _FAR else w


@compiled
def _scan(
    rows: Codes,
    values: Floats,
    codes: Codes,
    numbers: Floats,
    count: Ints,
    begin: Floats,
    agree: Floats,
    place: Ints,
    disagree: Floats,
    slope: Floats,
    cuts: Floats,
    level: Floats,
    apart: Floats,
    unknown: Floats,
    wildcard: bool,
    sums: bool,
) -> tuple[Floats, Ints, Floats, Ints]:
    """Go through all pairs, block of records by block, with running sums relative to the best so far."""
    m, n = len(rows), len(count)
    score, ties = np.full(m, -np.inf), np.zeros(m, dtype=np.int64)
    whole, first = np.zeros(m), np.zeros(m, dtype=np.int64)
    scores = np.empty(min(_BLOCK, n))
    for low in range(0, n, _BLOCK):
        size = min(_BLOCK, n - low)
        for i in range(m):
            fill(
                scores,
                size,
                low,
                rows[i],
                values[i],
                codes,
                numbers,
                begin,
                agree,
                place,
                disagree,
                slope,
                cuts,
                level,
                apart,
                unknown,
                wildcard,
            )
            top = -np.inf
            for j in range(size):
                top = max(top, scores[j])
            if top > score[i] + TIE:
                whole[i] *= 2.0 ** (score[i] - top)
                score[i], ties[i], first[i] = top, 0, -1
            if top >= score[i] - TIE:
                for j in range(size):
                    if scores[j] >= score[i] - TIE:
                        ties[i] += count[low + j]
                        if first[i] < 0:
                            first[i] = low + j
            if sums and top > score[i] - _NEGLIGIBLE:
                for j in range(size):
                    less = scores[j] - score[i]
                    if less > -_NEGLIGIBLE:
                        whole[i] += count[low + j] * 2.0**less
    if not sums:
        return score, ties, score.copy(), first
    return score, ties, score + np.log2(whole), first
