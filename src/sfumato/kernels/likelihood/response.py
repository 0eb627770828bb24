"""Densities of a response given its linear predictor, with the derivatives that maximum likelihood needs.

The linear predictor may itself be normal, N(m, v): that is what noise in a continuous covariate leaves of it. For the
linear, probit and ordered probit model the integral over it is closed; for logit and Poisson it is a sum over the nodes
of Gauss-Hermite quadrature. In every case ∂f/∂v = ½ ∂²f/∂m², the heat equation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_expit, log_ndtr, ndtr

__all__ = ["NODES", "Binary", "Linear", "Ordered", "Poisson", "Response", "Silent", "Slope"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64] | slice

NODES = 31
"""Nodes of the Gauss-Hermite quadrature."""
_FEW, _LITTLE = 11, 0.36
"""Nodes that do for a logit model where the predictor's variance is at most this: the error is below 1e-8 there."""
_LOG_ROOT = 0.5 * math.log(2 * math.pi)
_TINY = 1e-300
_STEPS = 12
_NEXT_TO_NONE = 1e-12


def _variance(extra: Floats) -> float:
    """σ² from log σ, kept within what floats hold: steps along a flat likelihood may go anywhere."""
    return math.exp(2 * min(max(float(extra[0]), -300.0), 300.0))


@dataclass(frozen=True)
class Slope:
    """A log-density and its derivatives, each of shape (G, K) unless stated.

    Parameters
    ----------
    log_f
        Logarithm of the density or probability.
    m, v
        First derivatives by the mean and the variance of the linear predictor.
    extra
        First derivatives by the further parameters, shape (e, G, K).
    mm
        Second derivative by m.
    m_extra, extra_extra
        Mixed second derivatives, shapes (e, G, K) and (e, e, G, K).
    """

    log_f: Floats
    m: Floats
    v: Floats
    extra: Floats
    mm: Floats
    m_extra: Floats
    extra_extra: Floats


class Response(Protocol):
    """Observed responses of G units, and how they come about."""

    @property
    def extra(self) -> int:
        """How many parameters there are besides the linear predictor."""
        ...

    @property
    def count(self) -> int:
        """How many units G there are."""
        ...

    def take(self, rows: Rows) -> Response:
        """The responses of some units."""
        ...

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Evaluate at linear predictors N(m, v), shape (G, K), and further parameters, shape (e,)."""
        ...


def _plain(log_f: Floats, m: Floats, v: Floats, mm: Floats) -> Slope:
    """A slope without further parameters."""
    none = np.zeros((0, *log_f.shape))
    return Slope(log_f, m, v, none, mm, none, np.zeros((0, 0, *log_f.shape)))


@cache
def _nodes(count: int = NODES) -> tuple[Floats, Floats]:
    """Nodes and weights for the expectation of a standard normal."""
    t, w = hermegauss(count)
    return t, w / w.sum()


@dataclass(frozen=True)
class Binary:
    """A response of 0 or 1, possibly itself released with noise or misclassified.

    Parameters
    ----------
    log_q : ndarray, shape (G, 2)
        Logarithm of the density of what was released given a true 0 and a true 1. Exact: 0 and −∞.
    logit
        Whether the link is the logit; else it is the probit.

    Examples
    --------
    >>> with np.errstate(divide="ignore"):
    ...     exact = Binary(np.log(np.array([[0.0, 1.0]])))
    >>> exact.slope(np.zeros((1, 1)), 0.0, np.zeros(0)).log_f.round(4).tolist()
    [[-0.6931]]
    """

    log_q: Floats
    logit: bool = False

    @property
    def extra(self) -> int:
        """None."""
        return 0

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.log_q)

    def take(self, rows: Rows) -> Binary:
        """The responses of some units."""
        return Binary(self.log_q[rows], self.logit)

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Evaluate at linear predictors N(m, v)."""
        if not self.logit:
            return self._probit(m, v)
        if np.ndim(v) == 0 and v == 0:
            return self._logit(m)
        return self._logit_over_nodes(m, np.asarray(v, dtype=np.float64))

    @cached_property
    def _sign(self) -> Floats | None:
        """1 for a response of 1 and −1 for one of 0, shape (G, 1), where all are exact."""
        zero, one = self.log_q.T  # two columns: a reduction of each row would take many times as long
        exact = bool((np.maximum(zero, one) == 0).all() and np.isneginf(np.minimum(zero, one)).all())
        return np.where(self.log_q[:, 1:] == 0, 1.0, -1.0) if exact else None

    def _probit(self, m: Floats, v: Floats | float) -> Slope:
        scale = 1 / np.sqrt(1 + v)
        t = m * scale
        if self._sign is not None:
            log_f = log_ndtr(self._sign * t)
            a = self._sign * np.exp(-0.5 * t**2 - _LOG_ROOT - log_f)
            return _plain(log_f, a * scale, -0.5 * t * a * scale**2, -(t + a) * a * scale**2)
        log_f = np.logaddexp(self.log_q[:, :1] + log_ndtr(-t), self.log_q[:, 1:] + log_ndtr(t))
        log_phi = -0.5 * t**2 - _LOG_ROOT
        a = np.exp(self.log_q[:, 1:] + log_phi - log_f) - np.exp(self.log_q[:, :1] + log_phi - log_f)
        return _plain(log_f, a * scale, -0.5 * t * a * scale**2, -(t + a) * a * scale**2)

    def _logit(self, m: Floats) -> Slope:
        if self._sign is not None:
            log_f = log_expit(self._sign * m)
            left = -np.expm1(log_f)
            a, bend = self._sign * left, -left * np.exp(log_f)
            return _plain(log_f, a, 0.5 * (bend + a**2), bend)
        log_f = np.logaddexp(self.log_q[:, :1] + log_expit(-m), self.log_q[:, 1:] + log_expit(m))
        log_p = log_expit(m) + log_expit(-m)
        a = np.exp(self.log_q[:, 1:] + log_p - log_f) - np.exp(self.log_q[:, :1] + log_p - log_f)
        second = a * (1 - 2 * expit(m))
        return _plain(log_f, a, 0.5 * second, second - a**2)

    def _logit_over_nodes(self, m: Floats, v: Floats) -> Slope:
        top = self.log_q.max(axis=1, keepdims=True)
        q0, q1 = np.exp(self.log_q[:, :1] - top), np.exp(self.log_q[:, 1:] - top)
        f, first, second = np.zeros_like(m), np.zeros_like(m), np.zeros_like(m)
        root = np.sqrt(v)
        count = _FEW if v.max(initial=0.0) <= _LITTLE else NODES
        for t, w in zip(*_nodes(count), strict=True):
            p = expit(m + root * t)
            slope = w * p * (1 - p)
            f += w * (q0 * (1 - p) + q1 * p)
            first += slope
            second += slope * (1 - 2 * p)
        f = np.maximum(f, _TINY)
        a, b = (q1 - q0) * first / f, (q1 - q0) * second / f
        return _plain(np.log(f) + top, a, 0.5 * b, b - a**2)


@dataclass(frozen=True)
class Silent:
    """No response at all: what covariates say of themselves.

    Parameters
    ----------
    units
        How many units there are.

    Examples
    --------
    >>> Silent(2).slope(np.zeros((2, 1)), 0.0, np.zeros(0)).log_f.tolist()
    [[0.0], [0.0]]
    """

    units: int

    @property
    def extra(self) -> int:
        """None."""
        return 0

    @property
    def count(self) -> int:
        """How many units there are."""
        return self.units

    def take(self, rows: Rows) -> Silent:
        """The same for some units."""
        return Silent(len(np.arange(self.units)[rows]))

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Zero everywhere."""
        zero = np.zeros_like(m)
        return _plain(zero, zero, zero, zero)


@dataclass(frozen=True)
class Poisson:
    """A count with mean exp(linear predictor).

    Parameters
    ----------
    y : ndarray, shape (G,)
        Counts.

    Examples
    --------
    >>> Poisson(np.array([0.0])).slope(np.zeros((1, 1)), 0.0, np.zeros(0)).log_f.tolist()
    [[-1.0]]
    """

    y: Floats

    @property
    def extra(self) -> int:
        """None."""
        return 0

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.y)

    def take(self, rows: Rows) -> Poisson:
        """The responses of some units."""
        return Poisson(self.y[rows])

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Evaluate at linear predictors N(m, v)."""
        y = self.y[:, None]
        constant = gammaln(np.maximum(y, 0.0) + 1)  # the naive fit takes any numbers
        with np.errstate(over="ignore"):
            if np.ndim(v) == 0 and v == 0:
                mean = np.exp(m)
                return _plain(y * m - mean - constant, y - mean, 0.5 * ((y - mean) ** 2 - mean), -mean)
            return self._over_nodes(y, m, np.maximum(v, _NEXT_TO_NONE), constant)

    @staticmethod
    def _over_nodes(y: Floats, m: Floats, v: Floats, constant: Floats) -> Slope:
        """Nodes are placed around the peak of the integrand: a large count leaves little of the predictor's spread."""
        mode, width = _peak(y, m, v)
        log_parts = np.empty((NODES, *m.shape))
        gaps = np.empty_like(log_parts)
        nodes, weights = _nodes()
        for j, (t, w) in enumerate(zip(nodes, weights, strict=True)):
            eta = np.minimum(mode + width * t, 345.0)
            gaps[j] = y - np.exp(eta)
            log_parts[j] = y * eta - np.exp(eta) - (eta - m) ** 2 / (2 * v) + 0.5 * t**2 + math.log(w)
        top = log_parts.max(axis=0)
        parts = np.exp(log_parts - top)
        f = parts.sum(axis=0)
        a = (parts * gaps).sum(axis=0) / f
        b = (parts * (gaps**2 + gaps)).sum(axis=0) / f - y
        return _plain(np.log(f * width / np.sqrt(v)) + top - constant, a, 0.5 * b, b - a**2)


def _peak(y: Floats, m: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Where y η − e^η − (η − m)²/2v is largest, and how wide the peak is; Newton's method from above converges."""
    eta = np.maximum(m, np.log(y + 0.5)) + 0 * v
    for _ in range(_STEPS):
        mean = np.exp(np.minimum(eta, 345.0))
        eta = eta - (eta - m - v * (y - mean)) / (1 + v * mean)
    return eta, np.sqrt(v / (1 + v * np.exp(np.minimum(eta, 345.0))))


@dataclass(frozen=True)
class Linear:
    """A number with normal errors, possibly released with further normal noise, or known to lie in an interval only.

    The one further parameter is log σ, the standard deviation of the errors.

    Parameters
    ----------
    y : ndarray, shape (G,)
        Released values.
    noise : ndarray, shape (G,)
        Variance of the noise on each.
    low, high : ndarray, shape (G,)
        Ends of the interval where a value was set to a bound or recoded to a band; NaN where the value itself counts.

    Examples
    --------
    >>> none = np.full(1, np.nan)
    >>> Linear(np.zeros(1), np.zeros(1), none, none).slope(np.zeros((1, 1)), 0.0, np.zeros(1)).log_f.round(4).tolist()
    [[-0.9189]]
    """

    y: Floats
    noise: Floats
    low: Floats
    high: Floats

    @property
    def extra(self) -> int:
        """Log σ."""
        return 1

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.y)

    def take(self, rows: Rows) -> Linear:
        """The responses of some units."""
        return Linear(self.y[rows], self.noise[rows], self.low[rows], self.high[rows])

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Evaluate at linear predictors N(m, v)."""
        sigma2 = _variance(extra)
        s2 = sigma2 + self.noise[:, None] + np.broadcast_to(v, m.shape)
        log_f, d = _density(self.y[:, None] - m, s2)
        inside = ~np.isnan(self.low)
        if inside.any():
            low, high = self.low[inside, None] - m[inside], self.high[inside, None] - m[inside]
            log_f[inside], d[:, inside] = _mass(low, high, s2[inside])
        by_m, by_s2, mm, m_s2, s2_s2 = d
        one, two = 2 * sigma2, 4 * sigma2
        return Slope(
            log_f,
            by_m,
            by_s2,
            (by_s2 * one)[None],
            mm,
            (m_s2 * one)[None],
            (s2_s2 * one**2 + by_s2 * two)[None, None],
        )


def _density(r: Floats, s2: Floats) -> tuple[Floats, Floats]:
    """Log-density of residuals r, and its derivatives by m, s², mm, m s², s² s²."""
    log_f = -_LOG_ROOT - 0.5 * np.log(s2) - 0.5 * r**2 / s2
    by_s2 = 0.5 * (r**2 / s2 - 1) / s2
    return log_f, np.stack([r / s2, by_s2, -1 / s2, -r / s2**2, (0.5 - r**2 / s2) / s2**2])


def _mass(low: Floats, high: Floats, s2: Floats) -> tuple[Floats, Floats]:
    """Log-probability of residuals between low and high, and the same derivatives."""
    s = np.sqrt(s2)
    a, b = low / s, high / s
    log_f = _log_between(a, b)
    polynomials = np.zeros((4, *a.shape))
    for end, sign in ((b, -1.0), (a, 1.0)):
        known = np.isfinite(end)
        x = np.where(known, end, 0.0)
        phi = np.where(known, sign * np.exp(-0.5 * x**2 - _LOG_ROOT - log_f), 0.0)
        polynomials += phi * np.stack([np.ones_like(x), x, x**2 - 1, x**3 - 3 * x])
    first, second, third, fourth = (polynomials[i] / s ** (i + 1) for i in range(4))  # derivatives of f by m, over f
    by_s2 = 0.5 * second
    derivatives = [first, by_s2, second - first**2, 0.5 * third - first * by_s2, 0.25 * fourth - by_s2**2]
    return log_f, np.stack(derivatives)


def _log_between(a: Floats, b: Floats) -> Floats:
    """log(Φ(b) − Φ(a)), from the tail that keeps the digits."""
    upper = a > 0
    low, high = np.where(upper, -b, a), np.where(upper, -a, b)
    top = log_ndtr(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = -np.expm1(log_ndtr(low) - top)
    return np.asarray(top + np.log(np.maximum(gap, _TINY)))


@dataclass(frozen=True)
class Ordered:
    """An ordered category, which a normal variable of mean m and variance 1 falls into between thresholds.

    The further parameters are the C − 1 thresholds, which must increase.

    Parameters
    ----------
    q : ndarray, shape (G, C)
        Density of what was released given each true category; 1 for the one category of an exact response.

    Examples
    --------
    >>> Ordered(np.array([[0.0, 1.0, 0.0]])).slope(np.zeros((1, 1)), 0.0, np.array([-1.0, 1.0])).log_f.round(4).tolist()
    [[-0.3817]]
    """

    q: Floats

    @property
    def extra(self) -> int:
        """The thresholds."""
        return int(self.q.shape[1]) - 1

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.q)

    def take(self, rows: Rows) -> Ordered:
        """The responses of some units."""
        return Ordered(self.q[rows])

    def slope(self, m: Floats, v: Floats | float, extra: Floats) -> Slope:
        """Evaluate at linear predictors N(m, v)."""
        e = len(extra)
        s = np.sqrt(1 + np.broadcast_to(v, m.shape))
        if np.any(np.diff(extra) <= 0):
            return self._impossible(m, e)
        ends = (extra[:, None, None] - m) / s
        step = (self.q[:, :-1] - self.q[:, 1:]).T[:, :, None]  # each threshold's part in f
        f = np.zeros_like(m)
        for c in range(e + 1):
            low = ends[c - 1] if c else np.full_like(m, -np.inf)
            high = ends[c] if c < e else np.full_like(m, np.inf)
            f += self.q[:, c, None] * _between(low, high)
        f = np.maximum(f, _TINY)
        phi = step * np.exp(-0.5 * ends**2 - _LOG_ROOT) / (s * f)  # derivatives by the thresholds, over f
        bend = -ends * phi / s  # second derivatives by the thresholds, over f
        first, second = -phi.sum(axis=0), bend.sum(axis=0)
        both = -phi[:, None] * phi[None, :]
        both[np.arange(e), np.arange(e)] += bend
        return Slope(np.log(f), first, 0.5 * second, phi, second - first**2, -bend - first * phi, both)

    @staticmethod
    def _impossible(m: Floats, e: int) -> Slope:
        zero, more = np.zeros_like(m), np.zeros((e, *m.shape))
        return Slope(np.full(m.shape, -np.inf), zero, zero, more, zero, more, np.zeros((e, e, *m.shape)))


def _between(low: Floats, high: Floats) -> Floats:
    """Φ(high) − Φ(low), from the tail that keeps the digits."""
    upper = low > 0
    return np.asarray(ndtr(np.where(upper, -low, high)) - ndtr(np.where(upper, -high, low)))
