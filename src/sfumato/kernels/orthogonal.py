"""Columns of a design matrix, centred, scaled and made orthogonal, so that offsets and correlations cost no digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

__all__ = ["ALIASED", "Basis", "Columns", "basis_of", "centred", "orthogonal"]

Floats = NDArray[np.float64]

ALIASED = 1e-5
"""A column is left out where earlier columns explain all but this share of its spread (norm)."""
_ROWS = 1 << 14


@dataclass(frozen=True)
class Columns:
    """What a first look says of the columns.

    Parameters
    ----------
    n
        Rows.
    constant
        A column that is the same, not zero, in every row; None where there is none.
    middle
        What is taken off each column, shape (p,).
    scale
        What it is divided by then, shape (p,).
    """

    n: int
    constant: int | None
    middle: Floats
    scale: Floats


@dataclass(frozen=True)
class Basis:
    """The kept columns, centred, scaled and made orthogonal: E = (X[:, kept] − middle) @ turn.

    Parameters
    ----------
    kept
        Columns that earlier ones do not determine.
    middle, turn
        As above.
    back
        Coefficients of the kept columns of X are `back` times those of E.
    """

    kept: NDArray[np.int64]
    middle: Floats
    turn: Floats
    back: Floats

    def apply(self, X: Floats) -> Floats:
        """E of some rows."""
        kept = X if len(self.kept) == X.shape[1] else X[:, self.kept]
        return np.asarray((kept - self.middle) @ self.turn)


def centred(n: int, low: Floats, high: Floats, mean: Floats) -> Columns:
    """What to take off and divide by, from least, most and mean of each column.

    Examples
    --------
    >>> centred(2, np.array([1.0, 0.0]), np.array([1.0, 4.0]), np.array([1.0, 2.0])).middle.tolist()
    [0.0, 2.0]
    """
    flat = low == high
    constants = np.flatnonzero(flat & (low != 0))
    constant = int(constants[0]) if len(constants) else None
    middle = np.zeros(len(mean)) if constant is None else np.where(flat, low, mean)
    scale = np.maximum(np.abs(low - middle), np.abs(high - middle))
    scale[scale == 0] = 1.0
    if constant is not None:
        middle[constant], scale[constant] = 0.0, low[constant]
    return Columns(n, constant, middle, scale)


def orthogonal(blocks: Callable[[], Iterable[Floats]], columns: Columns) -> Basis:
    """Decompose the cross-products of the centred and scaled columns, leaving out the dependent ones.

    Parameters
    ----------
    blocks
        Gives all blocks of rows of X.
    columns
        What a first look said of them.

    Examples
    --------
    >>> X = np.column_stack([np.ones(3), [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    >>> orthogonal(lambda: [X], centred(3, X.min(0), X.max(0), X.mean(0))).kept.tolist()
    [0, 1]
    """
    p = len(columns.middle)
    products = np.zeros((p, p))
    for X in blocks():
        Z = (X - columns.middle) / columns.scale
        products += Z.T @ Z
    kept, L = _cholesky(products)
    triangle = scipy.linalg.solve_triangular(L, np.eye(len(kept)), lower=True).T * math.sqrt(columns.n)
    middle, scale = columns.middle[kept], columns.scale[kept]
    turn = triangle / scale[:, None]
    back = turn.copy()
    if columns.constant is not None:
        back[kept == columns.constant] -= (middle @ turn) / scale[kept == columns.constant]
    return Basis(kept, middle, turn, back)


def basis_of(X: Floats) -> Basis:
    """The same for one matrix of finite numbers, shape (n, p).

    Examples
    --------
    >>> X = np.column_stack([np.ones(3), [1.0, 2.0, 3.0]])
    >>> E = basis_of(X).apply(X)
    >>> bool(np.allclose(E.T @ E, 3 * np.eye(2)))
    True
    """
    n = len(X)
    columns = centred(n, X.min(axis=0), X.max(axis=0), X.sum(axis=0) / n)
    return orthogonal(lambda: (X[i : i + _ROWS] for i in range(0, n, _ROWS)), columns)


def _cholesky(products: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Independent columns in order, and the lower triangle of the Cholesky decomposition of their products."""
    p = len(products)
    L = np.zeros((p, p))
    kept: list[int] = []
    for j in range(p):
        k = len(kept)
        row = scipy.linalg.solve_triangular(L[:k, :k], products[kept, j], lower=True) if k else np.zeros(0)
        left = products[j, j] - row @ row
        if left > ALIASED**2 * products[j, j]:
            L[k, :k], L[k, k] = row, math.sqrt(left)
            kept.append(j)
    return np.array(kept, dtype=np.int64), L[: len(kept), : len(kept)]
