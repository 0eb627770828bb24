"""Whether cells of a table of sums can be as large as a rule asks, for who knows margins, and which cells are empty.

What a rule asks of a cell is more than it has where it is sensitive. A table that is found on the way shows it of many
cells at once; a margin whose cells around it hold too little refutes it at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.programme import Contradiction, Programme
from sfumato.kernels.tabular.work import Work, WorkEnded

__all__ = ["can_reach"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SCALE = 1e5
_NEAR = 1e-9
_BEGINNING = 10
"""To ask for one more program costs as much as so many iterations."""


def can_reach(true: Floats, margins: Sequence[Ints], cells: sp.csr_array, wanted: Floats, work: Work) -> bool | None:
    """Whether each of some unions of cells can be so large; None where the work ends before that is known.

    Parameters
    ----------
    true
        What each open cell has, at least 0; all others are known to be empty.
    margins
        Of each known margin the number of the cell of it that each open cell lies in.
    cells
        The unions, a line for each, shape (unions, open cells).
    wanted
        How large each must be able to be.
    work
        What all the programs may cost.

    Examples
    --------
    Two rows and two columns of which only three cells are open: the sums tell every cell.

    >>> margins = [np.array([0, 0, 1]), np.array([0, 1, 1])]
    >>> can_reach(np.array([3.0, 4.0, 5.0]), margins, sp.csr_array(np.eye(3)[:1]), np.array([3.3]), Work())
    False
    >>> margins = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> can_reach(np.array([3.0, 4.0, 5.0, 6.0]), margins, sp.csr_array(np.eye(4)[:1]), np.array([7.0]), Work())
    True
    """
    total = float(true.sum())
    if not len(wanted) or total <= 0:
        return True
    own = true * (_SCALE / total)
    least = np.asarray(wanted * (_SCALE / total), dtype=np.float64) - _NEAR * _SCALE
    sums: list[Floats] = [np.bincount(margin, weights=own).astype(np.float64) for margin in margins]
    if (_around(cells, margins, sums) < least).any():
        return False
    if not margins:
        return True
    start, rows = 0, []
    for margin in margins:
        rows.append(margin + start)
        start += int(margin.max()) + 1
    places = np.concatenate(rows), np.tile(np.arange(len(own)), len(margins))
    matrix = sp.csr_array((np.ones(len(places[0])), places), shape=(start, len(own)))
    right = np.concatenate(sums)
    programme = Programme(matrix, right, right, np.zeros(len(own)), np.full(len(own), np.inf), work)
    left = np.ones(len(wanted), dtype=bool)
    try:
        for at in np.argsort(-(least - cells @ own), kind="stable").tolist():
            if not left[at]:
                continue
            inside = cells.indices[cells.indptr[at] : cells.indptr[at + 1]].astype(np.int64)
            work.spend(_BEGINNING)
            table = programme.least(inside, np.full(len(inside), -1.0))
            if table is None:
                return None
            if table[inside].sum() < least[at]:
                return False
            left &= cells @ np.maximum(table, 0.0) < least
            left[at] = False
    except (WorkEnded, Contradiction):
        return None
    return True


def _around(cells: sp.csr_array, margins: Sequence[Ints], sums: Sequence[Floats]) -> Floats:
    """What the cells of each margin around each union have together: it can be no more than the least of these."""
    out = np.full(cells.shape[0], np.inf)
    for margin, own in zip(margins, sums, strict=True):
        groups = sp.csr_array((np.ones(len(margin)), (np.arange(len(margin)), margin)), shape=(len(margin), len(own)))
        touched = sp.csr_array(cells @ groups)
        touched.data[:] = 1.0
        np.minimum(out, touched @ own, out=out)
    return out
