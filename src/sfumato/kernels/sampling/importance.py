"""Importance sampling around a mode: draws of a t distribution, their weights, and whether these can be trusted.

Where they cannot, the proposal is moved to where the weighted draws are, a few times.

Sources: Vehtari, Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance sampling, Journal of Machine
Learning Research 25(72); Zhang and Stephens (2009), doi:10.1198/tech.2009.08017 (fit of the generalised Pareto law);
Ionides (2008), doi:10.1198/106186008X320456 (truncated weights); Cappé, Guillin, Marin and Robert (2004),
doi:10.1198/106186004X12803 (proposals learned from former draws).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEGREES", "TRUSTED", "Sample", "adapted_sample", "importance_sample", "pareto_k"]

Floats = NDArray[np.float64]

DEGREES = 7
"""Degrees of freedom of the proposal: heavier tails than any posterior near normal."""
TRUSTED = 0.7
"""Weights whose tail has a larger shape than this are not trusted."""
_ENOUGH = 400
_ROUNDS = 4
_NARROW = 2.0
_TELLING = 0.1  # effective draws a parameter, with fewer of which nothing is learned


@dataclass(frozen=True)
class Sample:
    """Weighted draws.

    Parameters
    ----------
    draws : ndarray, shape (D, P)
        Proposed parameters.
    log_density : ndarray, shape (D,)
        There.
    weights : ndarray, shape (D,)
        Their weights, summing to 1.
    k
        Shape of the tail of the weights: below .7 they can be trusted.
    effective
        Effective number of draws, 1 / Σ w².
    """

    draws: Floats
    log_density: Floats
    weights: Floats
    k: float
    effective: float

    @property
    def trusted(self) -> bool:
        """Whether the tail is light enough, and the draws are worth 400 independent ones or a quarter of themselves."""
        return self.k <= TRUSTED and self.effective >= min(_ENOUGH, len(self.draws) / 4)

    def chosen(self, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Which draws to take for equal weights, by systematic resampling, in random order, shape (number,)."""
        points = (np.arange(number) + rng.random()) / number
        at = np.minimum(np.searchsorted(np.cumsum(self.weights), points), len(self.weights) - 1)
        return np.asarray(rng.permutation(at))


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
    found = log_density(draws)
    log_weight = found - log_proposal
    log_weight = np.where(np.isfinite(log_weight), log_weight, -np.inf)
    weights = np.exp(log_weight - log_weight.max())
    k = pareto_k(weights)
    weights = weights / weights.sum()
    return Sample(draws, found, weights, k, float(1 / (weights**2).sum()))


def adapted_sample(
    log_density: Callable[[Floats], Floats], mode: Floats, covariance: Floats, number: int, rng: np.random.Generator
) -> Sample:
    """Sample around a mode, and where that does not do, around the mean that the weights point to.

    A skew density has its mean beside its mode, and is wider than the curvature there says. So where the weights are
    not to be trusted, or show more than twice the proposal's variance in some direction (a proposal that is far too
    narrow may miss what its weights should tell), it is given the moments of the weighted draws (weights truncated,
    few draws counting for little), at most four times.

    Parameters
    ----------
    log_density, mode, covariance, number, rng
        As for `importance_sample`.

    Returns
    -------
    Sample
        The first to be trusted; if none is, the one with the smallest k.

    Examples
    --------
    >>> def skew(x):  # logarithm of an exponential variable with mean 1: mode 0, mean −γ
    ...     return x[:, 0] - np.exp(x[:, 0])
    >>> sample = adapted_sample(skew, np.zeros(1), 0.05 * np.eye(1), 4000, np.random.default_rng(1))
    >>> sample.trusted, float((sample.weights @ sample.draws)[0].round(1))
    (True, -0.6)
    """
    sample = best = importance_sample(log_density, mode, covariance, number, rng)
    for _ in range(_ROUNDS):
        if sample.trusted and not _narrow(sample, covariance):
            return sample
        if sample.effective < _TELLING * len(mode):
            return best
        mode, covariance = _moments(sample, mode, covariance)
        sample = importance_sample(log_density, mode, covariance, number, rng)
        best = min(best, sample, key=lambda s: s.k)
    return sample if sample.trusted else best


def _narrow(sample: Sample, covariance: Floats) -> bool:
    """Whether the weighted draws vary by more than twice what was proposed, beyond what chance does to so few."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors[:, values > 0] / np.sqrt(values[values > 0])
    gap = (sample.draws - sample.weights @ sample.draws) @ root
    most = np.linalg.eigvalsh(gap.T @ (gap * sample.weights[:, None])).max(initial=0.0)
    return bool(most > _NARROW * (1 + np.sqrt(gap.shape[1] / sample.effective)) ** 2)


def _moments(sample: Sample, mode: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of the weighted draws, drawn towards the former ones where few draws count."""
    weights = np.minimum(sample.weights, 1 / np.sqrt(len(sample.weights)))  # at most √D times the mean
    weights = weights / weights.sum()
    effective = 1 / (weights**2).sum()
    share = effective / (effective + len(mode))
    gap = sample.draws - mode
    shift = weights @ gap
    gap = gap - shift
    spread = gap.T @ (gap * weights[:, None])
    return mode + share * shift, share * spread + (1 - share) * covariance


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
