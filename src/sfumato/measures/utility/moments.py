"""Means, standard deviations and correlations before and after."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.moments import moments

__all__ = ["correlation", "findings", "mean_and_sd"]

Floats = NDArray[np.float64]


def mean_and_sd(values: Floats) -> tuple[float | None, float | None]:
    """Mean and standard deviation (divisor n − 1) of one column, the same whatever the order of the rows.

    Parameters
    ----------
    values : ndarray, shape (n,)
        NaN where missing.

    Returns
    -------
    mean, sd
        None where there is no value, or fewer than two.

    Examples
    --------
    >>> mean_and_sd(np.array([1.0, 2.0, np.nan, 3.0]))
    (2.0, 1.0)
    """
    n, mean, variance = moments(values[~np.isnan(values)])
    return (mean if n else None), (math.sqrt(variance) if n > 1 else None)


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's correlation of two columns over the rows that have both values, −1 to 1.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        NaN where missing.

    Returns
    -------
    float or None
        None where a column does not vary over these rows. The same to 1e-15 whatever the order of the rows.

    Examples
    --------
    >>> round(correlation(np.array([1.0, 2.0, 3.0]), np.array([6.0, 4.0, 2.0])), 9)
    -1.0
    """
    both = ~(np.isnan(x) | np.isnan(y))
    a, b = _unit(x[both]), _unit(y[both])
    if a is None or b is None:
        return None
    return float(np.clip(a @ b, -1.0, 1.0))


def _unit(x: Floats) -> Floats | None:
    """`x` centred and brought to length 1; None where it does not vary."""
    if len(x) < 2 or x.min() == x.max():
        return None
    centred = x - x.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.linalg.norm(centred))


def findings(pair: Pair) -> Findings:
    """Give `mean` and `sd` of each of the pair's columns and `correlation` of every two.

    The value is the release's, the baseline the original's. A correlation's variable is written `Age × Fare`.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    lines, notes = [], []
    before = [mean_and_sd(x) for x in pair.x.T]
    after = [mean_and_sd(z) for z in pair.z.T]
    for i, measure in enumerate(("mean", "sd")):
        for name, old, new in zip(pair.columns, before, after, strict=True):
            lines.append(Finding(measure, variable=name, value=new[i], baseline=old[i]))
    for name, old, new in zip(pair.columns, before, after, strict=True):
        if old[1] is None or new[1] is None:
            notes.append(f"Column {name!r} has too few values in one of the tables for a mean or a standard deviation.")
    for i, j in itertools.combinations(range(len(pair.columns)), 2):
        old_r, new_r = correlation(pair.x[:, i], pair.x[:, j]), correlation(pair.z[:, i], pair.z[:, j])
        variable = f"{pair.columns[i]} × {pair.columns[j]}"
        lines.append(Finding("correlation", variable=variable, value=new_r, baseline=old_r))
        if old_r is None or new_r is None:
            notes.append(f"{variable}: a column that does not vary has no correlation.")
    return Findings(tuple(lines), tuple(notes))
