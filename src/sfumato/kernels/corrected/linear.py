"""Linear regression by corrected moments, with the interval of a coefficient that little is known of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.corrected.design import Design

__all__ = ["Inverted", "Linear", "corrected_linear", "definite_inverse", "inverted"]

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
    middle, constant, shift = design.centred(weight)
    moments = middle.total(weight)
    A, B = moments[:-1, :-1], moments[:-1, -1]
    bread = definite_inverse(A)
    if bread is None:
        return None
    b = bread @ B
    scores = middle.times(np.append(-b, 1.0))[:, :-1]
    back, ahead = np.eye(len(b)), np.eye(len(b))  # to the columns as they were, and from there
    if constant >= 0:
        back[constant] -= shift[:-1]
        ahead[constant] += shift[:-1]
    estimate = back @ b
    estimate[constant] += shift[-1]
    return Linear(estimate, back @ bread @ back.T, scores @ ahead, float(moments[-1, -1] - b @ B))


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


@dataclass(frozen=True)
class Inverted:
    """What a score test of one coefficient does not reject, and what the others are for all of that.

    Parameters
    ----------
    low, high : ndarray, shape (p,)
        Ends of intervals; −∞ or ∞ where there is none.
    distance : ndarray, shape (p,)
        How many standard errors each coefficient is from 0, for the others at the nearer end; 0 where it is between.
    """

    low: Floats
    high: Floats
    distance: Floats


Spread = Callable[[Floats], Floats]
"""From what each record gives, shape (n, q), weighted, to the covariance of the sums, shape (q, q)."""


def inverted(design: Design, weight: Floats, j: int, quantile: float, spread: Spread) -> Inverted:
    """Find all values of one coefficient that a score test does not reject (of one covariate: Fieller's interval).

    Where the noise takes most of a column's variation, its corrected variance may come out near 0, and the estimate and
    its standard error run off together. The score is a sum of independent terms at any value of the coefficient.

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
    spread
        Gives the covariance of sums over the records.

    Returns
    -------
    Inverted
        A set of two rays, or of everything, is (−∞, ∞). The other coefficients' intervals hold those that they have
        with the first one at either end.

    References
    ----------
    Fieller (1954), doi:10.1111/j.2517-6161.1954.tb00159.x.

    Examples
    --------
    >>> from sfumato.kernels.corrected.noise import Noise
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=400)
    >>> y, z = x + rng.normal(size=400), x + rng.normal(0, 2, 400)
    >>> columns, powers = np.column_stack([np.ones(400), np.ones(400), y]), np.array([[0], [1], [0]])
    >>> design = Design(columns, powers, z[:, None], [Noise(np.full((1, 1), 4.0))], np.zeros(400, dtype=np.int64))
    >>> found = inverted(design, np.ones(400), 1, 1.96, lambda rows: 400 * np.atleast_2d(np.cov(rows.T)))
    >>> bool(found.low[1] < 1 < found.high[1]), bool(found.high[1] - 1 > 1 - found.low[1])
    (True, True)
    """
    moments = design.total(weight)
    A, B = moments[:-1, :-1], moments[:-1, -1]
    rest = np.flatnonzero(np.arange(len(A)) != j)
    inner: Floats = np.asarray(np.linalg.pinv(A[np.ix_(rest, rest)], hermitian=True), dtype=np.float64)
    constant, slope = np.zeros(len(A) + 1), np.zeros(len(A) + 1)  # the others are −constant − β slope
    constant[rest], constant[-1] = -inner @ B[rest], 1.0
    slope[rest], slope[j] = -inner @ A[rest, j], 1.0
    rows = [design.times(v) * weight[:, None] for v in (constant, slope)]
    p, q = (own[:, j] - own[:, rest] @ (inner @ A[rest, j]) for own in rows)
    P, Q = float(p.sum()), float(q.sum())
    (pp, pq), (_, qq) = spread(np.column_stack([p, q]))
    t2 = quantile**2
    ends = _between(Q**2 - t2 * qq, P * Q - t2 * pq, P**2 - t2 * pp)
    low, high, distance = (np.full(len(A), v) for v in (-math.inf, math.inf, 0.0))
    low[j], high[j], distance[j] = *ends, abs(P) / math.sqrt(max(pp, 1e-300))
    if np.isfinite(ends).all():
        found = [_others(rows, constant, slope, rest, inner, spread, end) for end in ends]
        low[rest] = np.min([b - quantile * se for b, se in found], axis=0)
        high[rest] = np.max([b + quantile * se for b, se in found], axis=0)
        ratios = [b / se for b, se in found]
        distance[rest] = np.where(ratios[0] * ratios[1] > 0, np.min(np.abs(ratios), axis=0), 0.0)
    return Inverted(low, high, distance)


def _others(
    rows: list[Floats], constant: Floats, slope: Floats, rest: Ints, inner: Floats, spread: Spread, end: float
) -> tuple[Floats, Floats]:
    """The other coefficients and their standard errors with one of them held."""
    b = -constant[rest] + end * slope[rest]
    scores = rows[0][:, rest] - end * rows[1][:, rest]
    return b, np.sqrt(np.diagonal(spread(scores @ inner)))


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
