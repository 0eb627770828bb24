"""How many people of the population are the only ones with their keys, estimated from the classes of a sample.

Every estimator takes the sample for a simple random one. With everybody sampled all give the sample's own uniques, and
where every record of the sample is unique the data tell no better than that everybody is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sfumato.errors import DataError

__all__ = ["pitman_uniques", "slide_negative_binomial_uniques", "zayatz_uniques"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SHORT = 1000
"""Terms of a sum that are added one by one."""
_FLAT = 3e4
"""From this ratio of first term to step on, a sum is taken by its expansion."""


def zayatz_uniques(sizes: Ints, frequencies: Ints, fraction: float) -> float | None:
    """Estimate population uniques by Zayatz's rule.

    The population's classes are taken to have the sizes of the sample's; Bayes' rule then tells how likely a unique of
    the sample is one of the population.

    Parameters
    ----------
    sizes : ndarray, shape (s,)
        Sizes of classes that occur, each once, ≥ 1.
    frequencies : ndarray, shape (s,)
        Classes of each size.
    fraction
        Records of the sample over people of the population, above 0 and at most 1.

    Returns
    -------
    float or None
        People of the population; None without records.

    Raises
    ------
    DataError
        If the fraction is not above 0 and at most 1.

    Examples
    --------
    >>> zayatz_uniques(np.array([1, 2]), np.array([10, 20]), 1.0)
    10.0

    Source: Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the sample.
    """
    given = _known(sizes, frequencies, fraction)
    if given is not None:
        return given[0]
    size, count = _table(sizes, frequencies)
    n = float((size * count).sum())
    N = n / fraction
    single = float(count[size == 1].sum())
    if single == 0:
        return 0.0
    # exactly one of i members is among the n of N, over n/N: i ∏ (N − n − j)/(N − 1 − j) over j < i − 1
    j = np.arange(size.max() - 1)
    with np.errstate(divide="ignore"):
        factors = np.log(np.maximum(N - n - j, 0.0) / (N - 1 - j))
    chance = size * np.exp(np.concatenate([[0.0], np.cumsum(factors)])[size.astype(np.int64) - 1])
    return float(min(N, single * single / (count * chance).sum() / fraction))


def pitman_uniques(sizes: Ints, frequencies: Ints, fraction: float) -> float | None:
    """Estimate population uniques by Pitman's model of class sizes, fitted by maximum likelihood.

    Good for small sampling fractions.

    Parameters
    ----------
    sizes : ndarray, shape (s,)
        Sizes of classes that occur, each once, ≥ 1.
    frequencies : ndarray, shape (s,)
        Classes of each size.
    fraction
        Records of the sample over people of the population, above 0 and at most 1.

    Returns
    -------
    float or None
        People of the population; None without records, or where all are in one class, which gives no maximum.

    Raises
    ------
    DataError
        If the fraction is not above 0 and at most 1.

    Examples
    --------
    >>> pitman_uniques(np.array([1]), np.array([60]), 0.1)
    600.0

    Source: Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
    Official Statistics 17, 499-520.
    """
    given = _known(sizes, frequencies, fraction)
    if given is not None:
        return given[0]
    size, count = _table(sizes, frequencies)
    if count.sum() < 2:
        return None
    theta, alpha = _pitman(size, count)
    N = float((size * count).sum()) / fraction
    rising = scipy.special.gammaln(theta + 1) - scipy.special.gammaln(theta + alpha)
    return float(min(N, np.exp(rising + alpha * np.log(N))))


def _pitman(size: Floats, count: Floats) -> tuple[float, float]:
    """Find the roots of both scores: of θ for a given α, and of α along those θ."""
    n, u = int((size * count).sum()), int(count.sum())
    classes_above = count.sum() - np.cumsum(np.bincount(size.astype(np.int64), weights=count))[1:-1]  # above 1, 2, …
    steps = np.arange(1.0, len(classes_above) + 1)

    def theta_of(alpha: float) -> float:
        def score(t: float) -> float:
            theta = np.exp(t) - alpha
            return _reciprocals(theta, alpha, u) - float(scipy.special.psi(theta + n) - scipy.special.psi(theta + 1))

        return float(np.exp(_falling_root(score, -30.0, np.log(n) + 30)) - alpha)

    def score(alpha: float) -> float:
        return _weighted_reciprocals(theta_of(alpha), alpha, u) - float((classes_above / (steps - alpha)).sum())

    alpha = _falling_root(score, 1e-9, 1 - 1e-12)
    return theta_of(alpha), alpha


def _reciprocals(theta: float, alpha: float, u: int) -> float:
    """Sum of 1/(θ + iα) over i = 1 … u − 1."""
    if u <= _SHORT:
        return float((1 / (theta + alpha * np.arange(1.0, u))).sum())
    if theta > _FLAT * alpha:  # the two logarithmic derivatives would be equal in nearly all digits
        return float(np.log1p(alpha * (u - 1) / (theta + alpha / 2)) / alpha)
    return float((scipy.special.psi(theta / alpha + u) - scipy.special.psi(theta / alpha + 1)) / alpha)


def _weighted_reciprocals(theta: float, alpha: float, u: int) -> float:
    """Sum of i/(θ + iα) over i = 1 … u − 1."""
    if u <= _SHORT:
        i = np.arange(1.0, u)
        return float((i / (theta + alpha * i)).sum())
    if theta > _FLAT * alpha * u:
        return u * (u - 1) / (2 * theta) * (1 - alpha * (2 * u - 1) / (3 * theta))
    return (u - 1 - theta * _reciprocals(theta, alpha, u)) / alpha


def _falling_root(score: Callable[[float], float], low: float, high: float) -> float:
    """Where a score changes its sign; the end it points to where it does not."""
    at_low, at_high = score(low), score(high)
    if at_low <= 0:
        return low
    return high if at_high >= 0 else float(scipy.optimize.brentq(score, low, high, xtol=1e-13, rtol=1e-14))


def slide_negative_binomial_uniques(sizes: Ints, frequencies: Ints, fraction: float) -> float | None:
    """Estimate population uniques by the slide negative binomial model: class sizes less one are negative binomial.

    The number of the population's classes is estimated first; the two parameters are those with which as many classes
    of one and of two records are expected as there are.

    Parameters
    ----------
    sizes : ndarray, shape (s,)
        Sizes of classes that occur, each once, ≥ 1.
    frequencies : ndarray, shape (s,)
        Classes of each size.
    fraction
        Records of the sample over people of the population, above 0 and at most 1.

    Returns
    -------
    float or None
        People of the population; None without records, or where no parameters fit.

    Raises
    ------
    DataError
        If the fraction is not above 0 and at most 1.

    Examples
    --------
    >>> slide_negative_binomial_uniques(np.array([2, 3]), np.array([15, 4]), 0.5)
    0.0

    Source: Chen & Keller-McNulty (1998), Estimation of identification disclosure risk in microdata, Journal of Official
    Statistics 14, 79-95.
    """
    given = _known(sizes, frequencies, fraction)
    if given is not None:
        return given[0]
    size, count = _table(sizes, frequencies)
    single, double = float(count[size == 1].sum()), float(count[size == 2].sum())
    if single == 0:
        return 0.0
    if double == 0:
        return None
    K = _classes_of_the_population(size, count, single, fraction)
    N = float((size * count).sum()) / fraction
    fitted = _slide(single, double, K, fraction)
    return None if fitted is None else float(min(N, K * fitted[1] ** fitted[0]))


def _classes_of_the_population(size: Floats, count: Floats, single: float, f: float) -> float:
    """Estimate how many classes the population has, seen in the sample or not."""
    missed = (1 - f) ** size
    first = (size * f**2 * (1 - f**2) ** (size - 1) * count).sum()
    hidden = ((1 - f) ** size * ((1 + f) ** size - 1) * count).sum()
    ratio = (missed * count).sum() / (size * f * (1 - f) ** (size - 1) * count).sum()
    return float(count.sum() + single * first / hidden * ratio**2)


def _slide(single: float, double: float, K: float, f: float) -> tuple[float, float] | None:
    """Find α and β: α from the ratio of the two equations, a quadratic with one positive root; β from the first."""

    def alpha_of(beta: float) -> float:
        d = (1 - f) * (1 - beta)
        scale = single * f * (1 - beta)
        a, b, c = scale * d, scale * (2 - d) - 2 * double * (1 - d) * d, -2 * double * (1 - d) ** 2
        root = np.sqrt(b * b - 4 * a * c)
        return float(-2 * c / (b + root) if b > 0 else (root - b) / (2 * a))

    def gap(beta: float) -> float:
        d, alpha = (1 - f) * (1 - beta), alpha_of(beta)
        expected = alpha * np.log(beta / (1 - d)) + np.log(alpha * d / (1 - d) + 1)
        return float(expected - np.log(single / (K * f)))

    at = 1 / (1 + np.exp(-np.linspace(-14, 14, 113)))
    gaps = np.array([gap(float(b)) for b in at])
    crossing = np.flatnonzero((gaps[:-1] < 0) != (gaps[1:] < 0))
    if not len(crossing):
        return None
    i = int(crossing[0])
    beta = float(scipy.optimize.brentq(gap, float(at[i]), float(at[i + 1]), xtol=1e-15, rtol=1e-14))
    return alpha_of(beta), beta


def _known(sizes: Ints, frequencies: Ints, fraction: float) -> tuple[float | None] | None:
    """What all estimators agree on: nobody there, everybody sampled, everybody unique."""
    if not 0 < fraction <= 1:
        raise DataError("fraction: must be above 0 and at most 1")
    size, count = _table(sizes, frequencies)
    n, single = float((size * count).sum()), float(count[size == 1].sum())
    if n == 0:
        return (None,)
    if fraction == 1 or single == n:
        return (single / fraction,)
    return None


def _table(sizes: Ints, frequencies: Ints) -> tuple[Floats, Floats]:
    there = np.asarray(frequencies) > 0
    return np.asarray(sizes, dtype=np.float64)[there], np.asarray(frequencies, dtype=np.float64)[there]
