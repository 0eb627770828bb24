"""The linker that takes the nearest record: Gower's distance, ties shared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import Keys
from sfumato.kernels.linkers.scan import TIE, Scoring, fill

__all__ = ["gower", "ranges", "right_guesses"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNKNOWN = -0.5


def ranges(numbers: Floats) -> Floats:
    """Range of each number, shape (q,); 0 where there are none.

    Parameters
    ----------
    numbers : ndarray, shape (q, n)
        NaN where one is missing.

    Examples
    --------
    >>> ranges(np.array([[1.0, np.nan, 4.0]])).tolist()
    [3.0]
    """
    known = ~np.isnan(numbers)
    top = np.where(known, numbers, -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(known, numbers, np.inf).min(axis=1, initial=np.inf)
    return np.where(known.any(axis=1), top - low, 0.0)


def gower(levels: tuple[int, ...], spread: Floats, wildcard: bool = False) -> Scoring:
    """Scores that are Gower's distances, less than 0 the farther: 0 or 1 for a category, |d| / range for a number.

    A number that all originals share tells nobody apart and adds nothing. A missing value beside another one is as far
    as two categories; where it may be anything it is half as far, and so are two missing ones.

    Source: Gower (1971), doi:10.2307/2528823, summed rather than averaged.

    Parameters
    ----------
    levels
        How many categories each of the c categorical keys has.
    spread : ndarray, shape (q,)
        Range of each number in the original.
    wildcard
        Whether a missing value may be anything.

    Examples
    --------
    >>> gower((2,), np.array([10.0])).slope.tolist()
    [-0.1]
    """
    c, q = len(levels), len(spread)
    tells = spread > 0
    slope = np.divide(-1.0, spread, out=np.zeros(q), where=tells)
    half = np.concatenate([np.full(c, _UNKNOWN), np.where(tells, _UNKNOWN, 0.0)])
    apart = np.where(tells, -1.0, 0.0)
    none = tuple(np.zeros(n) for n in levels)
    return Scoring(none, np.full(c, -1.0), slope, np.full((q, 2), np.inf), np.zeros((q, 3)), apart, half, wildcard)


def right_guesses(people: Keys, records: Keys, scoring: Scoring, told: Ints, truth: Ints) -> Floats:
    """How often an intruder guesses a value rightly: the one that most records tell that tie for the best score.

    Parameters
    ----------
    people, records, scoring
        As for `sfumato.kernels.linkers.scan.scan`.
    told : ndarray, shape (n,)
        Number of the value that each released row tells, 0, 1, …
    truth : ndarray, shape (r,)
        Number of each person's value.

    Returns
    -------
    ndarray, shape (r,)
        1 / t where the person's value is one of t with most votes, else 0.

    Examples
    --------
    >>> people = Keys(np.array([[0]], np.int32), np.empty((0, 1)), np.array([2]), np.zeros(2, int))
    >>> records = Keys(np.array([[0, 1]], np.int32), np.empty((0, 2)), np.array([3, 1]), np.array([0, 0, 0, 1]))
    >>> scoring = gower((2,), np.empty(0))
    >>> right_guesses(people, records, scoring, np.array([0, 1, 1, 0]), np.array([1, 0])).tolist()
    [1.0, 0.0]
    """
    values = int(max(told.max(initial=0), truth.max(initial=0))) + 1
    pair, number = np.unique(records.member * values + told, return_counts=True)
    start = np.searchsorted(pair, np.arange(len(records) + 1) * values).astype(np.int64)
    order = np.argsort(people.member, kind="stable")
    first = np.searchsorted(people.member[order], np.arange(len(people) + 1)).astype(np.int64)
    agree, place = scoring.flat()
    right = np.empty(len(truth))
    right[order] = _guess(
        np.ascontiguousarray(people.codes.T),
        np.ascontiguousarray(people.numbers.T),
        records.codes,
        records.numbers,
        np.zeros(len(records)),
        agree,
        place,
        *scoring.parts(),
        start,
        pair % values,
        number.astype(np.int64),
        first,
        truth[order],
        values,
    )
    return right


@compiled
def _guess(
    rows: NDArray[np.int32],
    numbers_of_rows: Floats,
    codes: NDArray[np.int32],
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
    start: Ints,
    value: Ints,
    number: Ints,
    first: Ints,
    truth: Ints,
    values: int,
) -> Floats:
    """Score each combination of people with all records at once, and count the values of the best."""
    m, n = len(rows), len(begin)
    right = np.zeros(len(truth))
    scores, votes = np.empty(n), np.zeros(values, dtype=np.int64)
    seen = np.empty(values, dtype=np.int64)
    for i in range(m):
        fill(
            scores,
            n,
            0,
            rows[i],
            numbers_of_rows[i],
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
        best, known, most, share = -np.inf, 0, 0, 0
        for j in range(n):
            best = max(best, scores[j])
        for j in range(n):
            if scores[j] >= best - TIE:
                for at in range(start[j], start[j + 1]):
                    if votes[value[at]] == 0:
                        seen[known] = value[at]
                        known += 1
                    votes[value[at]] += number[at]
        for v in range(known):
            if votes[seen[v]] > most:
                most, share = votes[seen[v]], 0
            share += votes[seen[v]] == most
        for at in range(first[i], first[i + 1]):
            if votes[truth[at]] == most:
                right[at] = 1.0 / share
        for v in range(known):
            votes[seen[v]] = 0
    return right
