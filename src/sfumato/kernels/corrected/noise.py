"""Additive noise of known law on several numbers: its moment generating function, and what is unbiased for true values.

With z = x + u and K(s) = E exp(s'u), exp(s'z) / K(s) is unbiased for exp(s'x). Its coefficients of powers of s are
unbiased for powers and products of x, its derivatives by s for x exp(s'x) and xx' exp(s'x). Nothing is assumed of x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bernoulli

__all__ = ["Law", "Noise", "Powers"]

Floats = NDArray[np.float64]
Law = Literal["laplace", "uniform"]

_SMALL = 1e-2
"""Below this, closed forms for uniform noise lose digits, and a series takes their place."""


@dataclass(frozen=True)
class Noise:
    """Noise of mean zero on c numbers, the sum of independent parts.

    Parameters
    ----------
    normal : ndarray, shape (c, c)
        Covariance of the normal part.
    others
        The other parts, each on one number: its place, its law and its variance. Rounding to multiples g that are small
        beside the noise is a uniform part of variance g² / 12.

    Examples
    --------
    Laplace noise of variance v has K(s) = 1 / (1 − v s² / 2):

    >>> told = Noise(np.zeros((1, 1)), ((0, "laplace", 2.0),)).tilt(np.array([[0.5]]))
    >>> bool(np.isclose(told[0][0], -np.log(0.75)))
    True
    """

    normal: Floats
    others: tuple[tuple[int, Law, float], ...] = ()

    @property
    def covariance(self) -> Floats:
        """Of all parts together, shape (c, c)."""
        out = self.normal.copy()
        for place, _, variance in self.others:
            out[place, place] += variance
        return out

    @property
    def kurtosis(self) -> Floats:
        """Excess kurtosis of each number's noise, shape (c,); 0 where there is none."""
        fourth = np.zeros(len(self.normal))
        for place, law, variance in self.others:
            fourth[place] += _cumulant(law, variance, 4)
        variance_ = np.diagonal(self.covariance)
        return np.divide(fourth, variance_**2, out=np.zeros_like(fourth), where=variance_ > 0)

    def scaled(self, share: float) -> Noise:
        """The same with every variance times a share."""
        return Noise(self.normal * share, tuple((place, law, v * share) for place, law, v in self.others))

    def of(self, places: Sequence[int]) -> Noise:
        """That on some of the numbers, in that order."""
        told = list(places)
        others = tuple((told.index(place), law, v) for place, law, v in self.others if place in told)
        return Noise(self.normal[np.ix_(told, told)], others)

    def tilt(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Take ln K with its derivatives at several s.

        Parameters
        ----------
        s : ndarray, shape (m, c)
            Where to look.

        Returns
        -------
        tuple of ndarray
            ln K, shape (m,), its gradient, shape (m, c), and its second derivatives, shape (m, c, c). NaN where K(s)
            does not exist.
        """
        gradient = s @ self.normal
        log_k = 0.5 * (s * gradient).sum(axis=1)
        second = np.broadcast_to(self.normal, (len(s), *self.normal.shape))
        if self.others:
            second = second.copy()
        for place, law, variance in self.others:
            own = (_laplace if law == "laplace" else _uniform)(s[:, place], variance)
            log_k = log_k + own[0]
            gradient[:, place] += own[1]
            second[:, place, place] += own[2]
        return log_k, gradient, second

    def cumulant(self, place: int, order: int) -> float:
        """Of one number's noise beyond the normal part, of an even order."""
        return sum(_cumulant(law, variance, order) for at, law, variance in self.others if at == place)


def _laplace(s: Floats, variance: float) -> tuple[Floats, Floats, Floats]:
    left = 1 - variance * s**2 / 2
    left = np.where(left > 0, left, np.nan)
    return -np.log(left), variance * s / left, variance * (2 - left) / left**2


def _uniform(s: Floats, variance: float) -> tuple[Floats, Floats, Floats]:
    half = math.sqrt(3 * variance)
    t = np.abs(half * s)
    safe = np.maximum(t, _SMALL)
    shrunk = np.exp(-2 * safe)
    log_k = safe + np.log1p(-shrunk) - np.log(2 * safe)
    first = (1 + shrunk) / (1 - shrunk) - 1 / safe
    second = 1 / safe**2 - 4 * shrunk / (1 - shrunk) ** 2
    near = t < _SMALL
    log_k = np.where(near, t**2 / 6 - t**4 / 180, log_k)
    first = np.where(near, t / 3 - t**3 / 45, first)
    second = np.where(near, 1 / 3 - t**2 / 15, second)
    return log_k, half * np.sign(s) * first, half**2 * second


def _cumulant(law: Law, variance: float, order: int) -> float:
    """An even cumulant: of Laplace noise 2 (k − 1)! (v/2)^(k/2), of uniform noise on ±a B_k (2a)^k / k."""
    if law == "laplace":
        return 2 * math.factorial(order - 1) * (variance / 2) ** (order // 2)
    return float(bernoulli(order)[order]) * (12 * variance) ** (order // 2) / order


@dataclass
class Powers:
    """Unbiased estimates of products of powers of true numbers, for records with the same noise.

    Parameters
    ----------
    z : ndarray, shape (m, c)
        Released values.
    noise
        What was added to them.

    Examples
    --------
    >>> powers = Powers(np.array([[2.0, 3.0]]), Noise(np.array([[0.5, 0.1], [0.1, 0.5]])))
    >>> [round(float(powers[exponents][0]), 6) for exponents in ((2, 0), (1, 1), (3, 0))]  # z² − v, z₁z₂ − ω, z³ − 3vz
    [3.5, 5.9, 5.0]
    """

    z: Floats
    noise: Noise
    _found: dict[tuple[int, ...], Floats] = field(default_factory=dict)

    def __getitem__(self, exponents: tuple[int, ...]) -> Floats:
        """Estimates of Π x_j^(a_j), shape (m,)."""
        if exponents not in self._found:
            self._found[exponents] = self._of(exponents)
        return self._found[exponents]

    def _of(self, exponents: tuple[int, ...]) -> Floats:
        """By one power less: derivatives of exp(s'z − ln K(s)) at 0 obey this recursion in cumulants of the noise."""
        j = next((j for j, a in enumerate(exponents) if a), None)
        if j is None:
            return np.ones(len(self.z))
        less = _lowered(exponents, j, 1)
        out = self.z[:, j] * self[less]
        covariance = self.noise.covariance
        for k, a in enumerate(less):
            if a and covariance[j, k]:
                out = out - covariance[j, k] * a * self[_lowered(less, k, 1)]
        for order in range(4, exponents[j] + 1, 2):
            cumulant = self.noise.cumulant(j, order)
            if cumulant:
                out = out - cumulant * math.comb(exponents[j] - 1, order - 1) * self[_lowered(exponents, j, order)]
        return out


def _lowered(exponents: tuple[int, ...], j: int, by: int) -> tuple[int, ...]:
    return (*exponents[:j], exponents[j] - by, *exponents[j + 1 :])
