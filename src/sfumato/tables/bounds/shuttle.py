"""Bounds by the generalised shuttle: all cells of all margins narrow each other."""

from __future__ import annotations

import numpy as np

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import Ends
from sfumato.kernels.tabular.margins import bits
from sfumato.kernels.tabular.shuttle import shuttle as narrow
from sfumato.tables.bounds.released import Released

__all__ = ["LARGEST", "cells_and_totals", "shuttle"]

LARGEST = 3_000_000
"""Cells and totals above which the shuttle is not tried."""


def cells_and_totals(told: Released) -> float:
    """How many cells the table has with all its margins."""
    return float(np.prod([float(len(axis.codes)) for axis in told.axes]))


def shuttle(told: Released) -> Ends:
    """Bound the cells by passing bounds to and fro between them and their totals.

    Sharp for decomposable margins; otherwise from outside, and often close.

    Raises
    ------
    DataError
        Where the table with its margins is too large.
    """
    if cells_and_totals(told) > LARGEST:
        raise DataError(f"With all margins there are more than {LARGEST:,} cells. Take the method frechet.")
    shape = [len(axis.codes) for axis in told.axes]
    low, high = np.zeros(shape), np.full(shape, np.inf)
    for mask, (least, most) in told.margins.items():
        held = bits(mask)
        where = np.ix_(*(range(1, n) if i in held else [0] for i, n in enumerate(shape)))
        full = [n - 1 if i in held else 1 for i, n in enumerate(shape)]
        low[where], high[where] = least.reshape(full), most.reshape(full)
    low, high = narrow(low, high, [axis.relations for axis in told.axes])
    fine = np.ix_(*(axis.finest for axis in told.axes))
    return low[fine], high[fine]
