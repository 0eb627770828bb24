"""Microaggregation of one column without a better one: groups of at least k, cut from the sorted values.

Source: Hansen and Mukherjee (2003), doi:10.1109/TKDE.2003.1209020. The best groups are intervals of the sorted values,
of k to 2k − 1 each, so that they are a shortest path. The same cut of any order of points (Domingo-Ferrer,
Martínez-Ballesté, Mateo-Sanz and Sebé 2006, doi:10.1007/s00778-006-0007-0) is where `variable` begins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["cut_path", "optimal"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def optimal(x: Floats, k: int) -> Ints:
    """Group values so that no other groups of at least k have a smaller sum of squares within.

    Parameters
    ----------
    x
        Values, shape (n,), n ≥ 1, no NaN. Of equal ones the lower row goes to the lower group.
    k
        Fewest values in a group, at least 1; with n < 2k all values are one group.

    Returns
    -------
    ndarray, shape (n,), int64
        Group of each value, 0, 1, … upwards. Time grows as n (log n + k).

    Examples
    --------
    >>> optimal(np.array([1.0, 9.0, 2.0, 10.0, 3.0]), 2).tolist()
    [0, 1, 0, 1, 0]
    """
    order = np.argsort(x, kind="stable")
    group = np.empty(len(x), dtype=np.int64)
    group[order] = cut_path(np.ascontiguousarray(x[order, None], dtype=np.float64), k)
    return group


def cut_path(z: Floats, k: int) -> Ints:
    """Cut points that stand in a row into groups of at least k, so that the sum of squares within is least.

    Parameters
    ----------
    z
        Points in the order of the path, shape (n, p), n ≥ 1, no NaN.
    k
        Fewest points in a group, at least 1.

    Returns
    -------
    ndarray, shape (n,), int64
        Group of each point, 0, 1, … along the path.

    Examples
    --------
    >>> cut_path(np.array([[0.0], [0.1], [5.0], [5.1], [5.2]]), 2).tolist()
    [0, 0, 1, 1, 1]
    """
    return np.asarray(_cut(np.ascontiguousarray(z, dtype=np.float64), k))


@compiled
def _cut(z: Floats, k: int) -> Ints:
    """Shortest path: a group ends before i and begins at `start[i]`; its loss is summed backwards, point by point."""
    n, p = z.shape
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    start = np.zeros(n + 1, dtype=np.int64)
    mean = np.empty(p)
    for i in range(min(k, n), n + 1):
        mean[:] = 0.0
        loss = 0.0
        for m in range(1, min(2 * k - 1, i) + 1):
            squared = 0.0
            for j in range(p):
                d = z[i - m, j] - mean[j]
                squared += d * d
                mean[j] += d / m
            loss += squared * (m - 1) / m
            if m >= min(k, n) and least[i - m] + loss < least[i]:
                least[i] = least[i - m] + loss
                start[i] = i - m
    return _labels(start)


@compiled
def _labels(start: Ints) -> Ints:
    """Number the groups along the path."""
    n = len(start) - 1
    groups = 0
    i = n
    while i > 0:
        i = start[i]
        groups += 1
    group = np.empty(n, dtype=np.int64)
    i = n
    while i > 0:
        groups -= 1
        group[start[i] : i] = groups
        i = start[i]
    return group
