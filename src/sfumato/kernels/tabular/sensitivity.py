"""Which cells tell too much of one contributor, and how far from its value a hidden one must stay.

Where a contribution is not told, it may be anything that the others and the total allow: a cell is unsafe where every
such value says so, safe where none does, and else unknown.

Source: Hundepool et al. (2024), Handbook on Statistical Disclosure Control, 2nd edition, section 4.2. A cell with total
X and contributions x1 >= x2 >= ... is unsafe under the p% rule where X - x1 - x2 < p/100 x1, under the (p, q) rule
where X - x1 - x2 < p/q x1, and under the (n, k) rule where x1 + ... + xn > k/100 X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contributors", "Sensitivity", "any_of", "dominance", "few", "prior_posterior"]

Floats = NDArray[np.float64]
Truths = NDArray[np.int8]

SAFE, UNKNOWN, UNSAFE = 0, 1, 2
"""Three values, in this order: either of two rules is their maximum, both together their minimum."""


@dataclass(frozen=True)
class Sensitivity:
    """What a rule says of cells.

    Parameters
    ----------
    truth
        0 safe, 1 unknown, 2 unsafe; shape (cells,).
    level
        How far above and below its value each cell must be possible where it is unsafe; at least 0.
    """

    truth: Truths
    level: Floats


@dataclass(frozen=True)
class Contributors:
    """What is known of the contributors of cells, NaN where nothing is.

    Parameters
    ----------
    total
        Sum of the sizes of all contributions, shape (cells,).
    count
        Number of contributors, shape (cells,).
    largest
        Sizes of the largest contributions, shape (cells, ranks).
    asked
        The largest of those that are to be protected; None where all are.
    """

    total: Floats
    count: Floats
    largest: Floats
    asked: Floats | None = None

    def bounds(self, ranks: int) -> tuple[Floats, Floats]:
        """Least and most that the largest `ranks` contributions can be, one by one; shape (cells, ranks).

        Examples
        --------
        >>> one = Contributors(np.array([10.0]), np.array([3.0]), np.array([[6.0]]))
        >>> [bound.tolist() for bound in one.bounds(3)]
        [[[6.0, 2.0, 0.0]], [[6.0, 4.0, 2.0]]]
        """
        low = np.zeros((len(self.total), ranks))
        high = np.zeros((len(self.total), ranks))
        certain, possible = np.zeros(len(self.total)), np.zeros(len(self.total))
        for rank in range(ranks):
            told = self.largest[:, rank] if rank < self.largest.shape[1] else np.full(len(self.total), np.nan)
            others = np.where(np.isnan(self.count), np.inf, np.maximum(self.count - rank, 0.0))
            rest = np.maximum(self.total - certain, 0.0)  # what is left, at most, for this one and all smaller
            least = np.where(others > 0, np.maximum(self.total - possible, 0.0) / np.maximum(others, 1.0), 0.0)
            most = np.minimum(rest, high[:, rank - 1] if rank else rest)
            if rank:  # those before are each at least as large
                most = np.minimum(most, (self.total - _sum_of_told(low, high, rank)) / _untold(low, high, rank))
            most = np.where(others > 0, np.maximum(most, 0.0), 0.0)
            low[:, rank] = np.where(np.isnan(told), np.minimum(least, most), told)
            high[:, rank] = np.where(np.isnan(told), most, told)
            certain, possible = certain + low[:, rank], possible + high[:, rank]
        return low, high


def _sum_of_told(low: Floats, high: Floats, rank: int) -> Floats:
    told = low[:, :rank] == high[:, :rank]
    return np.asarray(np.where(told, low[:, :rank], 0.0).sum(axis=1))


def _untold(low: Floats, high: Floats, rank: int) -> Floats:
    """How many of those before are not told, and this one."""
    return np.asarray((low[:, :rank] != high[:, :rank]).sum(axis=1) + 1.0)


def few(count: Floats, threshold: float, spread: float, value: Floats) -> Sensitivity:
    """Threshold rule: unsafe with at least one contributor and fewer than `threshold`.

    Parameters
    ----------
    count
        Contributors, NaN where unknown.
    threshold
        Fewest that are safe.
    spread
        Share of the value (0 to 1) that the protection level is; 0 asks that the value cannot be told exactly.
    value
        Value of each cell.

    Examples
    --------
    >>> few(np.array([0.0, 2.0, 3.0, np.nan]), 3, 0.0, np.ones(4)).truth.tolist()
    [0, 2, 0, 1]
    """
    unsafe = (count > 0) & (count < threshold)
    truth = np.where(np.isnan(count) & (np.nan_to_num(value, nan=1.0) != 0), UNKNOWN, np.where(unsafe, UNSAFE, SAFE))
    return Sensitivity(truth.astype(np.int8), spread * np.abs(np.nan_to_num(value)))


def prior_posterior(given: Contributors, share: float) -> Sensitivity:
    """The p% rule with share p/100, or the (p, q) rule with p/q.

    Whoever is protected is estimated by the largest other: X less both is what blurs the estimate. Protection level:
    share x1 - (X - x1 - x2).

    Examples
    --------
    >>> cells = Contributors(np.array([100.0, 100.0]), np.array([9.0, 9.0]), np.array([[60.0, 36.0], [60.0, 20.0]]))
    >>> told = prior_posterior(cells, 0.1)
    >>> told.truth.tolist(), told.level.tolist()
    ([2, 0], [2.0, 0.0])
    """
    low, high = given.bounds(2)
    whose_low, whose_high, other_low, other_high = low[:, 0], high[:, 0], low[:, 1], high[:, 1]
    if given.asked is not None:
        asked = given.asked
        whose_low, whose_high = np.where(np.isnan(asked), 0.0, asked), np.where(np.isnan(asked), high[:, 0], asked)
        first = asked >= low[:, 0]  # the largest itself is protected: the next is the rival
        other_low, other_high = np.where(first, low[:, 1], low[:, 0]), np.where(first, high[:, 1], high[:, 0])
    least = share * whose_low - (given.total - whose_low - other_low)
    most = share * whose_high - (given.total - whose_high - other_high)
    noise = 1e-9 * np.abs(given.total)  # a tie is safe, whatever the last bits of a sum
    return _decided(least, most, noise, (whose_high > 0) & ~(given.total == 0))


def dominance(given: Contributors, n: int, share: float) -> Sensitivity:
    """The (n, k) rule with share k/100. Protection level: (x1 + ... + xn) / share - X.

    Where not all are to be protected, the n are the largest of these and the n - 1 largest others.

    Examples
    --------
    >>> cells = Contributors(np.array([100.0, 100.0]), np.array([9.0, 9.0]), np.array([[60.0, 30.0], [60.0, 20.0]]))
    >>> told = dominance(cells, 2, 0.85)
    >>> told.truth.tolist(), told.level.round(4).tolist()
    ([2, 0], [5.8824, 0.0])
    """
    low, high = given.bounds(n)
    least, most = low.sum(axis=1), np.minimum(high.sum(axis=1), given.total)
    possible = ~(given.total == 0)
    if given.asked is not None:
        within = given.asked >= low[:, n - 1]
        others = low[:, : n - 1].sum(axis=1)
        least = np.where(within, least, np.nan_to_num(given.asked) + others)
        most = np.where(within, most, np.nan_to_num(given.asked, nan=np.inf) + high[:, : n - 1].sum(axis=1))
        most = np.minimum(most, given.total)
        possible &= ~(given.asked == 0)
    noise = 1e-9 * np.abs(given.total)
    return _decided(least / share - given.total, most / share - given.total, noise, possible)


def _decided(least: Floats, most: Floats, noise: Floats, possible: NDArray[np.bool_]) -> Sensitivity:
    """From the least and the most that a protection level can be: unsafe where it is above 0."""
    unknown = np.isnan(least) | np.isnan(most)
    truth = np.where(unknown, UNKNOWN, np.where(least > noise, UNSAFE, np.where(most > noise, UNKNOWN, SAFE)))
    truth = np.where(possible, truth, SAFE)
    return Sensitivity(truth.astype(np.int8), np.where(truth > SAFE, np.maximum(np.nan_to_num(most), 0.0), 0.0))


def any_of(parts: list[Sensitivity]) -> Sensitivity:
    """What several rules say together: unsafe where one says so, safe where all do; the largest level.

    Examples
    --------
    >>> a = Sensitivity(np.array([0, 1], dtype=np.int8), np.array([0.0, 3.0]))
    >>> b = Sensitivity(np.array([2, 0], dtype=np.int8), np.array([1.0, 5.0]))
    >>> any_of([a, b]).truth.tolist(), any_of([a, b]).level.tolist()
    ([2, 1], [1.0, 3.0])
    """
    truth = np.max([part.truth for part in parts], axis=0)
    level = np.max([np.where(part.truth > SAFE, part.level, 0.0) for part in parts], axis=0)
    return Sensitivity(truth, level)
