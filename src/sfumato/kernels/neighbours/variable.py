"""Microaggregation with groups of variable size: a path through the points, cut at its best, then improved.

Source of the path and its cut: Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé (2006),
doi:10.1007/s00778-006-0007-0. What improves the groups then was found by trying.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from sfumato.kernels.neighbours.blocks import blocks
from sfumato.kernels.neighbours.optimal import cut_path, optimal
from sfumato.kernels.neighbours.variable_loops import begin, dissolve, exchange, nearest_path, recut

__all__ = ["variable"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]

_LONGEST_PATH = 16_384
"""Different points through which one path goes; its time grows with their square."""
_BEYOND, _MOST = 5, 64
"""Nearest points whose groups are tried: 2k and so many more, but not above the second."""
_ROUNDS = 100
"""Rounds of improvement: a bound that is not met, since each gains by more than rounding."""


def variable(z: Floats, k: int) -> Ints:
    """Group points into groups of k to 2k − 1 with a small sum of squares within.

    A path goes from the point farthest from the centroid to the nearest that it has not yet seen, and is cut into the
    groups that lose least. Then points move to a nearby group where theirs can spare them, two change places, two
    neighbouring groups are divided anew, and groups are dissolved into their neighbours, whichever gains, until nothing
    does; a group that reaches 2k is split. One column is grouped by `optimal`.

    Parameters
    ----------
    z
        Points, shape (n, p), n ≥ 1, no NaN. Ties go to the lower row, so the caller fixes the order of rows.
    k
        Fewest points in a group, at least 1; with n < 2k all points are one group.

    Returns
    -------
    ndarray, shape (n,), int64
        Group of each point, 0, 1, …

    Examples
    --------
    >>> variable(np.array([[0.0, 0.0], [0.0, 0.1], [5.0, 5.0], [5.0, 5.1], [5.1, 5.0]]), 2).tolist()
    [0, 0, 1, 1, 1]
    """
    n, p = z.shape
    if p == 1:
        return optimal(z[:, 0], k)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    if k == 1:
        return np.arange(n, dtype=np.int64)
    z = np.ascontiguousarray(z, dtype=np.float64)
    order = np.lexsort(z.T[::-1])  # equal points stand side by side, the lower row first
    new = np.ones(n, dtype=bool)
    new[1:] = (z[order[1:]] != z[order[:-1]]).any(axis=1)
    first = order[new]
    which = np.empty(n, dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    path = _path(z[first])
    rank = np.empty(len(path), dtype=np.int64)
    rank[path] = np.arange(len(path))
    row = np.argsort(rank[which], kind="stable")
    group = np.empty(n, dtype=np.int64)
    group[row] = cut_path(z[row], k)
    return _improved(z, k, group, _near(z[first], k, first), which)


def _path(points: Floats) -> Ints:
    """Order in which a path goes through different points; block after block where they are many."""
    parts = blocks(points, _LONGEST_PATH, 1)
    return np.concatenate([rows[nearest_path(np.ascontiguousarray(points[rows].T))] for rows in parts])


def _near(points: Floats, k: int, first: Ints) -> Small:
    """Rows of the points nearest to each of the different points, itself first, shape (m, about 2k)."""
    count = min(2 * k + _BEYOND, _MOST, len(points))
    _, near = cKDTree(points).query(points, k=np.arange(1, count + 1))
    return first[near].astype(np.int32)


def _improved(z: Floats, k: int, group: Ints, near: Small, which: Ints) -> Ints:
    """Improve groups until nothing gains."""
    parts = begin(z, k, group)
    for _ in range(_ROUNDS):
        exchange(parts, near, which)
        if not recut(parts, near, which) + dissolve(parts, near, which):
            break
    _, found = np.unique(parts.group, return_inverse=True)
    return found.astype(np.int64)
