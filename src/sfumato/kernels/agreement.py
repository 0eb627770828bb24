"""Whether two estimates from the same records agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

__all__ = ["compare"]

Floats = NDArray[np.float64]

_NONE = 1e-10
"""A direction in which two estimates vary apart by less than this share of the most is one in which they are equal."""
_DIGITS = 1e-6
"""Variance, as a share of that of the estimates, that digits of an ascent and of an information may bring: where two
estimates are all but the same, a difference of a thousandth of a standard error says nothing."""


def compare(
    estimate1: Floats,
    influence1: Floats,
    estimate2: Floats,
    influence2: Floats,
    clusters: NDArray[np.int64] | None = None,
) -> tuple[float, int]:
    """Test whether two estimates of the same coefficients differ by more than chance.

    If both estimate the same, their difference D has the covariance C = Σ (ψ₁ − ψ₂)(ψ₁ − ψ₂)′, with ψ what each record
    adds to each estimate; D′C⁺D is χ² with as many degrees of freedom as C has rank. A difference of the two
    covariances would often be negative.

    Parameters
    ----------
    estimate1, estimate2 : ndarray, shape (p,)
        The slopes; an intercept only moves with them.
    influence1, influence2 : ndarray, shape (n, p)
        Score of each record times the inverse derivative of the equations, in the same order of records.
    clusters : ndarray, shape (n,), optional
        Cluster of each record: sums within clusters are then what is independent.

    Returns
    -------
    p : float
        NaN where there is nothing to compare or an estimate is missing.
    df : int
        Rank of C.

    References
    ----------
    Hausman (1978), doi:10.2307/1913827; with the covariance of the difference itself.

    Examples
    --------
    >>> influence = np.array([[0.1], [-0.1], [0.1], [-0.1]])
    >>> p, df = compare(np.array([1.0]), influence, np.array([1.4]), 0 * influence)
    >>> round(p, 4), df  # 0.4 is two standard errors of the difference, √(4 · 0.01)
    (0.0455, 1)
    """
    D, gaps = estimate1 - estimate2, influence1 - influence2
    if not (np.isfinite(D).all() and np.isfinite(gaps).all()):
        return float("nan"), 0
    if clusters is not None:
        _, index = np.unique(clusters, return_inverse=True)
        gaps = np.stack([np.bincount(index, weights=column) for column in gaps.T], axis=1)
    own = np.sqrt((np.concatenate([influence1, influence2]) ** 2).sum(axis=0))
    scale = np.where(own > 0, own, 1.0)
    values, vectors = np.linalg.eigh((gaps / scale).T @ (gaps / scale))
    apart = values > _NONE * max(1.0, float(values.max(initial=0.0)))
    df = int(apart.sum())
    if not df:
        return float("nan"), 0
    turned = vectors[:, apart].T @ (D / scale)
    spread = values[apart] + _DIGITS
    return float(gammaincc(df / 2, float((turned**2 / spread).sum()) / 2)), df
