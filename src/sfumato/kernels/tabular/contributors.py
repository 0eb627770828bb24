"""Of cells that many contribute to, what their rules look at: totals, how many there are, and the largest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.tabular.sensitivity import Contributors

__all__ = ["contributors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.signedinteger[Any]]


@compiled
def _rank(cell: Places, size: Floats, times: Ints, largest: Floats) -> None:
    ranks = largest.shape[1]
    for i in range(len(cell)):
        own = cell[i]
        for _ in range(min(times[i], ranks)):
            if size[i] <= largest[own, ranks - 1]:
                break
            at = ranks - 1
            while at > 0 and largest[own, at - 1] < size[i]:
                largest[own, at] = largest[own, at - 1]
                at -= 1
            largest[own, at] = size[i]


def contributors(cell: Places, size: Floats, times: Ints | None, cells: int, ranks: int) -> tuple[Contributors, Ints]:
    """What is known of cells, and the numbers of those that somebody contributes to.

    Parameters
    ----------
    cell
        The cell of each line.
    size
        What each of its people contributes, at least 0.
    times
        How many people a line stands for; one where it is None.
    cells
        How many cells there are.
    ranks
        How many of the largest are wanted.

    Examples
    --------
    >>> told, held = contributors(np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]), np.array([4, 1, 1]), 3, 2)
    >>> held.tolist(), told.total.tolist(), told.count.tolist(), told.largest.tolist()
    ([0, 2], [5.0, 7.0], [1.0, 5.0], [[5.0, 0.0], [3.0, 1.0]])
    """
    many = np.ones(len(cell), dtype=np.int64) if times is None else times
    count: Floats = np.bincount(cell, weights=many, minlength=cells).astype(np.float64)
    total: Floats = np.bincount(cell, weights=size * many, minlength=cells).astype(np.float64)
    largest = np.zeros((cells, ranks))
    _rank(cell, size, many, largest)
    held = np.flatnonzero(count > 0)
    return Contributors(total[held], count[held], largest[held]), held
