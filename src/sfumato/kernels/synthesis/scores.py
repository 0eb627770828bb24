"""Normal scores of numbers, and back: what linear regression draws has the margin of the numbers it was fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

__all__ = ["Scores"]

Floats = NDArray[np.float64]


class Scores:
    """The normal scores Φ⁻¹(rank / (n + 1)) of numbers, scaled to variance 1. Confidential: it holds true values.

    Numbers that are equal share the mean of the scores of their ranks. That takes some of the variance away: `kept` is
    the share that stays, 1 where no two are equal, or all are.

    Parameters
    ----------
    y : ndarray of float64, shape (n,)
        Numbers, in any order; there may be none.

    References
    ----------
    van der Waerden (1952), Indagationes Mathematicae 14, 453-458; as synthetic data are made with them: Nowok, Raab and
    Dibben (2016), doi:10.18637/jss.v074.i11 (`normrank`).

    Examples
    --------
    >>> scores = Scores(np.array([30.0, 10.0, 20.0, 10.0]))
    >>> scores.of(np.array([10.0, 20.0, 30.0])).round(3).tolist()
    [-0.881, 0.408, 1.354]
    >>> scores.back(np.array([-9.0, 0.4, 9.0]), smooth=False).tolist()
    [10.0, 20.0, 30.0]
    """

    def __init__(self, y: Floats) -> None:
        self.sorted: Floats = np.sort(y)
        n = len(y)
        score = ndtri(np.arange(1, n + 1) / (n + 1))
        spread = np.sqrt(np.mean(score**2)) if n > 1 else 1.0
        self.values, first, many = np.unique(self.sorted, return_index=True, return_counts=True)
        self.z: Floats = np.add.reduceat(score / spread, first) / many if n else np.zeros(0)
        self.kept = float(many @ self.z**2) / n if len(self.values) > 1 else 1.0

    def of(self, x: Floats) -> Floats:
        """Scores of numbers, which may lie between those that are known or beyond, shape (k,)."""
        if not len(self.values):
            return np.zeros(len(x))
        return np.interp(x, self.values, self.z)

    def back(self, z: Floats, *, smooth: bool) -> Floats:
        """The numbers that scores stand for, shape (k,).

        Parameters
        ----------
        z : ndarray of float64, shape (k,)
            Scores.
        smooth
            Give numbers on the line between neighbours; else the nearest in rank, which is a true value.
        """
        at = np.clip(ndtr(z) * (len(self.sorted) + 1) - 1, 0, len(self.sorted) - 1)
        if not smooth:
            nearest: Floats = self.sorted[np.rint(at).astype(np.int64)]
            return nearest
        low = np.minimum(at.astype(np.int64), max(len(self.sorted) - 2, 0))
        one, other = self.sorted[low], self.sorted[np.minimum(low + 1, len(self.sorted) - 1)]
        between: Floats = one + (at - low) * (other - one)
        return between
