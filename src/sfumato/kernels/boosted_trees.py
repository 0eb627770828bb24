"""Gradient-boosted decision trees on binned values, for telling two groups of records apart.

Values are put into at most 255 bins once; then a tree is grown leaf by leaf from sums over bins. All sums run over rows
in the order in which they stand, in one thread and without fused operations, so that equal input gives equal trees on
every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["BINS", "Binned", "binned", "boosted", "boosted_scores"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]
Rows = NDArray[np.int64]

BINS = 255
"""Most bins of a column, and the code of what is missing."""
_LEAST_CURVATURE = 1e-3  # a side whose second derivatives sum to less is not split off
_LEAST_CATEGORY = 10.0  # records that a category needs to take part in a split, and the weight of its smoothing
_TINY = 1e-15


@dataclass(frozen=True, eq=False)
class Binned:
    """Values in bins, on which trees can be grown again and again.

    Parameters
    ----------
    codes : ndarray of uint8, shape (p, n)
        Bins of each column; the largest number of bins where a value is missing.
    bins : ndarray of int64, shape (p,)
        How many bins each column has.
    kinds : ndarray of bool, shape (p, 2)
        Whether each column is a factor, and whether training rows lack it.
    known, unknown : ndarray of int64
        The training rows, and the others.
    """

    codes: Codes
    bins: Rows
    kinds: Flags
    known: Rows
    unknown: Rows


def binned(features: Floats, train: Flags, factors: Sequence[bool], most: int = BINS) -> Binned:
    """Put values into bins by the training rows; other arguments as of `boosted_scores`.

    Parameters
    ----------
    most
        Most bins of a number, up to `BINS`: trees on few bins are grown faster.

    Examples
    --------
    >>> binned(np.array([[1.0], [2.0], [2.0]]), np.ones(3, bool), [False]).codes.tolist()
    [[0, 1, 1]]
    """
    n, p = features.shape
    codes, bins = np.empty((p, n), dtype=np.uint8), np.empty(p, dtype=np.int64)
    for j in range(p):
        codes[j], bins[j] = _binned(features[:, j], train, factors[j], most)
    known, unknown = np.flatnonzero(train), np.flatnonzero(~train)
    kinds = np.column_stack([np.array(factors, dtype=np.bool_), (codes[:, known] == BINS).any(axis=1)])
    codes[codes == BINS] = bins.max(initial=1)  # no sums are kept of bins that no column has
    return Binned(codes, bins, kinds, known, unknown)


def boosted(
    of: Binned, target: Floats, *, rounds: int = 50, rate: float = 0.1, leaves: int = 8, smallest: int = 20
) -> Floats:
    """Give every row its probability of being in the group; arguments as of `boosted_scores`.

    Examples
    --------
    >>> of = binned(np.repeat([1.0, 2.0], 40)[:, None], np.ones(80, bool), [False])
    >>> [round(float(s)) for s in boosted(of, np.repeat([0.0, 1.0], 40))[::40]]
    [0, 1]
    """
    share = float(target[of.known].mean())
    raw = np.full(of.codes.shape[1], math.log(share / (1 - share)))
    group = np.asarray(target, dtype=np.float64)
    _boost(of.codes, of.bins, of.kinds, group, of.known, of.unknown, raw, rounds, rate, leaves, smallest)
    return np.asarray(1 / (1 + np.exp(-raw)))


def boosted_scores(
    features: Floats,
    target: Floats,
    train: Flags,
    factors: Sequence[bool],
    *,
    rounds: int = 50,
    rate: float = 0.1,
    leaves: int = 8,
    smallest: int = 20,
) -> Floats:
    """Give every row its probability of being in the group, by trees grown on the rows of `train`.

    Each tree is grown best leaf first to the first and second derivatives of the binomial deviance. A number is split
    at a threshold, a category by a set of categories (in the order of their mean derivatives); what is missing goes to
    the side where it gains more.

    Parameters
    ----------
    features
        Values, shape (n, p); NaN is missing; a factor's values are codes, at most 255 different ones.
    target
        1 for a row in the group, else 0, shape (n,). Among the rows of `train` there are both.
    train
        The rows that trees are grown on, shape (n,).
    factors
        Whether each column is categorical, length p.
    rounds, rate
        Number of trees, and the share of each that is added.
    leaves, smallest
        Most leaves of a tree, and fewest training rows of a leaf.

    Returns
    -------
    ndarray
        Probabilities in (0, 1), shape (n,), of the rows of `train` too.

    Examples
    --------
    >>> x = np.repeat([1.0, 2.0, np.nan], 40)
    >>> scores = boosted_scores(x[:, None], (x == 2).astype(float), np.ones(120, bool), [False])
    >>> [round(float(s)) for s in scores[::40]]
    [0, 1, 0]

    References
    ----------
    Friedman (2001), doi:10.1214/aos/1013203451, for boosting; Ke et al. (2017), LightGBM, Advances in Neural
    Information Processing Systems 30, for bins and growing best leaf first.
    """
    of = binned(features, train, factors)
    return boosted(of, target, rounds=rounds, rate=rate, leaves=leaves, smallest=smallest)


def _binned(values: Floats, train: Flags, factor: bool, most: int) -> tuple[Codes, int]:
    """Bins of a column by its training rows, and how many there are; a category that they lack counts as missing."""
    seen = values[train & ~np.isnan(values)]
    distinct = np.unique(seen)
    if factor:
        place = np.minimum(np.searchsorted(distinct, values), max(len(distinct) - 1, 0))
        known = distinct[place] == values if len(distinct) else np.zeros(len(values), dtype=np.bool_)
        return np.where(known, place, BINS).astype(np.uint8), len(distinct)
    if len(distinct) <= most:
        cuts = (distinct[:-1] + distinct[1:]) / 2
    else:
        cuts = np.unique(np.quantile(seen, np.linspace(0, 1, most + 1)[1:-1], method="averaged_inverted_cdf"))
    place = np.searchsorted(cuts, values, side="left")
    return np.where(np.isnan(values), BINS, place).astype(np.uint8), len(cuts) + 1


@compiled
def _sums(codes: Codes, rows: Rows, slope: Floats, curvature: Floats, out: Floats) -> None:
    """Sums of derivatives and numbers of rows by column and bin, into `out` of shape (p, b + 1, 3)."""
    out[:] = 0.0
    for j in range(codes.shape[0]):
        column, sums = codes[j], out[j]
        for i in rows:
            cell = sums[column[i]]
            cell[0] += slope[i]
            cell[1] += curvature[i]
            cell[2] += 1.0


@compiled
def _gain(slope: float, curvature: float, rows: float, whole: Floats, smallest: int) -> float:
    """What a split gains by the sums of its left side, or -1 where one side is too small; sums are as in `_sums`.

    Plain numbers rather than arrays: this is called for every bin.
    """
    other = whole[1] - curvature
    if min(rows, whole[2] - rows) < smallest or min(curvature, other) < _LEAST_CURVATURE:
        return -1.0
    rest = whole[0] - slope
    gained = slope**2 / (curvature + _TINY) + rest**2 / (other + _TINY) - whole[0] ** 2 / (whole[1] + _TINY)
    return float(gained)


@compiled
def _split_number(
    sums: Floats, bins: int, gaps: bool, whole: Floats, smallest: int, best: float, goes_left: Flags
) -> float:
    """Put the best threshold of a column into `goes_left` where it beats `best`; give the better of both gains.

    Where no training row lacks the column (`gaps`), what is missing elsewhere goes with most records.
    """
    last = len(sums) - 1
    missing = sums[last]
    for side in range(2 if missing[2] > 0 else 1):  # what is missing to the right, then to the left
        slope, curvature, rows = missing[0] * side, missing[1] * side, missing[2] * side
        for b in range(bins - 1 + (1 if side == 0 and missing[2] > 0 else 0)):
            slope += sums[b, 0]
            curvature += sums[b, 1]
            rows += sums[b, 2]
            gain = _gain(slope, curvature, rows, whole, smallest)
            if gain > best:
                best = gain
                goes_left[:] = False
                goes_left[: b + 1] = True
                goes_left[last] = side == 1 if gaps else 2 * rows > whole[2]
    return best


@compiled
def _split_factor(sums: Floats, gaps: bool, whole: Floats, smallest: int, best: float, goes_left: Flags) -> float:
    """Put the best set of categories of a column into `goes_left` where it beats `best`, as `_split_number`."""
    support = whole[2] / (whole[1] + _TINY)
    used = np.flatnonzero(sums[:, 1] * support >= _LEAST_CATEGORY * (1 - 1e-9))  # ten records are ten, whatever rounds
    if len(used) < 2:
        return best
    order = used[np.argsort(sums[used, 0] / (sums[used, 1] + _LEAST_CATEGORY), kind="mergesort")]
    for end in range(2):  # sets that begin with the lowest, then with the highest
        slope, curvature, rows = 0.0, 0.0, 0.0
        for c in range((len(order) + 1) // 2 - end):
            slope += sums[order[c], 0]
            curvature += sums[order[c], 1]
            rows += sums[order[c], 2]
            gain = _gain(slope, curvature, rows, whole, smallest)
            if gain > best:
                best = gain
                goes_left[:] = False
                goes_left[order[: c + 1]] = True
                if not gaps:
                    goes_left[-1] = 2 * rows > whole[2]
        order = order[::-1]
    return best


@compiled
def _best_split(sums: Floats, bins: Rows, kinds: Flags, smallest: int, goes_left: Flags) -> tuple[float, int, Floats]:
    """Gain and column of a leaf's best split, and the leaf's own sums; `goes_left` says which bins go left.

    `kinds` says of each column whether it is a factor, and whether training rows lack it; shape (p, 2).
    """
    whole = sums[0].sum(axis=0)
    best, column = 0.0, -1
    if whole[2] < 2 * smallest or whole[1] < _LEAST_CURVATURE:
        return best, column, whole
    for j in range(len(bins)):
        before = best
        if kinds[j, 0]:
            best = _split_factor(sums[j], kinds[j, 1], whole, smallest, best, goes_left)
        else:
            best = _split_number(sums[j], bins[j], kinds[j, 1], whole, smallest, best, goes_left)
        if best > before:
            column = j
    return best, column, whole


@compiled
def _part(rows: Rows, column: Codes, goes_left: Flags) -> int:
    """Put the rows that go left first, in their order; give how many there are."""
    left = 0
    right = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        row = rows[i]
        if goes_left[column[row]]:
            rows[left] = row
            left += 1
        else:
            right[i - left] = row
    rows[left:] = right[: len(rows) - left]
    return left


@compiled
def _boost(
    codes: Codes,
    bins: Rows,
    kinds: Flags,
    target: Floats,
    known: Rows,
    unknown: Rows,
    raw: Floats,
    rounds: int,
    rate: float,
    leaves: int,
    smallest: int,
) -> None:
    """Grow the trees on the rows `known`, and add what they say to `raw` of these and of the rows `unknown`."""
    p, width = codes.shape[0], bins.max() + 1
    sums, whole = np.empty((leaves, p, width, 3)), np.empty((leaves, 3))
    goes_left, gains = np.zeros((leaves, width), dtype=np.bool_), np.empty(leaves)
    columns, begin, end = np.empty(leaves, np.int64), np.empty((leaves, 2), np.int64), np.empty((leaves, 2), np.int64)
    slope, curvature = np.empty(len(target)), np.empty(len(target))
    for _ in range(rounds):
        for i in known:
            chance = 1.0 / (1.0 + math.exp(-raw[i]))
            slope[i], curvature[i] = chance - target[i], chance * (1.0 - chance)
        rows = (known.copy(), unknown.copy())
        begin[0], end[0, 0], end[0, 1] = 0, len(known), len(unknown)
        _sums(codes, rows[0], slope, curvature, sums[0])
        gains[0], columns[0], whole[0] = _best_split(sums[0], bins, kinds, smallest, goes_left[0])
        grown = 1
        while grown < leaves:
            leaf = int(np.argmax(gains[:grown]))
            if gains[leaf] <= 0.0:
                break
            for part in range(2):
                first, last = begin[leaf, part], end[leaf, part]
                middle = first + _part(rows[part][first:last], codes[columns[leaf]], goes_left[leaf])
                begin[grown, part], end[grown, part], end[leaf, part] = middle, last, middle
            small, large = leaf, grown
            if end[leaf, 0] - begin[leaf, 0] > end[grown, 0] - begin[grown, 0]:
                small, large = grown, leaf
            parent = sums[leaf].copy()
            _sums(codes, rows[0][begin[small, 0] : end[small, 0]], slope, curvature, sums[small])
            sums[large] = parent - sums[small]  # the larger side's sums are what is left, for a fraction of the work
            for side in (leaf, grown):
                best = _best_split(sums[side], bins, kinds, smallest, goes_left[side])
                gains[side], columns[side], whole[side] = best
            grown += 1
        for node in range(grown):
            step = -rate * whole[node, 0] / (whole[node, 1] + _TINY)
            for part in range(2):
                for i in rows[part][begin[node, part] : end[node, part]]:
                    raw[i] += step
