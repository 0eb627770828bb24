"""Importance sampling around a mode: draws of a t distribution, their weights, and whether these can be trusted.

Sources: Vehtari, Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance sampling, Journal of Machine
Learning Research 25(72); Zhang and Stephens (2009), doi:10.1198/tech.2009.08017 (fit of the generalised Pareto law).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEGREES", "Sample", "importance_sample", "pareto_k"]

Floats = NDArray[np.float64]

DEGREES = 7
"""Degrees of freedom of the proposal: heavier tails than any posterior near normal."""


@dataclass(frozen=True)
class Sample:
    """Weighted draws.

    Parameters
    ----------
    draws : ndarray, shape (D, P)
        Proposed parameters.
    weights : ndarray, shape (D,)
        Their weights, summing to 1.
    k
        Shape of the tail of the weights: below .7 they can be trusted.
    effective
        Effective number of draws, 1 / Σ w².
    """

    draws: Floats
    weights: Floats
    k: float
    effective: float

    def resampled(self, number: int, rng: np.random.Generator) -> Floats:
        """Draws of equal weight, by systematic resampling, shape (number, P)."""
        points = (np.arange(number) + rng.random()) / number
        at = np.minimum(np.searchsorted(np.cumsum(self.weights), points), len(self.weights) - 1)
        return np.asarray(self.draws[rng.permutation(at)])


def importance_sample(
    log_density: Callable[[Floats], Floats], mode: Floats, covariance: Floats, number: int, rng: np.random.Generator
) -> Sample:
    """Sample a density known up to a constant, close to normal around its mode.

    Parameters
    ----------
    log_density
        Takes parameters of shape (D, P), gives shape (D,).
    mode : ndarray, shape (P,)
        Centre of the proposal.
    covariance : ndarray, shape (P, P)
        Of the normal approximation; directions without variance stay at the mode.
    number
        Of draws.
    rng
        Source of randomness; it hides nothing.

    Examples
    --------
    >>> normal = importance_sample(
    ...     lambda x: -0.5 * (x[:, 0] - 1) ** 2, np.ones(1), np.eye(1), 4000, np.random.default_rng(1)
    ... )
    >>> bool(normal.k < 0.5), bool(normal.effective > 3000)
    (True, True)
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors[:, values > 0] * np.sqrt(values[values > 0])
    t = rng.normal(size=(number, root.shape[1])) / np.sqrt(rng.chisquare(DEGREES, number) / DEGREES)[:, None]
    draws = mode + t @ root.T
    log_proposal = -0.5 * (DEGREES + root.shape[1]) * np.log1p((t**2).sum(axis=1) / DEGREES)
    log_weight = log_density(draws) - log_proposal
    log_weight = np.where(np.isfinite(log_weight), log_weight, -np.inf)
    weights = np.exp(log_weight - log_weight.max())
    k = pareto_k(weights)
    weights = weights / weights.sum()
    return Sample(draws, weights, k, float(1 / (weights**2).sum()))


def pareto_k(weights: Floats) -> float:
    """Shape of a generalised Pareto distribution fitted to the largest weights.

    Parameters
    ----------
    weights : ndarray, shape (D,)
        Positive, of any scale.

    Examples
    --------
    >>> tail = (1 - np.arange(0.5, 4000) / 4000) ** -0.5  # Pareto with shape .5
    >>> round(pareto_k(tail), 1)
    0.5
    """
    number = int(min(len(weights) / 5, 3 * np.sqrt(len(weights))))
    largest = np.sort(weights)[-number - 1 :]
    x = largest[1:] - largest[0]
    x = x[x > 0]
    n = len(x)
    if n < 5:
        return float("inf")
    grid = int(30 + np.sqrt(n))
    quartile = x[int(n / 4 + 0.5) - 1]
    theta = 1 / x[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * quartile)
    k = np.log1p(-theta[:, None] * x).mean(axis=1)
    profile = n * (np.log(-theta / k) - k - 1)
    share = np.exp(profile - profile.max())
    best = float((theta * share).sum() / share.sum())
    shape = float(np.log1p(-best * x).mean())
    return (n * shape + 5) / (n + 10)  # towards .5, as the source does
