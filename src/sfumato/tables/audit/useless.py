"""Hidden cells that could be published again without harm."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import Need, intervals
from sfumato.kernels.tabular.determined import motions
from sfumato.kernels.tabular.told import told
from sfumato.kernels.tabular.work import Work
from sfumato.tables.audit.insiders import Inside, found_exactly

__all__ = ["useless_cells"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def useless_cells(
    matrix: sp.csr_array,
    value: Floats,
    hidden: Bools,
    primary: Bools,
    levels: Need | None,
    lower: Floats | float,
    upper: Floats | float,
    inside: Inside | None = None,
    work: Work | None = None,
    *,
    whole: bool = False,
) -> Bools | None:
    """Secondary cells that can be published, all of them together, without harm to a primary one; None
    where the work ended before.

    With `inside` it is harm, too, if one who is alone in cells then finds a primary one. Of whole numbers (`whole`) it
    is harm if one number alone is then possible for a primary one.

    Cells are tried from the largest down (in their order where values are not known). Without true values, a cell is
    useless if the equations still determine no more primary cells than before.

    Examples
    --------
    >>> row, none = sp.csr_array([[1, 1, 1, 1, -1]]), np.full(5, np.nan)
    >>> hidden, primary = np.array([1, 1, 1, 0, 0]) > 0, np.array([1, 0, 0, 0, 0]) > 0
    >>> useless_cells(row, none, hidden, primary, None, 0.0, np.inf).tolist()
    [False, True, False, False, False]
    """
    known = not np.isnan(value[hidden]).any()
    work = Work() if work is None else work
    least = 1.0 if whole else 0.0
    state, useless = hidden.copy(), np.zeros(len(hidden), dtype=bool)
    lost = motions(matrix, hidden).determined & primary
    found = lost if inside is None else found_exactly(matrix, hidden, primary, inside)
    size = np.where(np.isnan(value), 0.0, value)
    tried = np.flatnonzero(hidden & ~primary)
    short = (
        _short(matrix, value, hidden, primary & hidden & ~lost, levels, (lower, upper), least, work) if known else None
    )
    free = _free(matrix, value, hidden, primary, (lower, upper), work) if whole and known else None
    for cell in tried[np.argsort(-size[tried], kind="stable")]:
        work.spend(int(state.sum()) // 10)  # what elimination costs, as iterations
        if work.over:
            return None
        state[cell] = False
        if ((motions(matrix, state).determined & primary) & ~lost).any():
            state[cell] = True
            continue
        if inside is not None and (found_exactly(matrix, state, primary, inside) & ~found).any():
            state[cell] = True
            continue
        if short is not None:
            worse = _short(matrix, value, state, primary & hidden & ~lost, levels, (lower, upper), least, work) & ~short
            if worse.any():
                state[cell] = True
                continue
        if free is not None and (free & ~_free(matrix, value, state, primary, (lower, upper), work)).any():
            state[cell] = True
            continue
        useless[cell] = True
    return None if work.over else useless


def _free(
    matrix: sp.csr_array,
    value: Floats,
    hidden: Bools,
    primary: Bools,
    bounds: tuple[Floats | float, Floats | float],
    work: Work,
) -> Bools:
    """Primary cells for which two whole numbers are possible, all hidden cells being whole."""
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), value.shape) for end in bounds)
    return primary & told(matrix, value, hidden, low, high, primary, truth=value, work=work).free


def _short(
    matrix: sp.csr_array,
    value: Floats,
    hidden: Bools,
    primary: Bools,
    levels: Need | None,
    bounds: tuple[Floats | float, Floats | float],
    width: float,
    work: Work,
) -> Bools:
    """Primary cells that do not reach their levels, or have no width where none is asked for."""
    none = np.zeros(len(value))
    given = (none,) * 3 if levels is None else (levels.lower, levels.upper, levels.sliding)
    down, up, wide = (np.where(primary, level, 0.0) for level in given)
    lax = primary & (down <= 0) & (up <= 0) & (wide <= 0)
    least = np.where(lax, np.maximum(width, 1e-6 * np.maximum(np.abs(value), 1e-9)), 0.0)
    lower, upper = bounds
    known = np.where(hidden, np.maximum(value, lower), value)
    reach = Need(down, up, np.maximum(least, wide))
    found = intervals(matrix, known, hidden, lower, upper, np.flatnonzero(primary), need=reach, work=work)
    slack = 1e-9 * np.nanmax(np.abs(value), initial=0.0)
    short = (
        (value - found.low < down - slack) | (found.high - value < up - slack) | (found.high - found.low < wide - slack)
    )
    return np.asarray(primary & (short | (found.high - found.low < least * (0.99 if width else 0.5))))
