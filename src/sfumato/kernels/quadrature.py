"""Nodes for integrating over a true value of which only a noisy, bounded or rounded one was released.

Where the noise is not plain normal (it grows, is Laplace or uniform, or the value was set to a bound or rounded), the
integral over the true value is a sum over fixed nodes: Gauss-Legendre on four intervals around the released value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.released import Law

__all__ = ["NODES", "true_value_nodes"]

Floats = NDArray[np.float64]

NODES = 64
"""Nodes for each record, a quarter of them in each interval."""
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
        Standard deviation of the noise; 0 where values were only bounded or rounded.
    law
        How they were released.
    spread
        Standard deviation of the column.
    growth
        What the standard deviation is multiplied by at each true value.

    Returns
    -------
    nodes : ndarray, shape (n, NODES)
        True values.
    log_weights : ndarray, shape (n, NODES)
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
        nodes.append(a[:, None] + np.outer(b - a, (t + 1) / 2))
        widths.append(np.outer(b - a, w / 2))
    x, width = np.concatenate(nodes, axis=1), np.concatenate(widths, axis=1)
    with np.errstate(divide="ignore"):
        log_width = np.log(width)
    if sd == 0:
        return x, log_width
    strength = np.full(x.shape, sd) if growth is None else sd * growth(x)
    return x, log_width + law.log_density(z[:, None], x, strength)


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
