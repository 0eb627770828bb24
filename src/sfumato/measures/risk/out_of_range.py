"""Impossible values: what lies outside the range that a variable can have."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import numbers

__all__ = ["findings", "out_of_range"]


def out_of_range(values: NDArray[np.float64], low: float | None, high: float | None) -> float | None:
    """Share of values below `low` or above `high`.

    A negative age tells every reader that the value is not a true one, and breaks analyses that take logarithms or
    roots. It is a matter of quality more than of secrecy.

    Parameters
    ----------
    values : ndarray, shape (n,)
        NaN where missing; missing values do not count.
    low, high
        Lowest and highest possible value; None where there is no bound.

    Returns
    -------
    float or None
        Between 0 and 1; None where there is no value.

    Examples
    --------
    >>> out_of_range(np.array([-1.0, 30.0, 40.0, np.nan, 130.0]), 0, 120)
    0.5
    """
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    outside = np.zeros(values.shape, dtype=bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    return float(outside.mean())


def findings(frame: pl.DataFrame, codebook: Codebook, *, before: pl.DataFrame | None = None) -> Findings:
    """Give one line `out_of_range` for each numeric column with a `range` in the codebook.

    Parameters
    ----------
    frame
        The table as it is, or as it is to be released.
    codebook
        Holds the ranges and the codes that stand for missing.
    before
        The original table; its share is the baseline. The two need not be joined.
    """
    lines, notes = [], []
    for name, variable in codebook.items():
        if variable.range is None or name not in frame.columns:
            continue
        if not frame.schema[name].is_numeric():
            notes.append(f"Column {name!r} has a range but is not numeric: values out of range were not counted.")
            continue
        value = out_of_range(numbers(frame, [name], codebook)[:, 0], *variable.range)
        baseline = None
        if before is not None and name in before.columns and before.schema[name].is_numeric():
            baseline = out_of_range(numbers(before, [name], codebook)[:, 0], *variable.range)
        if value is None:
            notes.append(f"Column {name!r} holds no value to compare with its range.")
        lines.append(Finding("out_of_range", variable=name, value=value, baseline=baseline))
    return Findings(tuple(lines), tuple(notes))
