"""Where standard errors come from: the model, or the scores of records or clusters."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rule", "StandardErrors", "by_cluster", "degrees", "leverage", "rule_of", "sandwich"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rule = Literal["model", "HC3", "Lin-Wei", "CR1", "design"]
StandardErrors = Literal["auto", "robust"]

_ROWS = 1 << 14  # rows a block: small enough for the cache
_MOST_LEVERAGE = 1 - 1e-8
"""A record with more leverage than this decides a coefficient alone: its residual is 0, and 0/0 says nothing."""


def rule_of(weight: object, cluster: object, robust: bool) -> Rule:
    """Choose the rule of standard errors.

    Parameters
    ----------
    weight, cluster
        Whether there are sampling weights and clusters: None where there are none.
    robust
        Whether records alone should have the sandwich, and not the model.

    Examples
    --------
    >>> rule_of(None, "school", False), rule_of("w", "school", False), rule_of(None, None, True)
    ('CR1', 'design', 'HC3')
    """
    if weight is not None:
        return "design"
    if cluster is not None:
        return "CR1"
    return "HC3" if robust else "model"


def sandwich(
    bread: Floats,
    scores: Floats,
    rule: Rule,
    clusters: Ints | None = None,
    leverage: Floats | None = None,
    count: int | None = None,
) -> Floats:
    """Covariance of estimates from the scores of records: it allows for what the model of the response has wrong.

    Parameters
    ----------
    bread : ndarray, shape (P, P)
        Inverse of the negative derivative of the summed scores; for a likelihood, of the observed information.
    scores : ndarray, shape (n, P)
        Of each record, times its sampling weight.
    rule
        `HC3`: scores over 1 − leverage. `CR1`: sums by cluster, times G/(G − 1) · (n − 1)/(n − p) for G clusters.
        `design`: sums by cluster, or records without clusters, times G/(G − 1): one stratum, drawn with replacement.
    clusters : ndarray, shape (n,), optional
        Cluster of each record.
    leverage : ndarray, shape (n,), optional
        Of each record, for `HC3`; without it 0, which is HC0.
    count
        Number p of coefficients, for `CR1`; P where it is not given.

    Returns
    -------
    ndarray, shape (P, P)

    References
    ----------
    MacKinnon and White (1985), doi:10.1016/0304-4076(85)90158-7. Liang and Zeger (1986), doi:10.1093/biomet/73.1.13.
    Binder (1983), doi:10.2307/1402588.

    Examples
    --------
    >>> sandwich(np.eye(1), np.array([[1.0], [-1.0]]), "design").tolist()
    [[4.0]]
    >>> sandwich(np.eye(1), np.array([[1.0], [-1.0]]), "HC3", leverage=np.array([0.5, 0.5])).tolist()
    [[8.0]]
    """
    n = len(scores)
    factor = 1.0
    if rule in ("CR1", "design"):
        scores = by_cluster(scores, clusters)
        groups = len(scores)
        factor = groups / (groups - 1) if groups > 1 else 1.0
        if rule == "CR1":
            p = len(bread) if count is None else count
            factor *= (n - 1) / (n - p) if n > p else 1.0
    elif rule == "HC3" and leverage is not None:
        scores = scores / (1 - np.minimum(leverage, _MOST_LEVERAGE))[:, None]
    half = scores @ bread.T
    return np.asarray(half.T @ half) * factor


def by_cluster(scores: Floats, clusters: Ints | None) -> Floats:
    """Sum the scores of each cluster, shape (G, P); as they are without clusters.

    Examples
    --------
    >>> by_cluster(np.array([[1.0], [2.0], [3.0]]), np.array([7, 9, 7])).tolist()
    [[4.0], [2.0]]
    """
    if clusters is None:
        return scores
    which, index = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(which), scores.shape[1]))
    np.add.at(sums, index, scores)
    return sums


def leverage(X: Floats, working: Floats | None = None) -> Floats:
    """Leverage of each record, the diagonal of the hat matrix, shape (n,).

    Parameters
    ----------
    X : ndarray, shape (n, p)
        The design that was released, of full rank.
    working : ndarray, shape (n,), optional
        Working weights of a generalised linear model; equal ones where there are none.

    Examples
    --------
    >>> leverage(np.ones((4, 1))).round(3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    root = None if working is None else np.sqrt(np.maximum(working, 0.0))

    def rows(start: int) -> Floats:
        part = slice(start, start + _ROWS)
        return X[part] if root is None else X[part] * root[part, None]

    R = np.zeros((0, X.shape[1]))
    starts = range(0, len(X), _ROWS)
    for start in starts:
        R = np.asarray(np.linalg.qr(np.concatenate([R, rows(start)]), mode="r"), dtype=np.float64)
    size = np.sqrt((R**2).sum(axis=0))
    scale = np.where(size > 0, size, 1.0)
    back = np.linalg.pinv(R / scale) / scale[:, None]
    out = np.empty(len(X))
    for start in starts:
        q = rows(start) @ back
        out[start : start + _ROWS] = np.einsum("ij,ij->i", q, q)
    return out


def degrees(rule: Rule, linear: bool, n: int, p: int, groups: int | None = None) -> float:
    """Degrees of freedom of the intervals; infinite (normal) but for linear models.

    Parameters
    ----------
    rule
        Of the standard errors.
    linear
        Whether the model is linear.
    n, p
        Numbers of records and coefficients.
    groups
        Number of clusters, where there are some.

    Examples
    --------
    >>> degrees("HC3", True, 100, 3), degrees("CR1", True, 100, 3, 20), degrees("design", True, 100, 3, 20)
    (97.0, 19.0, 17.0)
    """
    if not linear:
        return np.inf
    if rule == "CR1" and groups is not None:
        return float(groups - 1)
    return float((n if groups is None or rule != "design" else groups) - p)
