"""Transition matrices of the post-randomisation method (PRAM), and moving categories by them.

R has a row for each true category and a column for each released one; every row sums to 1. p are the shares of the
categories (the margin). A matrix is invariant for p where R'p = p: the margin is kept in expectation.

Source: Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Journal of Official Statistics 14, 463-478; van den Hout
and van der Heijden (2002), doi:10.1111/j.1751-5823.2002.tb00363.x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.grid import significant

__all__ = ["equal_spread", "invariant", "move"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def equal_spread(size: int, retention: float) -> Floats:
    """The matrix that keeps each category with probability `retention` and else takes any other, each as likely.

    Parameters
    ----------
    size
        Number of categories, L.
    retention
        Probability, 0 to 1. A single category always stays.

    Returns
    -------
    ndarray, shape (L, L)

    Examples
    --------
    >>> equal_spread(3, 0.5).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """
    if size == 1:
        return np.ones((1, 1))
    R = np.full((size, size), (1 - retention) / (size - 1))
    np.fill_diagonal(R, retention)
    return R


def invariant(p: Floats, retention: float) -> Floats | None:
    """The matrix R = (1 − λ)I + λ1p′ that keeps the margin p, and the share `retention` of cells, in expectation.

    λ = (1 − retention) / (1 − Σp²). Entries off the diagonal are rounded to 3 significant digits and the diagonal takes
    the remainder, so that R can be told: both are kept to that precision.

    Parameters
    ----------
    p
        Shares of the categories, shape (L,), sum 1.
    retention
        Expected share of cells that keep their category, 0 to 1.

    Returns
    -------
    ndarray of shape (L, L) or None
        The identity where p holds a single category. None where λ > 1: then more cells than `retention` keep their
        category even where each takes one anew from the margin.

    Examples
    --------
    >>> invariant(np.array([0.75, 0.25]), 0.8).tolist()
    [[0.867, 0.133], [0.4, 0.6]]
    """
    if np.count_nonzero(p) <= 1:
        return np.eye(len(p))
    lam = (1 - retention) / (1 - float(p @ p))
    if lam > 1 + 1e-12:
        return None
    column = np.array([significant(v) for v in lam * p])
    R = _with_remainder(column)
    if np.diagonal(R).min() < 0:  # λ near 1: rounding up left nothing for the diagonal of a rare category
        R = _with_remainder(np.array([_significant_down(v) for v in lam * p]))
    return R


def _with_remainder(column: Floats) -> Floats:
    """The matrix whose entries off the diagonal are those of `column`, shape (L,), in every row."""
    R = np.tile(column, (len(column), 1))
    np.fill_diagonal(R, np.round(1 - (column.sum() - column), 12))
    return R


def _significant_down(value: float) -> float:
    """Round down to 3 significant digits."""
    near = significant(value)
    if near <= value:
        return near
    unit = 10.0 ** (np.floor(np.log10(near)) - 2)
    return significant(near - unit)


def move(state: Ints, u: Floats, R: Floats) -> Ints:
    """Give each record its released category.

    Parameters
    ----------
    state
        True categories 0 … L − 1, shape (n,).
    u
        Uniform draws in (0, 1), shape (n,).
    R
        Transition matrix, shape (L, L). An entry of 0 is never taken.

    Returns
    -------
    ndarray, shape (n,), int64

    Examples
    --------
    >>> move(np.array([0, 0, 1]), np.array([0.1, 0.9, 0.9]), np.array([[0.8, 0.2], [0.0, 1.0]])).tolist()
    [0, 1, 1]
    """
    cumulative = np.cumsum(R, axis=1)
    cumulative /= cumulative[:, -1:]  # ends at exactly 1, so that u < 1 never passes the last category
    released = np.empty(len(state), dtype=np.int64)
    order = np.argsort(state, kind="stable")
    ends = np.searchsorted(state[order], np.arange(len(R) + 1))
    for i, row in enumerate(cumulative):
        rows = order[ends[i] : ends[i + 1]]
        released[rows] = np.searchsorted(row, u[rows], side="right")
    return released
