"""Nodes for integrating over a true value of which only a noisy, bounded, rounded or banded one was released.

The integral over the true value x becomes a sum over fixed nodes:

- noise that is not plain normal (it grows, is Laplace or uniform, or the value was set to a bound or rounded):
  Gauss-Legendre on four intervals around the released value;
- a value known to lie in an interval: Gauss-Legendre within its image under a logistic distribution function, whose
  tails are heavier than normal ones, so that open intervals need no end;
- plain normal noise where x enters the model by more than its own slope: the trapezoidal rule around what z tells of
  x. For a function that is analytic and as wide as a normal density its error falls as exp(−2π²/h²) with the step h.

Source: Trefethen and Weideman (2014), The exponentially convergent trapezoidal rule, doi:10.1137/130932132.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sfumato.kernels.likelihood.released import Law

__all__ = ["NODES", "interval_nodes", "normal_nodes", "true_value_nodes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NODES = 64
"""Nodes for each record whose noise is not plain normal, a quarter of them in each interval."""
_STEP, _REACHED = 0.5, 8.0
"""Step of the trapezoidal rule in standard deviations of x given z, and how many of them it reaches to either side."""
_TAILS = 1.25
"""For intervals: scale of the logistic distribution, in spreads of the column."""
_WIDTHS = {0.5: 4, 1.0: 6, math.inf: 18}
"""Nodes of an interval that is at most so many spreads of the column wide."""
_REACH = {"gaussian": 8.0, "laplace": 16.0, "uniform": math.sqrt(3)}
"""Standard deviations beyond which noise is not looked for."""
_WIDE = 10.0
"""Spreads of the column that true values are looked for beyond a bound, or where noise grows without end."""
_INNER = 3.0
"""Standard deviations of the noise, or (beyond a bound) spreads of the column, that the inner intervals take."""
_ROUNDS = 60


def true_value_nodes(
    z: Floats, sd: float, law: Law, spread: float, growth: Callable[[Floats], Floats] | None = None
) -> tuple[Floats, Floats]:
    """Place nodes over the possible true values of each released one.

    Parameters
    ----------
    z : ndarray, shape (n,)
        Released values, none missing.
    sd
        Standard deviation of the noise, positive.
    law
        How they were released.
    spread
        Standard deviation of the column.
    growth
        What the standard deviation is multiplied by at each true value.

    Returns
    -------
    nodes : ndarray, shape (n, q)
        True values; q is `NODES`, or half of them where noise reaches no further than the inner intervals.
    log_weights : ndarray, shape (n, q)
        Logarithm of quadrature weight times density of what was released, so that Σ exp(log_weights) g(nodes) is
        ∫ f(z | x) g(x) dx.

    Examples
    --------
    >>> nodes, log_weights = true_value_nodes(np.zeros(1), 1.0, Law(), spread=1.0)
    >>> float(np.exp(log_weights).sum().round(9)), float((np.exp(log_weights) * nodes**2).sum().round(6))
    (1.0, 1.0)
    """
    ends = _ends(z, sd, law, spread, growth)
    t, w = np.polynomial.legendre.leggauss(NODES // 4)
    nodes, widths = [], []
    for a, b in itertools.pairwise(ends):
        if np.array_equal(a, b):
            continue
        nodes.append(a[:, None] + np.outer(b - a, (t + 1) / 2))
        widths.append(np.outer(b - a, w / 2))
    x, width = np.concatenate(nodes, axis=1), np.concatenate(widths, axis=1)
    strength = np.full(x.shape, sd) if growth is None else sd * growth(x)
    with np.errstate(divide="ignore"):
        return x, np.log(width) + law.log_density(z[:, None], x, strength)


def _ends(z: Floats, sd: float, law: Law, spread: float, growth: Callable[[Floats], Floats] | None) -> list[Floats]:
    """Ends of the four intervals to look at for each released value, from below."""
    far = _WIDE * max(spread, sd)
    reach, half = _REACH[law.distribution] * sd, law.rounded / 2
    low, high = z - reach - half, z + reach + half
    if growth is not None:
        for _ in range(_ROUNDS):
            low = np.maximum(z - half - reach * growth(low), z - far)
            high = np.minimum(z + half + reach * growth(high), z + far)
    inner = _INNER * sd * (np.ones_like(z) if growth is None else growth(z)) + half
    above, below = z >= law.high, z <= law.low
    high, low = np.where(above, z + far, high), np.where(below, z - far, low)
    upper = np.minimum(z + np.where(above, _INNER * spread, inner), high)
    lower = np.maximum(z - np.where(below, _INNER * spread, inner), low)
    return [low, lower, z, upper, high]


def normal_nodes(
    z: Floats, variance: Floats, centre: float, spread: float, step: float = _STEP
) -> tuple[Floats, Floats]:
    """Place nodes over the true values of released ones with plain normal noise, or of missing ones.

    Parameters
    ----------
    z : ndarray, shape (n,)
        Released values; NaN where missing.
    variance : ndarray, shape (n,)
        Of the noise on each, positive where z is not missing.
    centre, spread
        Mean and standard deviation of the true values.
    step
        Between nodes, in standard deviations of x given z. Responses may tell far more of a missing value than what was
        released of it, and want a shorter one.

    Returns
    -------
    nodes, log_weights : ndarray, shape (n, q)
        As for `true_value_nodes`; a missing value has density 1.

    Examples
    --------
    >>> nodes, log_weights = normal_nodes(np.array([1.0]), np.array([0.5]), 0.0, 1.0)
    >>> prior = np.exp(-0.5 * nodes**2) / math.sqrt(2 * math.pi)
    >>> float((np.exp(log_weights) * prior).sum().round(6))  # the density of N(0, 1.5) at 1
    0.233399
    """
    missing = np.isnan(z)
    total = np.where(missing, np.inf, variance + spread**2)
    gap = np.where(missing, 0.0, z - centre)
    middle = centre + spread**2 / total * gap
    width = spread * np.sqrt(np.where(missing, 1.0, variance / (variance + spread**2)))
    side = math.ceil(_REACHED / step)
    x = middle[:, None] + np.outer(width, step * np.arange(-side, side + 1))
    log_width = np.broadcast_to(np.log(step * width)[:, None], x.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.sqrt(variance)[:, None]
        log_f = -0.5 * ((z[:, None] - x) / sd) ** 2 - np.log(sd) - 0.5 * math.log(2 * math.pi)
    return x, log_width + np.where(missing[:, None], 0.0, log_f)


def interval_nodes(low: Floats, high: Floats, centre: float, spread: float) -> list[tuple[Ints, Floats, Floats]]:
    """Place nodes over true values that are known to lie in intervals.

    Parameters
    ----------
    low, high : ndarray, shape (n,)
        Ends of each, low below high; −∞ and ∞ where there is none.
    centre, spread
        Mean and standard deviation of the true values.

    Returns
    -------
    list of (ndarray, ndarray, ndarray), shapes (m,), (m, q) and (m, q)
        Rows with equally many nodes: their places in order, their nodes, and the logarithm of the nodes' weights.

    Examples
    --------
    >>> ((rows, nodes, log_weights),) = interval_nodes(np.zeros(1), np.ones(1), 0.0, 1.0)
    >>> nodes.shape, float((np.exp(log_weights) * nodes**2).sum().round(9))
    ((1, 6), 0.333333333)
    """
    scale = _TAILS * spread
    below, above = (low - centre) / scale, (high - centre) / scale
    flip = below + above > 0  # so that far tails are near u = 0, where numbers are fine
    below, above = np.where(flip, -above, below), np.where(flip, -below, above)
    first, last = expit(below)[:, None], expit(above)[:, None]
    found = []
    kind = np.searchsorted(list(_WIDTHS), (high - low) / spread)
    for i, number in enumerate(_WIDTHS.values()):
        rows = np.flatnonzero(kind == i)
        if len(rows):
            t, w = np.polynomial.legendre.leggauss(number)
            u = first[rows] + (last - first)[rows] * (t + 1) / 2
            x = logit(u)
            weights = (last - first)[rows] * w / 2 * scale / (u * (1 - u))
            found.append((rows, centre + scale * np.where(flip[rows, None], -x, x), np.log(weights)))
    return found
