"""Bounds by programs over the cells: linear, and with whole numbers."""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import Ends
from sfumato.kernels.tabular.corners import Corners, corners
from sfumato.progress import Progress, quiet
from sfumato.tables.axis import Axis
from sfumato.tables.bounds.released import Released

__all__ = ["LARGEST", "open_cells", "programs"]

Floats = NDArray[np.float64]

LARGEST = 5_000
"""Cells that are not known yet, above which programs are not tried: half a minute for 2,000, minutes for so many."""


def open_cells(told: Released, ends: Ends | None) -> float:
    """How many cells are not known yet."""
    if ends is None:
        return float(np.prod([float(n) for n in told.shape]))
    return float(np.sum(ends[0] < ends[1]))


def programs(
    told: Released,
    ends: Ends | None = None,
    *,
    integer: bool = True,
    effort: float = np.inf,
    progress: Progress = quiet,
) -> Corners:
    """Bound the cells by programs.

    Parameters
    ----------
    told
        What was released.
    ends
        Bounds that are known already; the shuttle's save most of the work.
    integer
        With whole cells: sharp ends. Otherwise those of linear programs, rounded inwards where cells are whole.

    effort
        What may be spent on sharp ends, in programs times cells.

    Raises
    ------
    DataError
        Where there are too many cells.
    """
    if open_cells(told, ends) > LARGEST:
        raise DataError(f"There are more than {LARGEST:,} cells to bound. Take the method shuttle or frechet.")
    low, high = ends if ends is not None else (np.zeros(told.shape), np.full(told.shape, np.inf))
    rows, least, most = _rows(told)
    return corners(
        rows,
        least,
        most,
        low.ravel(),
        high.ravel(),
        whole=told.whole,
        integer=integer,
        effort=effort,
        progress=progress,
    )


def _rows(told: Released) -> tuple[sp.csr_array, Floats, Floats]:
    """A row for each cell of a margin that is told; of known margins those that lie in no larger known one."""
    kept = [m for m in told.margins if m in told.known or not any(m & k == m for k in told.known)]
    flat = all(len(axis.relations) == 1 for axis in told.axes)
    kept = kept if flat else list(told.margins)
    if not flat or not told.plain:
        kept = list(told.margins)
    matrices, least, most = [], [], []
    for mask in sorted(kept):
        factors = [
            _membership(axis) if mask >> i & 1 else sp.csr_array(np.ones((1, len(axis.finest))))
            for i, axis in enumerate(told.axes)
        ]
        matrix = sp.csr_array(reduce(lambda a, b: sp.kron(a, b, format="csr"), factors))
        low, high = (end.ravel() for end in told.margins[mask])
        said = np.flatnonzero((low > 0) | np.isfinite(high))
        matrices.append(matrix[said])
        least.append(low[said])
        most.append(high[said])
    return sp.csr_array(sp.vstack(matrices)), np.concatenate(least), np.concatenate(most)


def _membership(axis: Axis) -> sp.csr_array:
    """A row for each code but `Total`: which finest codes it holds; shape (codes - 1, finest)."""
    place = {int(code): k for k, code in enumerate(axis.finest)}
    pairs = [(code - 1, place[int(f)]) for f in axis.finest for code in axis.above[int(f)] if code > 0]
    rows, columns = np.array(pairs).T
    return sp.csr_array((np.ones(len(pairs)), (rows, columns)), (len(axis.codes) - 1, len(axis.finest)))
