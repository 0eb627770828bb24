"""A linear model with a random intercept for each cluster, by restricted maximum likelihood.

Errors within a cluster share one part: V = σ² (I + λ 1 1ᵀ). Given λ all is closed: one number is searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from sfumato.errors import DataError
from sfumato.kernels.orthogonal import basis_of

__all__ = ["Intercepts", "fit", "whitened"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CLOSE = 1e-12
_MOST = 1 - 1e-9


@dataclass(frozen=True)
class Intercepts:
    """A fitted model.

    Parameters
    ----------
    coefficients
        Shape (p,); NaN for columns that earlier ones determine.
    covariance
        Of the coefficients, shape (p, p).
    within, between
        Variances of errors and of intercepts.
    log_likelihood
        The restricted one.
    aliased
        Columns that were left out.
    n, clusters
        Records, and clusters.
    """

    coefficients: Floats
    covariance: Floats
    within: float
    between: float
    log_likelihood: float
    aliased: tuple[int, ...]
    n: int
    clusters: int


def fit(X: Floats, y: Floats, cluster: Ints) -> Intercepts:
    """Fit a linear model with a random intercept.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Design matrix with its constant column.
    y : ndarray, shape (n,)
        Response.
    cluster : ndarray, shape (n,)
        Which cluster each record belongs to, in any whole numbers.

    Raises
    ------
    DataError
        For shapes that do not fit, values that are missing or infinite, or no more records than columns.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> cluster = np.repeat(np.arange(300), 5)
    >>> y = 2 + rng.normal(size=300)[cluster] + rng.normal(size=1500)
    >>> found = fit(np.ones((1500, 1)), y, cluster)
    >>> bool(abs(found.between - 1) < 0.3), bool(abs(found.within - 1) < 0.15)
    (True, True)
    """
    X, y, cluster = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64), np.asarray(cluster)
    if X.ndim != 2 or y.shape != X.shape[:1] or cluster.shape != y.shape:
        raise DataError("A design matrix of shape (n, p) needs a response and clusters of shape (n,).")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise DataError("The columns of a model must hold finite numbers only.")
    if len(y) <= X.shape[1]:
        raise DataError("A model needs more records than columns.")
    basis = basis_of(X)
    kept, p = basis.kept, X.shape[1]
    E = basis.apply(X)
    first = E.T @ y / len(y)  # columns of E are orthogonal: what least squares find
    left = y - E @ first
    if float(np.abs(left).max()) <= _CLOSE * float(np.abs(y).max()):
        raise DataError("The columns of a model determine its response.")
    products = _Products.of(np.column_stack([E, left]), cluster)
    share = _best(products)
    log_likelihood, gamma, covariance, within = products.at(share)
    coefficients, full = np.full(p, np.nan), np.full((p, p), np.nan)
    coefficients[kept] = basis.back @ (first + gamma)
    full[np.ix_(kept, kept)] = basis.back @ covariance @ basis.back.T
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(p), kept))
    between = within * share / (1 - share)
    log_likelihood += float(np.linalg.slogdet(basis.back)[1])  # as if the columns had stayed as they were
    return Intercepts(coefficients, full, within, between, log_likelihood, aliased, len(y), products.clusters)


def whitened(Z: Floats, starts: Ints, ratio: float) -> Floats:
    """Take from each cluster's rows the part of its mean that makes errors independent, V^(−½) Z σ.

    Parameters
    ----------
    Z : ndarray, shape (n, k)
        Rows sorted by cluster.
    starts : ndarray, shape (G,)
        First row of each cluster.
    ratio
        Variance of intercepts over that of errors, λ.

    Examples
    --------
    >>> whitened(np.array([[1.0], [3.0]]), np.array([0]), 1.5).tolist()
    [[0.0], [2.0]]
    """
    sizes = np.diff(starts, append=len(Z))
    part = (1 - 1 / np.sqrt(1 + ratio * sizes)) / sizes
    return np.asarray(Z - np.repeat(part[:, None] * np.add.reduceat(Z, starts, axis=0), sizes, axis=0))


@dataclass(frozen=True)
class _Products:
    """Cross-products of columns and response: of all rows, and of clusters' sums for each size of cluster."""

    n: int
    clusters: int
    whole: Floats
    sizes: Ints
    counts: Ints
    sums: Floats

    @classmethod
    def of(cls, Z: Floats, cluster: Ints) -> _Products:
        order = np.argsort(cluster, kind="stable")
        starts = np.flatnonzero(np.diff(cluster[order], prepend=cluster[order[0]] - 1))
        totals = np.add.reduceat(Z[order], starts, axis=0)
        sizes, which, counts = np.unique(np.diff(starts, append=len(Z)), return_inverse=True, return_counts=True)
        sums = np.stack([totals[which == i].T @ totals[which == i] for i in range(len(sizes))])
        return cls(len(Z), len(starts), Z.T @ Z, sizes, counts, sums)

    def at(self, share: float) -> tuple[float, Floats, Floats, float]:
        """Restricted log-likelihood, estimates, covariance and σ² where intercepts have this share of variance."""
        ratio = share / (1 - share)
        M = self.whole - np.einsum("s,sij->ij", ratio / (1 + ratio * self.sizes), self.sums)
        A, c, square = M[:-1, :-1], M[:-1, -1], float(M[-1, -1])
        L = np.linalg.cholesky(A)
        gamma = np.linalg.solve(A, c)
        left = self.n - len(A)
        within = max(square - float(c @ gamma), _CLOSE * square) / left
        bend = float(self.counts @ np.log1p(ratio * self.sizes)) + 2 * float(np.log(np.diag(L)).sum())
        log_likelihood = -0.5 * (left * (math.log(2 * math.pi * within) + 1) + bend)
        return log_likelihood, np.asarray(gamma), np.asarray(within * np.linalg.inv(A)), within


def _best(products: _Products) -> float:
    """Share of the intercepts in the variance: where the restricted likelihood is largest."""
    found = minimize_scalar(
        lambda share: -products.at(share)[0], bounds=(0.0, _MOST), method="bounded", options={"xatol": _CLOSE}
    )
    share = float(found.x)
    return share if products.at(share)[0] > products.at(0.0)[0] else 0.0
