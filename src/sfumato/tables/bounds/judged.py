"""How small cells fare under bounds, for the custodian who has the true table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.tables.bounds.bound import Bounds
from sfumato.tables.sap import attribution, table_of_counts
from sfumato.tables.table import Table

__all__ = ["judged"]


def judged(found: Bounds, true: Table, small: int = 3, known: int | None = None) -> dict[str, Any]:
    """Tell how the cells with small true counts are bounded.

    Parameters
    ----------
    found
        Bounds from what was released.
    true
        The table itself, of the same variables.
    small
        Counts from 1 to this are small.
    known
        How many people somebody knows: attribution by subtraction, reconstructed, before and after.

    Returns
    -------
    dict
        `small`: their number, how many are told exactly, the narrowest width, and `outside`, the number of all cells
        that are not within their bounds; `attribution`, where it is asked for.

    Raises
    ------
    DataError
        Other variables or codes; values that are no counts.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.tables.bounds.bound import bounds
    >>> rows = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["x", "y", "x", "y"], "count": [5, 1, 4, 2]})
    >>> ends = bounds([Table.of(rows.group_by(v).agg(pl.col("count").sum())) for v in "ab"])
    >>> judged(ends, Table.of(rows))["small"]
    {'at_most': 3, 'cells': 2, 'exact': 0, 'narrowest': 3.0, 'outside': 0}
    """
    counts = _aligned(found, true)
    width = found.high - found.low
    few = (counts > 0) & (counts <= small)
    out: dict[str, Any] = {
        "small": {
            "at_most": small,
            "cells": int(few.sum()),
            "exact": int(np.sum(few & (width == 0))),
            "narrowest": float(width[few].min()) if few.any() and np.isfinite(width[few].min()) else None,
            "outside": int(np.sum((counts < found.low) | (counts > found.high))),
        }
    }
    if known is not None:
        if out["small"]["outside"]:
            raise DataError("The table given with --against is not the one that was released: cells lie outside.")
        out["attribution"] = attribution(counts, known, upper=found.high).to_plain()
    return out


def _aligned(found: Bounds, true: Table) -> NDArray[np.int64]:
    """True counts in the order of the bounds."""
    counts, names = table_of_counts(true)
    if set(names) != {axis.name for axis in found.axes}:
        raise DataError("The true table has other variables than the released ones have together.")
    order = [names.index(axis.name) for axis in found.axes]
    counts = np.transpose(counts, order)
    out = np.zeros(found.low.shape, dtype=np.int64)
    places = []
    for axis, at in zip(found.axes, order, strict=True):
        own = [true.axes[at].codes[i] for i in true.axes[at].finest]
        place = {axis.codes[i]: k for k, i in enumerate(axis.finest)}
        if any(code not in place for code in own):
            raise DataError(f"The true table has codes of {axis.name!r} that no released one has.")
        places.append([place[code] for code in own])
    out[np.ix_(*places)] = counts
    return out
