"""Attacking tables whose totals miss the sums of their parts by rounding.

The attacker takes the equations for exact, all but what they must miss for any table to be possible. That is more than
he can know, so it hides nothing; to take the whole tolerance for room would call a determined cell a protected one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import Intervals, intervals
from sfumato.kernels.tabular.residuals import residuals
from sfumato.kernels.tabular.work import Work
from sfumato.progress import Progress, quiet
from sfumato.tables.equations import System

__all__ = ["attacked"]

_OF_CELLS = ("low", "high", "seen_low", "seen_high", "sharp")

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def attacked(
    system: System,
    bounds: tuple[Floats, Floats],
    allowed: float = 0.0,
    work: Work | None = None,
    progress: Progress = quiet,
) -> Intervals:
    """Intervals of the cells without a value, from those that have one.

    Parameters
    ----------
    system
        The cells; hidden ones have no value.
    bounds
        What is known of each cell before.
    allowed
        By how much sums may miss.
    work
        What the programs may cost.
    progress
        Told how far it is.

    Examples
    --------
    The parts are 10 and something hidden, of 9 in all: the total was rounded, and what is hidden is next to nothing.

    >>> system = System(sp.csr_array([[1, 1, -1]]), np.array([10.0, np.nan, 9.0]))
    >>> found = attacked(system, (np.zeros(3), np.full(3, np.inf)), 1.0)
    >>> found.low.tolist(), found.high.tolist()
    ([10.0, 0.0, 9.0], [10.0, 0.0, 9.0])
    """
    hidden = np.isnan(system.value)
    matrix, value, count = system.matrix, system.value, system.size
    low, high = bounds
    if allowed > 0 and hidden.any():
        missed = residuals(matrix, value, hidden, low, high, allowed)
        rows = np.flatnonzero(missed)
        if len(rows):  # what an equation misses is one more cell of it, and published
            ones = sp.coo_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(matrix.shape[0], len(rows)))
            matrix = sp.csr_array(sp.hstack([matrix, ones], format="csr"))
            value, hidden = np.append(value, missed[rows]), np.append(hidden, np.zeros(len(rows), dtype=bool))
            low, high = np.append(low, missed[rows]), np.append(high, missed[rows])
    found = intervals(matrix, value, hidden, low, high, work=work, progress=progress)
    return replace(found, **{name: getattr(found, name)[:count] for name in _OF_CELLS})
