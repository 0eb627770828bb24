"""Who is averaged with whom, for a guess of the values: by windows of one column, or by distances in several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["NO", "UNKNOWN", "YES", "nearest", "windows"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

NO, YES, UNKNOWN = 0, 1, 2
"""Whether a record's released value is the one before it: then both were averaged over the same records."""
_AGAINST = 3.0  # spacings that a window may be off before the pattern of equal released values is broken
_NEVER = 1e18


@compiled
def windows(x: Floats, start: Rows, same: Rows, spacing: Floats, k: int, out: Rows) -> float:
    """Find everybody's k nearest in one column, where equal releases say who shares them.

    In one column the k nearest of a record are k successive values, and these windows move upwards with the record:
    they stay where the released value stays, and move where it moves. Of all such series of windows the one is taken
    that is nearest to the guess (Viterbi's algorithm over the record's place in its window).

    Parameters
    ----------
    x
        The guess, ascending within each stratum, shape (n,).
    start
        First row of each stratum, and n; shape (strata + 1,).
    same
        `YES`, `NO` or `UNKNOWN` for each row, of its released value and the one before, shape (n,).
    spacing
        Distances between released values, the measure of what is near, shape (n,).
    k
        Records in a window.
    out
        The rows of each window, shape (n, k), is written.

    Returns
    -------
    float
        How far the windows are from the nearest ones and from the pattern, mean over records, in spacings.
    """
    total = 0.0
    for s in range(len(start) - 1):
        low, n = start[s], start[s + 1] - start[s]
        width = min(k, n)
        cost, back = np.full((n, width), _NEVER), np.zeros((n, width), np.int64)
        radius = np.empty(width)
        for i in range(n):
            smallest = _NEVER
            for place in range(max(0, i + width - n), min(i, width - 1) + 1):
                first = low + i - place
                radius[place] = max(x[low + i] - x[first], x[first + width - 1] - x[low + i])
                smallest = min(smallest, radius[place])
            # a window that stays puts the record one place higher in it; one that moves puts it anywhere below that
            moved, before = 0.0 if i == 0 else _NEVER, 0
            for place in range(width - 1, -1, -1):
                if i > 0 and cost[i - 1, place] <= moved:
                    moved, before = cost[i - 1, place], place
                if place > i or place < i + width - n:
                    continue
                best = moved + (_AGAINST if i > 0 and same[low + i] == YES else 0.0)
                back[i, place] = before
                if i > 0 and place > 0:
                    stayed = cost[i - 1, place - 1] + (_AGAINST if same[low + i] == NO else 0.0)
                    if stayed <= best:
                        best, back[i, place] = stayed, place - 1
                cost[i, place] = best + (radius[place] - smallest) / spacing[low + i]
        place = int(np.argmin(cost[n - 1]))
        total += cost[n - 1, place]
        for i in range(n - 1, -1, -1):
            for t in range(k):
                out[low + i, t] = low + i - place + t % width
            place = back[i, place]
    return total / len(x)


@compiled
def nearest(x: Floats, start: Rows, k: int, out: Rows) -> None:
    """Find everybody's k nearest in several columns by comparing all with all of a stratum.

    Parameters
    ----------
    x
        The guess in units in which columns weigh alike, shape (n, p).
    start
        First row of each stratum, and n; each stratum has k records or more.
    k
        Number of neighbours, the record itself included.
    out
        Their rows, shape (n, k), are written.
    """
    apart = np.empty(k)
    for s in range(len(start) - 1):
        for i in range(start[s], start[s + 1]):
            found = 0
            for j in range(start[s], start[s + 1]):
                square = 0.0
                for q in range(x.shape[1]):
                    square += (x[i, q] - x[j, q]) ** 2
                if found < k or square < apart[found - 1]:
                    place = found if found < k else k - 1
                    while place > 0 and apart[place - 1] > square:
                        apart[place], out[i, place] = apart[place - 1], out[i, place - 1]
                        place -= 1
                    apart[place], out[i, place] = square, j
                    found = min(found + 1, k)
