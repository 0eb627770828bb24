"""Columns of a regression: scaled, none that others determine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scaling", "root_of", "scaled"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_OWN = 1e-4
"""Share of its variance that a column must have beyond the columns before it."""


@dataclass(frozen=True)
class Scaling:
    """How columns are brought to mean 0 and variance 1, and which of them stay.

    Parameters
    ----------
    kept : ndarray of int64, shape (q,)
        The columns that vary, and are not determined by those before them.
    mean, spread : ndarray of float64, shape (q,)
        Of these.
    """

    kept: Ints
    mean: Floats
    spread: Floats

    def of(self, X: Floats) -> Floats:
        """The columns that stay, scaled, shape (k, q); `X` has shape (k, p)."""
        return np.asarray((X[:, self.kept] - self.mean) / self.spread)


def scaled(X: Floats) -> tuple[Scaling, Floats]:
    """Learn a scaling, and apply it.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns without a constant one.

    Returns
    -------
    tuple
        The scaling, and the columns that stay, shape (n, q).

    Notes
    -----
    A column stays where at least 10⁻⁴ of its variance is its own: a regression on two columns that are nearly one has
    coefficients that hold nothing but noise, which draws would carry to wherever the two differ.

    Examples
    --------
    >>> scaling, Z = scaled(np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [3.0, 5.0, 6.0]]))
    >>> scaling.kept.tolist(), Z.round(3).ravel().tolist()
    ([0], [-1.225, 0.0, 1.225])
    """
    n = len(X)
    mean = X.mean(axis=0) if n else np.zeros(X.shape[1])
    spread = X.std(axis=0) if n else np.zeros(X.shape[1])
    varied = np.flatnonzero(spread > 1e-9 * np.maximum(1.0, np.abs(mean)))
    Z = (X[:, varied] - mean[varied]) / spread[varied]
    own = _independent(Z.T @ Z / max(n, 1))
    kept = varied[own]
    return Scaling(kept, mean[kept], spread[kept]), Z if len(own) == len(varied) else Z[:, own]


def root_of(information: Floats) -> Floats:
    """Lower triangle L with LLᵀ a symmetric matrix; of one that rounding errors made singular, with a ridge.

    Examples
    --------
    >>> root_of(np.array([[4.0, 2.0], [2.0, 1.0]])).round(3).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """
    ridge = 1e-12 * max(float(information.trace()), 1e-300)
    while True:
        try:
            return np.asarray(np.linalg.cholesky(information + ridge * np.eye(len(information))), dtype=np.float64)
        except np.linalg.LinAlgError:
            ridge *= 100


def _independent(correlation: Floats) -> Ints:
    """The columns that those before them do not determine, by elimination in order."""
    left, kept = correlation.copy(), []
    for j in range(len(left)):
        if left[j, j] < _OWN:
            continue
        kept.append(j)
        along = left[j] / np.sqrt(left[j, j])
        left -= np.outer(along, along)
    return np.array(kept, dtype=np.int64)
