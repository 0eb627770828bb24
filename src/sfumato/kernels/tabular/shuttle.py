"""The generalised shuttle: bounds of all cells of all margins narrow each other until nothing moves.

Reference: Dobra & Fienberg (2008), The generalized shuttle algorithm, working paper 83 of the Center for Statistics and
the Social Sciences, University of Washington.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.programme import Contradiction

__all__ = ["Sums", "shuttle"]

Floats = NDArray[np.float64]
Sums = Sequence[tuple[int, Sequence[int]]]
"""Of a variable, every total and its parts, as places along its axis."""

_CLOSE = 1e-9
_SWEEPS = 500


def shuttle(low: Floats, high: Floats, sums: Sequence[Sums], sweeps: int = _SWEEPS) -> tuple[Floats, Floats]:
    """Narrow the bounds of every cell by those of its totals and of its neighbours.

    Parameters
    ----------
    low, high
        Bounds of the cells of the table and all its margins: an axis for each variable, with a place for each code,
        the total among them. `high` may be infinite.
    sums
        For each axis, what adds up.
    sweeps
        At most so many times through all of it; bounds hold wherever it stops.

    Returns
    -------
    tuple
        The narrowed bounds: sharp for decomposable margins and where one number is free, else from outside.

    Raises
    ------
    Contradiction
        Where nothing is left for a cell.

    Examples
    --------
    >>> low, high = np.zeros((3, 3)), np.full((3, 3), np.inf)
    >>> low[0], low[:, 0] = [10, 6, 4], [10, 7, 3]
    >>> high[0], high[:, 0] = low[0], low[:, 0]
    >>> low, high = shuttle(low, high, [[(0, [1, 2])]] * 2)
    >>> low[1:, 1:].tolist(), high[1:, 1:].tolist()
    ([[3.0, 1.0], [0.0, 0.0]], [[6.0, 4.0], [3.0, 3.0]])
    """
    low, high = low.astype(float), high.astype(float)
    slack = _CLOSE * max(1.0, float(np.max(high[np.isfinite(high)], initial=0.0)))
    for _ in range(sweeps):
        moved = False
        for axis, own in enumerate(sums):
            down, up = np.moveaxis(low, axis, 0), np.moveaxis(high, axis, 0)
            for total, parts in own:
                moved |= _narrowed(down, up, total, list(parts), slack)
        if np.any(low > high + 10 * slack):
            raise Contradiction
        if not moved:
            break
    return np.minimum(low, high), high


def _narrowed(low: Floats, high: Floats, total: int, parts: list[int], slack: float) -> bool:
    """Narrow a total by its parts and the parts by it; tell whether anything moved."""
    least, most = low[parts], high[parts]
    under, endless = least.sum(axis=0), np.isinf(most)
    finite = np.where(endless, 0.0, most)
    over, open_ = finite.sum(axis=0), endless.sum(axis=0)
    new_low = np.maximum(low[total], under)
    new_high = np.minimum(high[total], np.where(open_ > 0, np.inf, over))
    # what a part can be when all others are at their other ends
    others = np.where(open_ - endless > 0, np.inf, over - finite)
    part_low = np.maximum(least, new_low - others)
    part_high = np.minimum(most, new_high - (under - least))
    moved = bool(np.any(part_low > least + slack) or np.any(_further(most, part_high, slack)))
    moved |= bool(np.any(new_low > low[total] + slack) or np.any(_further(high[total], new_high, slack)))
    low[total], high[total], low[parts], high[parts] = new_low, new_high, part_low, part_high
    return moved


def _further(before: Floats, after: Floats, slack: float) -> NDArray[np.bool_]:
    return np.asarray(after < np.where(np.isinf(before), np.inf, before - slack))
