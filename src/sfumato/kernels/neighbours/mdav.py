"""Microaggregation by MDAV: disjoint groups of at least k similar records.

Source: Domingo-Ferrer and Torra (2005), doi:10.1007/s10618-005-0007-5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.neighbours.centroids import Groups
from sfumato.kernels.rows import scatter

__all__ = ["disjoint_groups", "group_means", "mdav"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]


def mdav(z: Floats, k: int) -> Ints:
    """Group points by maximum distance to average vector.

    While at least 3k points are left: r, the farthest from their centroid, takes its k − 1 nearest; s, the farthest
    from r, takes its own. With 2k to 3k − 1 left one group forms around the farthest from the centroid; the rest is
    the last group. Squared Euclidean distance; ties go to the lower row, so the caller fixes the order of rows.

    Parameters
    ----------
    z
        Points, shape (n, p), n ≥ 1, no NaN.
    k
        Fewest points in a group; with n < 2k all points are one group.

    Returns
    -------
    ndarray, shape (n,), int64
        Group of each point, 0, 1, ….

    Examples
    --------
    >>> mdav(np.array([[0.0], [0.1], [5.0], [5.1]]), 2).tolist()
    [0, 0, 1, 1]
    """
    return np.asarray(_mdav(np.ascontiguousarray(z.T, dtype=np.float64), k))


def group_means(z: Floats, group: Ints) -> Floats:
    """Replace each point by the mean of its group, shape (n, p), summed by value: the order of rows changes no bit."""
    size = np.bincount(group)
    out = np.empty_like(z)
    for j in range(z.shape[1]):
        order = np.argsort(z[:, j])
        out[:, j] = (np.bincount(group[order], weights=z[order, j]) / size)[group]
    return out


def disjoint_groups(z: Floats, group: Ints, words: Words | None = None, shared: Ints | None = None) -> Groups:
    """Give each record its group: its mean, how far its records are from it, and which they are.

    Parameters
    ----------
    z
        Points, shape (n, p).
    group
        Group of each point, 0, 1, …, shape (n,).
    words
        A word for each point, equal for equal points, shape (n,). Without them only centroids are given.
    shared
        Numbers of equal points, shape (n,), where they share their groups because nobody chose which is in which.

    Examples
    --------
    >>> disjoint_groups(np.array([[1.0], [3.0]]), np.array([0, 0]), np.array([7, 8], dtype=np.uint64)).spread.tolist()
    [[1.0], [1.0]]
    """
    centroid = group_means(z, group)
    if words is None:
        return Groups(centroid if shared is None else group_means(centroid, shared))
    spread = np.sqrt(group_means((z - centroid) ** 2, group))
    signature = _sums(scatter(words), group)
    if shared is not None:
        centroid, spread = group_means(centroid, shared), np.sqrt(group_means(spread**2, shared))
        signature = _sums(scatter(signature), shared)
    return Groups(centroid, spread, signature)


def _sums(words: Words, group: Ints) -> Words:
    """Sum of each group's words, modulo 2^64, for each of its points, shape (n,)."""
    total = np.zeros(int(group.max()) + 1 if len(group) else 0, dtype=np.uint64)
    np.add.at(total, group, words)
    return total[group]


@compiled
def _distances(x: Floats, left: int, centre: Floats, out: Floats) -> None:
    """Squared distances of the first `left` points to `centre`, column by column so that the loop vectorises."""
    out[:left] = 0.0
    for j in range(x.shape[0]):
        column = x[j]
        c = centre[j]
        for i in range(left):
            d = column[i] - c
            out[i] += d * d


@compiled
def _farthest(distance: Floats, left: int) -> int:
    best = 0
    for i in range(1, left):
        if distance[i] > distance[best]:
            best = i
    return best


@compiled
def _nearest(distance: Floats, left: int, count: int, taken: Bools, chosen: Ints) -> None:
    """Rows of the `count` smallest distances among those not taken, nearest first, into `chosen`."""
    found = 0
    worst = np.inf
    for i in range(left):
        d = distance[i]
        if taken[i] or (found == count and d >= worst):
            continue
        at = found if found < count else count - 1
        while at > 0 and distance[chosen[at - 1]] > d:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = i
        found = min(found + 1, count)
        worst = distance[chosen[found - 1]]


@compiled
def _compact(x: Floats, row: Ints, left: int, taken: Bools) -> int:
    """Close the gaps of taken points; the order of the others stays."""
    kept = 0
    for i in range(left):
        if not taken[i]:
            if kept < i:
                row[kept] = row[i]
                for j in range(x.shape[0]):
                    x[j, kept] = x[j, i]
            kept += 1
    taken[:left] = False
    return kept


@compiled
def _take(distance: Floats, left: int, k: int, taken: Bools, chosen: Ints, row: Ints, group: Ints, label: int) -> None:
    """Give `label` to the k nearest points."""
    _nearest(distance, left, k, taken, chosen)
    for c in range(k):
        taken[chosen[c]] = True
        group[row[chosen[c]]] = label


@compiled
def _mdav(points: Floats, k: int) -> Ints:
    p, n = points.shape
    x = points.copy()
    row = np.arange(n)
    group = np.empty(n, dtype=np.int64)
    distance = np.empty(n)
    taken = np.zeros(n, dtype=np.bool_)
    chosen = np.empty(k, dtype=np.int64)
    centre = np.empty(p)
    left = n
    label = 0
    while left >= 2 * k:
        for j in range(p):
            centre[j] = x[j, :left].mean()
        _distances(x, left, centre, distance)
        r = _farthest(distance, left)
        _distances(x, left, x[:, r].copy(), distance)
        s = _farthest(distance, left)
        _take(distance, left, k, taken, chosen, row, group, label)
        label += 1
        if left >= 3 * k:
            _distances(x, left, x[:, s].copy(), distance)
            _take(distance, left, k, taken, chosen, row, group, label)
            label += 1
        left = _compact(x, row, left, taken)
    for i in range(left):
        group[row[i]] = label
    return group
