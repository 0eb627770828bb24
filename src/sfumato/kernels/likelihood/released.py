"""Density of a released value given the true one, for every law of noise that a disclosure can state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

__all__ = ["Law", "gaussian_table", "released_table"]

Floats = NDArray[np.float64]

_ON_GRID = 1e-9  # share of a multiple by which a bound that is one may be off in its last bits
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Law:
    """How a value was released: x + noise, rounded to a multiple, and set to a bound where it was or came outside.

    Parameters
    ----------
    distribution
        `gaussian`, `laplace` or `uniform`.
    low, high
        Bounds; −∞ and ∞ where there are none.
    rounded
        Multiple that released values were rounded to; 0 where they were not.
    """

    distribution: Literal["gaussian", "laplace", "uniform"] = "gaussian"
    low: float = -math.inf
    high: float = math.inf
    rounded: float = 0.0

    @property
    def edges(self) -> tuple[float, float]:
        """Sums of value and noise below and above which the bounds are released; the bounds need be no multiples."""
        g = self.rounded
        if not g:
            return self.low, self.high
        low = max(self.low, g * math.floor(self.low / g + _ON_GRID) + g / 2) if math.isfinite(self.low) else self.low
        high = (
            min(self.high, g * math.ceil(self.high / g - _ON_GRID) - g / 2) if math.isfinite(self.high) else self.high
        )
        return low, high

    def log_density(self, z: Floats, x: Floats, sd: Floats) -> Floats:
        """Log-density of released values z, shape (n, 1), given true ones x and noise of sd > 0, shapes (L,)."""
        half, (low, high) = self.rounded / 2, self.edges
        if half:
            log_f = self._log_between((np.maximum(z - half, low) - x) / sd, (np.minimum(z + half, high) - x) / sd)
        else:
            log_f = self._log_pdf((z - x) / sd) - np.log(sd)
        log_f = np.where(z <= self.low, self._log_cdf((low - x) / sd), log_f)
        return np.where(z >= self.high, self._log_cdf(-(high - x) / sd), log_f)

    def interval(self, z: Floats) -> tuple[Floats, Floats]:
        """Ends of the interval of true values, shapes (n,), that gives each released value where there is no noise."""
        half, (low, high) = self.rounded / 2, self.edges
        at_low, at_high = z <= self.low, z >= self.high
        lower = np.where(at_low, -math.inf, np.where(at_high, high, np.maximum(z - half, low)))
        return lower, np.where(at_high, math.inf, np.where(at_low, low, np.minimum(z + half, high)))

    def _log_pdf(self, e: Floats) -> Floats:
        """Of noise with variance 1."""
        if self.distribution == "gaussian":
            return np.asarray(-0.5 * e**2 - _LOG_ROOT)
        if self.distribution == "laplace":
            return np.asarray(-math.sqrt(2) * np.abs(e) - 0.5 * math.log(2))
        return np.where(np.abs(e) <= math.sqrt(3) * (1 + 1e-9), -0.5 * math.log(12), -np.inf)

    def _log_cdf(self, e: Floats) -> Floats:
        if self.distribution == "gaussian":
            return np.asarray(log_ndtr(e))
        with np.errstate(divide="ignore"):
            return np.log(self._cdf(e))

    def _cdf(self, e: Floats) -> Floats:
        if self.distribution == "gaussian":
            return np.asarray(ndtr(e))
        if self.distribution == "laplace":
            tail = 0.5 * np.exp(-math.sqrt(2) * np.abs(e))
            return np.where(e < 0, tail, 1 - tail)
        return np.clip(0.5 + e / math.sqrt(12), 0.0, 1.0)

    def _log_between(self, a: Floats, b: Floats) -> Floats:
        upper = a > 0  # laws are symmetric: take the tail that keeps the digits
        low, high = np.where(upper, -b, a), np.where(upper, -a, b)
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(self._cdf(high) - self._cdf(low), 0.0))


def released_table(z: Floats, x: Floats, sd: Floats, law: Law) -> Floats:
    """Log-density of each released value under each true one.

    Parameters
    ----------
    z : ndarray, shape (n,)
        Released values; NaN where missing, which says nothing.
    x, sd : ndarray, shape (L,)
        Values that the true variable can take, and the noise's standard deviation at each; without noise, z is such a
        value.
    law
        How it was released.

    Returns
    -------
    ndarray, shape (n, L)

    Examples
    --------
    >>> released_table(np.array([0.5]), np.array([0.0, 1.0]), np.ones(2), Law()).round(3).tolist()
    [[-1.044, -1.044]]
    >>> released_table(np.array([1.0]), np.array([0.0, 1.0]), np.zeros(2), Law()).tolist()
    [[-inf, 0.0]]
    """
    if not np.any(sd > 0):
        nearest = np.abs(z[:, None] - x)
        same = nearest <= nearest.min(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            table = np.log(same.astype(np.float64))
    else:
        table = law.log_density(z[:, None], x, sd)
    return np.where(np.isnan(z)[:, None], 0.0, table)


def gaussian_table(z: Floats, x: Floats, covariance: Floats) -> Floats:
    """Log-density of several values that were released with correlated normal noise.

    Parameters
    ----------
    z : ndarray, shape (n, p)
        Released values; NaN where missing: the others' margin counts then.
    x : ndarray, shape (L, p)
        Combinations of values that the true variables can take.
    covariance : ndarray, shape (p, p)
        Of the noise; positive definite.

    Returns
    -------
    ndarray, shape (n, L)

    Examples
    --------
    >>> gaussian_table(np.zeros((1, 2)), np.zeros((1, 2)), np.eye(2)).round(3).tolist()
    [[-1.838]]
    """
    table = np.zeros((len(z), len(x)))
    known = ~np.isnan(z)
    for pattern in np.unique(known, axis=0):
        rows = (known == pattern).all(axis=1)
        if not pattern.any():
            continue
        L = np.linalg.cholesky(covariance[np.ix_(pattern, pattern)])
        turn = np.linalg.inv(L).T
        a, b = z[np.ix_(rows, pattern)] @ turn, x[:, pattern] @ turn
        distance = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
        table[rows] = -0.5 * distance - pattern.sum() * _LOG_ROOT - np.log(np.diagonal(L)).sum()
    return table
