"""Blocks: a large stratum cut into compact pieces, so that neighbours are sought among fewer records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["blocks"]


def blocks(z: NDArray[np.float64], size: int, smallest: int) -> list[NDArray[np.int64]]:
    """Cut points at the median of their widest axis until no block holds more than `size`.

    A cut never runs through equal values, so that the blocks depend on the points alone and not on their order. A
    block that no axis can cut without leaving fewer than `smallest` on a side stays as it is.

    Parameters
    ----------
    z
        Points, shape (n, p), no NaN.
    size
        Most points in a block.
    smallest
        Fewest points in a block.

    Returns
    -------
    list of ndarray
        Row numbers of each block; together 0, …, n − 1.

    Examples
    --------
    >>> [b.tolist() for b in blocks(np.array([[1.0], [2.0], [3.0], [4.0]]), size=2, smallest=1)]
    [[0, 1], [2, 3]]
    """
    done: list[NDArray[np.int64]] = []
    todo = [np.arange(len(z), dtype=np.int64)]
    while todo:
        rows = todo.pop()
        halves = _halves(z, rows, smallest) if len(rows) > size else None
        if halves is None:
            done.append(rows)
        else:
            todo.extend(reversed(halves))
    return done


def _halves(z: NDArray[np.float64], rows: NDArray[np.int64], smallest: int) -> list[NDArray[np.int64]] | None:
    points = z[rows]
    widest_first = np.argsort(-np.ptp(points, axis=0), kind="stable")
    for axis in widest_first:
        values = np.sort(points[:, axis])
        cuts = np.flatnonzero(values[1:] > values[:-1]) + 1  # numbers of points on the left of each possible cut
        cuts = cuts[(cuts >= smallest) & (len(rows) - cuts >= smallest)]
        if len(cuts):
            cut = cuts[np.argmin(np.abs(2 * cuts - len(rows)))]
            left = points[:, axis] < values[cut]
            return [rows[left], rows[~left]]
    return None
