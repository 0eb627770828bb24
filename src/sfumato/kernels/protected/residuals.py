"""Bounded residuals: what a record's response adds to a score, and what it adds at most.

Residuals are bounded and designs weighted apart. A score clipped as a whole would be off centre, and so would be the
estimates. Residuals that are bounded and not even (Poisson, probit) have their expectation taken off, as Cantoni and
Ronchetti do.

References
----------
Cantoni and Ronchetti (2001), Robust inference for generalized linear models, JASA 96, doi:10.1198/016214501753209004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, ndtr, ndtri, pdtr, xlogy

__all__ = ["CLIP", "SD", "Count", "Logit", "Number", "Probit", "Residual"]

Floats = NDArray[np.float64]

CLIP = 4.0
"""Residuals are clipped at this many standard deviations."""
SD = 1.4826022185056018
"""A normal's standard deviation over its median absolute deviation."""
_ROOT = math.sqrt(2 * math.pi)
_TINY = 1e-300


class Residual(Protocol):
    """Residuals of a family."""

    def at(self, y: Floats, eta: Floats, rows: slice) -> tuple[Floats, Floats]:
        """Residuals, and how fast they fall with the linear predictor (for Poisson and probit as expected)."""
        ...


@dataclass(frozen=True)
class Number:
    """Numbers: y − η, clipped.

    Parameters
    ----------
    clip
        Largest residual.

    Examples
    --------
    >>> Number(2.0).at(np.array([1.0, 9.0]), np.zeros(2), slice(None))
    (array([1., 2.]), array([1., 0.]))
    """

    clip: float

    def at(self, y: Floats, eta: Floats, rows: slice) -> tuple[Floats, Floats]:
        """Residuals and slopes."""
        r = y - eta
        return np.clip(r, -self.clip, self.clip), (np.abs(r) < self.clip).astype(np.float64)


@dataclass(frozen=True)
class Logit:
    """A response of 0 or 1 with a logit link: y − p, which is never above 1.

    Examples
    --------
    >>> Logit().at(np.array([1.0]), np.zeros(1), slice(None))
    (array([0.5]), array([0.25]))
    """

    bound: float = 1.0

    def at(self, y: Floats, eta: Floats, rows: slice) -> tuple[Floats, Floats]:
        """Residuals and slopes."""
        p = expit(eta)
        return y - p, p * (1 - p)

    def information(self, eta: Floats) -> Floats:
        """Of a response about its linear predictor."""
        p = expit(eta)
        return np.asarray(p * (1 - p))


@dataclass(frozen=True)
class Probit:
    """A response of 0 or 1 with a probit link: (y − Φ) k, with Pearson residuals clipped at 4.

    Clipped, with expectation taken off, (ψ(r₁) − ψ(r₀)) (y − Φ) φ / √(Φ (1 − Φ)) is left of the score.

    Examples
    --------
    >>> r, slope = Probit().at(np.array([1.0]), np.zeros(1), slice(None))
    >>> r.round(4).tolist(), slope.round(4).tolist()
    ([0.7979], [0.6366])
    """

    @property
    def bound(self) -> float:
        """Largest difference between the residuals of a 1 and a 0: where clipping begins."""
        edge = 1 / (1 + CLIP**2)
        return math.exp(-(float(ndtri(edge)) ** 2) / 2) / _ROOT / (edge * (1 - edge))

    def at(self, y: Floats, eta: Floats, rows: slice) -> tuple[Floats, Floats]:
        """Residuals and expected slopes."""
        mean, rest, density = ndtr(eta), ndtr(-eta), np.exp(-(eta**2) / 2) / _ROOT
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.sqrt(rest / mean)
            k = density / np.sqrt(mean * rest) * (np.minimum(odds, CLIP) + np.minimum(1 / odds, CLIP))
        k = np.where(density > 0, np.nan_to_num(k), 0.0)
        return (y - mean) * k, density * k

    def information(self, eta: Floats) -> Floats:
        """Of a response about its linear predictor."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(np.exp(-(eta**2)) / (_ROOT**2 * ndtr(eta) * ndtr(-eta)), posinf=0.0)


@dataclass(frozen=True)
class Count:
    """Counts: ψ(y − μ) − E ψ(y − μ), clipped at 4 standard deviations of a first fit.

    Parameters
    ----------
    root : ndarray, shape (n,)
        Standard deviation of each record. It stays as it is while μ moves, so that the bound holds
        wherever the estimates end.

    Examples
    --------
    >>> r, slope = Count(np.ones(3)).at(np.array([0.0, 1.0, 50.0]), np.zeros(3), slice(None))
    >>> r.round(2).tolist(), slope.round(2).tolist()
    ([-1.0, 0.0, 4.0], [1.0, 1.0, 1.0])
    """

    root: Floats

    def at(self, y: Floats, eta: Floats, rows: slice) -> tuple[Floats, Floats]:
        """Residuals and expected slopes."""
        mu, clip = np.exp(np.minimum(eta, 345.0)), CLIP * self.root[rows]
        off, slope = _clipped_count(mu, clip)
        return np.clip(y - mu, -clip, clip) - off, slope

    def most(self, eta: Floats, rows: slice) -> Floats:
        """Largest residual of each record, in units of `root`."""
        off, _ = _clipped_count(np.exp(np.minimum(eta, 345.0)), CLIP * self.root[rows])
        return np.asarray(CLIP + np.abs(off) / self.root[rows])


def _clipped_count(mu: Floats, clip: Floats) -> tuple[Floats, Floats]:
    """E ψ(Y − μ) and E ψ(Y − μ)(Y − μ) of a Poisson count, ψ clipping at ± clip.

    The second is how fast ψ − Eψ falls with log μ, as any residual's that is zero in expectation for every μ.
    """
    low, high = np.ceil(mu - clip) - 1, np.floor(mu + clip)  # counts up to `low` and above `high` are clipped
    (low_0, low_1, low_2, at_low), (high_0, high_1, high_2, at_high) = _below(low, mu), _below(high, mu)
    off = mu * (at_low - at_high) + clip * (1 - high_0 - low_0)
    square = mu**2 * (high_2 - low_2 + high_0 - low_0) + (1 - 2 * mu) * mu * (high_1 - low_1)
    return off, np.maximum(square + clip * mu * (at_high + at_low), 0.0)


def _below(j: Floats, mu: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """P(Y ≤ j), P(Y ≤ j − 1), P(Y ≤ j − 2) and P(Y = j)."""
    at = np.maximum(j, 0.0)
    whole = np.where(j < 0, 0.0, pdtr(at, mu))
    mass = np.where(j < 0, 0.0, np.exp(xlogy(at, mu) - mu - gammaln(at + 1)))
    less = whole - mass
    return whole, less, less - mass * at / np.maximum(mu, _TINY), mass
