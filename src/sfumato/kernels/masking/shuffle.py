"""Draw scores anew given others, so that columns can be put into another order in which relations stay.

Source: Muralidhar and Sarathy (2006), Data shuffling: a new masking approach for numerical data, Management Science 52,
doi:10.1287/mnsc.1050.0503. Added: values that tie, and missing ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_scores", "explained", "normal_scores"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_NONE = 1e-12
"""Variance of scores that is no more than rounding."""


def normal_scores(x: Floats) -> tuple[Floats, float]:
    """Give each value the normal quantile of its rank, standardised; equal values share the mean of theirs.

    Parameters
    ----------
    x
        Values, shape (n,), NaN where one is missing.

    Returns
    -------
    scores : ndarray, shape (n,)
        With mean 0 and variance 1; 0 where all values are equal, NaN where one is missing.
    kept : float
        Standard deviation of shared scores as a share of that of scores which nobody shares: their correlation with a
        normal variable that is cut into these values. 1 without ties.

    Examples
    --------
    >>> scores, kept = normal_scores(np.array([5.0, 1.0, 9.0]))
    >>> scores.round(3).tolist(), kept
    ([0.0, -1.225, 1.225], 1.0)
    """
    from scipy.special import ndtri

    scores = np.full(len(x), np.nan)
    there = ~np.isnan(x)
    n = int(there.sum())
    if n == 0:
        return scores, 1.0
    single = ndtri(np.arange(1, n + 1) / (n + 1))
    _, which, count = np.unique(x[there], return_inverse=True, return_counts=True)
    shared = np.add.reduceat(single, np.concatenate([[0], np.cumsum(count)[:-1]])) / count
    variance = float((shared**2 * count).sum())
    if variance <= _NONE * n:
        scores[there] = 0.0
        return scores, 1.0
    scores[there] = (shared / np.sqrt(variance / n))[which]
    kept = 1.0 if len(count) == n else float(np.sqrt(variance / (single**2).sum()))
    return scores, kept


def explained(scores: Floats, kept: float, given: Floats) -> tuple[Floats, float]:
    """Regress a column's scores on others, as the normal variable behind them would be.

    Parameters
    ----------
    scores
        As from `normal_scores`, shape (n,).
    kept
        As from there.
    given
        What is given, shape (n, q), with mean 0 in each column; no NaN.

    Returns
    -------
    fitted : ndarray, shape (n,)
        Expected scores given the others, for every row.
    share : float
        Their variance where there is a score, from 0 up: 1 and above where the others tell all.

    Examples
    --------
    >>> s = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> [round(v, 3) for v in (explained(s, 1.0, s[:, None])[1], explained(s, 1.0, np.empty((4, 0)))[1])]
    [1.0, 0.0]
    """
    there = ~np.isnan(scores)
    if not there.any() or not given.shape[1]:
        return np.zeros(len(scores)), 0.0
    slope = np.linalg.lstsq(given[there], scores[there], rcond=1e-10)[0] / kept
    fitted = given @ slope
    return fitted, float((fitted[there] ** 2).mean())


def draw_scores(scores: Floats, kept: Floats, given: Floats, z: Floats) -> Floats:
    """Draw scores of several columns anew from their normal law given others.

    A new score hangs on the record's own values only through the law, which all records share: given that, it tells
    nothing of them.

    Parameters
    ----------
    scores
        As from `normal_scores`, shape (n, p).
    kept
        As from there, shape (p,).
    given
        What is given, shape (n, q), with mean 0 in each column; no NaN.
    z
        Independent standard normal draws, shape (n, p).

    Returns
    -------
    ndarray, shape (n, p)
        Of variance about 1; also where there was no score.

    Examples
    --------
    >>> z = np.array([[0.5], [-0.5]])
    >>> draw_scores(np.array([[1.0], [-1.0]]), np.ones(1), np.empty((2, 0)), z).tolist()
    [[0.5], [-0.5]]
    """
    p = scores.shape[1]
    fitted = np.column_stack([explained(scores[:, j], float(kept[j]), given)[0] for j in range(p)])
    left = np.eye(p)
    for j in range(p):
        for k in range(j + 1):
            both = ~np.isnan(scores[:, j]) & ~np.isnan(scores[:, k])
            if j == k:
                total = 1.0
            elif both.any():
                total = float((scores[both, j] * scores[both, k]).mean() / (kept[j] * kept[k]))
            else:
                total = 0.0
            told = float((fitted[both, j] * fitted[both, k]).mean()) if both.any() else 0.0
            left[j, k] = left[k, j] = total - told
    return np.asarray(fitted + z @ _root(left).T)


def _root(covariance: Floats) -> Floats:
    """A root of a covariance matrix; what is below zero, by pairs of missing values or by ties, counts as zero.

    Symmetric, so that it does not hang on the signs of eigenvectors.
    """
    value, vector = np.linalg.eigh(covariance)
    root = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
    return np.asarray(root)
