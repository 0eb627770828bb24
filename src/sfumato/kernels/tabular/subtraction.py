"""What somebody who knows k people subtracts from a table: how likely is it that a count is used up.

All k out of N people are equally likely to be the ones who are known. Exact figures are ratios of whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

__all__ = ["expected_used_up", "used_up", "used_up_by_draws"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def used_up(counts: Sequence[int], k: int, can: Sequence[bool] | None = None) -> Fraction:
    """Probability that k people drawn without replacement use up at least one count.

    No count is used up where each loses fewer than it has: the number of such draws is the coefficient of t^k in the
    product of (1 + t)^f - t^f over all counts f.

    Parameters
    ----------
    counts
        Counts, which make up everybody.
    k
        How many are known.
    can
        Which counts can be seen to be used up; all if not given.

    Examples
    --------
    >>> used_up([1, 3, 5], 1), used_up([1, 3, 5], 2)
    (Fraction(1, 9), Fraction(2, 9))
    """
    which = [True] * len(counts) if can is None else list(can)
    if any(f == 0 and c for f, c in zip(counts, which, strict=True)):
        return Fraction(1)
    free = sum(f for f, c in zip(counts, which, strict=True) if not c)
    ways = [comb(free, j) for j in range(k + 1)]
    for f in sorted(f for f, c in zip(counts, which, strict=True) if c):
        own = [comb(f, j) - (j == f) for j in range(min(k, f) + 1)]
        new = [0] * (k + 1)
        for i, many in enumerate(ways):
            if many:
                for j in range(min(k - i, len(own) - 1) + 1):
                    new[i + j] += many * own[j]
        ways = new
    return 1 - Fraction(ways[k], comb(sum(counts), k))


def expected_used_up(counts: Sequence[int], k: int, can: Sequence[bool] | None = None) -> Fraction:
    """Expected number of counts that k people drawn without replacement use up.

    Examples
    --------
    >>> expected_used_up([1, 3, 5], 3)
    Fraction(29, 84)
    """
    which = [True] * len(counts) if can is None else list(can)
    n = sum(counts)
    ways = sum(comb(n - f, k - f) for f, c in zip(counts, which, strict=True) if c and f <= k)
    return Fraction(ways, comb(n, k))


def used_up_by_draws(
    counts: Ints, margins: Sequence[Ints], can: Sequence[Bools], k: int, draws: int, seed: int
) -> tuple[float, float]:
    """Share of draws in which a count of some margin is used up, and the mean number of joint cells that then are.

    Parameters
    ----------
    counts
        Of the joint cells, shape (cells,).
    margins
        For each margin, the number of its cell that each joint cell lies in; shape (cells,).
    can
        For each margin, which of its cells can be seen to be used up.
    k, draws, seed
        How many are known; how often they are drawn; where the draws begin.

    Examples
    --------
    >>> share, _ = used_up_by_draws(np.array([1, 3, 5]), [np.arange(3)], [np.ones(3, dtype=bool)], 1, 20_000, 1)
    >>> abs(share - 1 / 9) < 0.01
    True
    """
    rng = np.random.Generator(np.random.Philox(seed))
    totals = [
        np.bincount(cell, weights=counts, minlength=len(c)).astype(np.int64)
        for cell, c in zip(margins, can, strict=True)
    ]
    hit, cells, done = 0, 0, 0
    chunk = max(1, 4_000_000 // max(len(counts), 1))
    while done < draws:
        size = min(chunk, draws - done)
        known = rng.multivariate_hypergeometric(counts, k, size=size, method="marginals")
        gone = np.zeros((size, len(counts)), dtype=bool)
        for cell, total, seen in zip(margins, totals, can, strict=True):
            left = np.zeros((len(total), size), dtype=np.int64)
            np.add.at(left, cell, known.T)
            gone |= ((left == total[:, None]) & seen[:, None])[cell].T
        hit += int(gone.any(axis=1).sum())
        cells += int(gone.sum())
        done += size
    return hit / draws, cells / draws
