"""Counts that vary more than Poisson's: the negative binomial response, of which Poisson's is the limit.

A count with mean μ = exp(η) has the variance μ + μ²/θ (NB2). As θ grows it becomes Poisson's; beyond `MOST` it is taken
to be that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

from sfumato.kernels.likelihood.response import NODES, Rows, Slope

__all__ = ["MOST", "NegativeBinomial", "log_size"]

Floats = NDArray[np.float64]

MOST = 1e6
"""Largest θ: beyond it the likelihood is Poisson's, to all digits that data could tell."""
_LEAST_LOG, _MOST_LOG = -50.0, math.log(MOST)
_LARGE = 1e4
"""Beyond this θ differences of log Γ lose digits, and Stirling's formula has all of them."""
_HIGH = 345.0
_STEPS = 20
_NEXT_TO_NONE = 1e-12


class _Parts(NamedTuple):
    """What a log-probability and its derivatives by η and log θ are at some predictors."""

    log_f: Floats
    g: Floats
    h: Floats
    size: Floats
    cross: Floats
    size_size: Floats


@dataclass(frozen=True)
class NegativeBinomial:
    """A count with mean exp(linear predictor) and variance mean + mean²/θ.

    The one further parameter is log θ, kept at most log `MOST`.

    Parameters
    ----------
    y : ndarray, shape (G,)
        Counts.

    Examples
    --------
    With θ = 1 and mean 1 it is geometric: a half for 0.

    >>> response = NegativeBinomial(np.array([0.0]))
    >>> response.slope(np.zeros((1, 1)), 0.0, np.zeros(1)).log_f.round(4).tolist()
    [[-0.6931]]
    """

    y: Floats

    @property
    def extra(self) -> int:
        """Log θ."""
        return 1

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.y)

    def take(self, rows: Rows) -> NegativeBinomial:
        """The responses of some units."""
        return NegativeBinomial(self.y[rows])

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Evaluate at linear predictors N(m, v)."""
        y = self.y[:, None]
        size = math.exp(min(max(float(extra[0]), _LEAST_LOG), _MOST_LOG))
        constant, first, second = _constants(y, size)
        if np.ndim(v) == 0 and v == 0:
            at = _parts(y, m, size)
            out = Slope(
                at.log_f, at.g, 0.5 * (at.g**2 + at.h), at.size[None], at.h, at.cross[None], at.size_size[None, None]
            )
        else:
            out = _over_nodes(y, m, np.maximum(np.broadcast_to(v, m.shape), _NEXT_TO_NONE), size)
        inside = float(extra[0]) < _MOST_LOG  # beyond, nothing hangs on it
        return Slope(
            out.log_f + constant,
            out.m,
            out.v,
            (out.extra + first) * inside,
            out.mm,
            out.m_extra * inside,
            (out.extra_extra + second) * inside,
        )


def _constants(y: Floats, size: float) -> tuple[Floats, Floats, Floats]:
    """log Γ(y + θ) − log Γ(θ) − y log θ − log y!, and its first two derivatives by log θ."""
    if size <= _LARGE:
        value = gammaln(y + size) - gammaln(size) - y * math.log(size)
        first = psi(y + size) - psi(size) - y / size
        second = polygamma(1, y + size) - polygamma(1, size) + y / size**2
    else:
        more, ratio = y + size, y / size
        value = (more - 0.5) * np.log1p(ratio) - y + (1 / more - 1 / size) / 12
        first = np.log1p(ratio) - ratio + 0.5 * ratio / more + (1 / size**2 - 1 / more**2) / 12
        second = ratio**2 / more - 0.5 * ratio * (size + more) / (size * more**2) - (1 / size**3 - 1 / more**3) / 6
    return value - gammaln(y + 1), size * first, size * (size * second + first)


def _parts(y: Floats, eta: Floats, size: float) -> _Parts:
    """y η − (y + θ) log(1 + μ/θ), and its derivatives by η, η η, log θ, η log θ and log θ log θ."""
    odds = np.exp(np.minimum(eta - math.log(size), _HIGH))
    p, log = odds / (1 + odds), np.log1p(odds)
    drawn = (y + size) * p
    bend = drawn / (1 + odds)
    return _Parts(
        y * eta - (y + size) * log,
        y - drawn,
        -bend,
        drawn - size * log,
        bend - size * p,
        size * (2 * p - log) - bend,
    )


def _over_nodes(y: Floats, m: Floats, v: Floats, size: float) -> Slope:
    """Nodes are placed around the peak of the integrand, as a large count leaves little of the predictor's spread.

    No node has more than the peak, for the integrand is log-concave.
    """
    mode, width = _peak(y, m, v, size)
    top = _parts(y, mode, size).log_f - (mode - m) ** 2 / (2 * v)
    sums = np.zeros((6, *m.shape))
    nodes, weights = hermegauss(NODES)
    for t, w in zip(nodes, weights / weights.sum(), strict=True):
        eta = mode + width * t
        at = _parts(y, eta, size)
        share = w * np.exp(at.log_f - (eta - m) ** 2 / (2 * v) + 0.5 * t**2 - top)
        more = (1.0, at.g, at.g**2 + at.h, at.size, at.g * at.size + at.cross, at.size**2 + at.size_size)
        for total, value in zip(sums, more, strict=True):
            total += share * value
    f = sums[0]
    a, b, c, ac, cc = sums[1:] / f
    log_f = np.log(f * width / np.sqrt(v)) + top
    return Slope(log_f, a, 0.5 * b, c[None], b - a**2, (ac - a * c)[None], (cc - c**2)[None, None])


def _peak(y: Floats, m: Floats, v: Floats, size: float) -> tuple[Floats, Floats]:
    """Where the integrand is largest, and how wide its peak is: Newton's method within bounds that close in."""
    with np.errstate(divide="ignore"):
        flat = np.log(y) + 0 * m  # where the likelihood alone is largest; its slope is between −θ and y
    low = np.minimum(m, np.maximum(flat, m - v * size))
    high = np.maximum(m, np.minimum(flat, m + v * y))
    eta = m
    for _ in range(_STEPS):
        at = _parts(y, eta, size)
        gap = m + v * at.g - eta
        low, high = np.where(gap > 0, eta, low), np.where(gap > 0, high, eta)
        step = eta + gap / (1 - v * at.h)
        eta = np.where((step > low) & (step < high), step, (low + high) / 2)
    return eta, np.sqrt(v / (1 - v * _parts(y, eta, size).h))


def log_size(y: Floats, mean: Floats, weight: Floats) -> float:
    """Log θ to begin with: what squared residuals have beyond Poisson's variance, kept between .1 and 1,000.

    Parameters
    ----------
    y, mean, weight : ndarray, shape (n,)
        Counts, their means by a Poisson fit, and weights.

    Examples
    --------
    >>> round(float(np.exp(log_size(np.array([0.0, 4.0]), np.array([2.0, 2.0]), np.ones(2)))), 6)
    2.0
    """
    beyond = float(weight @ ((y - mean) ** 2 - mean))
    size = float(weight @ mean**2) / max(beyond, 1e-300)
    return math.log(min(max(size, 0.1), 1e3))
