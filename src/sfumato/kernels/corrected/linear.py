"""Linear regression by corrected moments, with the interval of a coefficient that little is known of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.corrected.design import Design

__all__ = ["Linear", "corrected_linear", "inverted_interval"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DEFINITE = 1e-10
"""Least eigenvalue of scaled moments that are taken to be those of a distribution."""


@dataclass(frozen=True)
class Linear:
    """A linear model's coefficients from unbiased moments.

    Parameters
    ----------
    estimate : ndarray, shape (p,)
        (ΣA)⁻¹ΣB, with A and B unbiased for xx' and xy of each record.
    bread : ndarray, shape (p, p)
        Inverse of ΣA.
    scores : ndarray, shape (n, p)
        B − A b of each record, not weighted.
    residual
        Sum of squares of the errors, without any noise.

    References
    ----------
    Fuller (1987), Measurement Error Models, section 2.2, doi:10.1002/9780470316665.
    """

    estimate: Floats
    bread: Floats
    scores: Floats
    residual: float


def corrected_linear(design: Design, weight: Floats) -> Linear | None:
    """Solve the equations of least squares with unbiased moments in place of those of the true data.

    Parameters
    ----------
    design
        Covariates, and the response as its last column, shape (n, p + 1).
    weight : ndarray, shape (n,)
        Of each record.

    Returns
    -------
    Linear or None
        None where the moments are none that true covariates could have.

    Examples
    --------
    >>> from sfumato.kernels.corrected.noise import Noise
    >>> rng = np.random.default_rng(1)
    >>> x = rng.exponential(size=20_000)
    >>> y, z = 1 + 2 * x + x * rng.normal(size=20_000), x + rng.normal(size=20_000)
    >>> columns, powers = np.column_stack([np.ones_like(z), np.ones_like(z), y]), np.array([[0], [1], [0]])
    >>> design = Design(columns, powers, z[:, None], [Noise(np.eye(1))], np.zeros(len(z), dtype=np.int64))
    >>> corrected_linear(design, np.ones_like(z)).estimate.round(1).tolist()
    [1.0, 2.0]
    """
    moments = design.total(weight)
    A, B = moments[:-1, :-1], moments[:-1, -1]
    bread = definite_inverse(A)
    if bread is None:
        return None
    b = bread @ B
    scores = design.times(np.append(-b, 1.0))[:, :-1]
    return Linear(b, bread, scores, float(moments[-1, -1] - b @ B))


def definite_inverse(matrix: Floats) -> Floats | None:
    """Invert a symmetric matrix; None where it is not positive definite.

    Examples
    --------
    >>> definite_inverse(np.diag([4.0, -1.0])) is None
    True
    """
    diagonal = np.diagonal(matrix)
    if not np.isfinite(matrix).all() or np.any(diagonal <= 0):
        return None
    scale = np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    if values[0] <= _DEFINITE:
        return None
    return np.asarray((vectors / values) @ vectors.T / np.outer(scale, scale))


def inverted_interval(
    design: Design, weight: Floats, j: int, quantile: float, leverage: Floats, cluster: Ints | None
) -> tuple[float, float, float]:
    """Find all values of one coefficient that a score test does not reject (of one covariate: Fieller's interval).

    Parameters
    ----------
    design
        As for `corrected_linear`.
    weight : ndarray, shape (n,)
        Of each record.
    j
        The coefficient.
    quantile
        How many standard errors a score may be from 0.
    leverage : ndarray, shape (n,)
        Of each record; 0 with clusters.
    cluster : ndarray, shape (n,), optional
        Cluster of each record.

    Returns
    -------
    tuple of float
        The ends, −∞ or ∞ where there is none, and the score's distance from 0, in standard errors, where the
        coefficient is 0. A set of two rays, or of everything, is (−∞, ∞).

    References
    ----------
    Fieller (1954), doi:10.1111/j.2517-6161.1954.tb00159.x.
    """
    moments = design.total(weight)
    A, B = moments[:-1, :-1], moments[:-1, -1]
    rest = np.arange(len(A)) != j
    inner = np.linalg.pinv(A[np.ix_(rest, rest)])
    toward = np.zeros(len(A) + 1)
    toward[j] = 1.0
    toward[:-1][rest] = -inner @ A[rest, j]
    constant, slope = np.zeros(len(A) + 1), np.zeros(len(A) + 1)
    constant[:-1][rest], constant[-1] = -inner @ B[rest], 1.0
    slope[:-1][rest], slope[j] = -inner @ A[rest, j], 1.0
    size = weight / (1 - leverage)
    p = (design.times(constant) @ toward) * size
    q = (design.times(slope) @ toward) * size
    P, Q = float(weight @ (p / size)), float(weight @ (q / size))
    pp, pq, qq = _spread(p, q, weight, cluster)
    t2 = quantile**2
    a, b, c = Q**2 - t2 * qq, P * Q - t2 * pq, P**2 - t2 * pp  # a β² − 2 b β + c ≤ 0
    return *_between(a, b, c), P / math.sqrt(max(pp, 1e-300))


def _spread(p: Floats, q: Floats, weight: Floats, cluster: Ints | None) -> tuple[float, float, float]:
    """Variances and covariance of the sums of p and of q."""
    if cluster is not None:
        there = np.bincount(cluster) > 0
        p = np.bincount(cluster, weights=p)[there].astype(np.float64)
        q = np.bincount(cluster, weights=q)[there].astype(np.float64)
    p, q = p - p.mean(), q - q.mean()
    return float(p @ p), float(p @ q), float(q @ q)


def _between(a: float, b: float, c: float) -> tuple[float, float]:
    """Where a β² − 2 b β + c ≤ 0, as an interval that holds it."""
    inside = b**2 - a * c
    if a > 0:
        root = math.sqrt(max(inside, 0.0))
        return (b - root) / a, (b + root) / a
    if a == 0 and b != 0:
        end = c / (2 * b)
        return (end, math.inf) if b > 0 else (-math.inf, end)
    return -math.inf, math.inf
