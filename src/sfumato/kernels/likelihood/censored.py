"""Mean and standard deviation of normal values of which some are known only to lie beyond a bound."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

__all__ = ["censored_moments"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ROUNDS = 500
_DONE = 1e-6


def censored_moments(z: Floats, below: Bools, above: Bools) -> tuple[float, float]:
    """Estimate mean and standard deviation by maximum likelihood (EM).

    Parameters
    ----------
    z : ndarray, shape (n,)
        Values, or the bound that a value lies beyond.
    below, above : ndarray, shape (n,)
        Which are at most, and at least, the bound given.

    Returns
    -------
    float, float

    Notes
    -----
    Source: Dempster, Laird and Rubin (1977), doi:10.1111/j.2517-6161.1977.tb01600.x, section 4.2.

    Examples
    --------
    >>> z = np.array([-1.0, 0.0, 1.0, 1.0])
    >>> none = np.zeros(4, dtype=bool)
    >>> censored_moments(z, none, none) == (z.mean(), z.std())
    True
    """
    mean, sd = float(z.mean()), float(z.std())
    sign = np.where(above, 1.0, -1.0)[below | above]
    if not len(sign) or sd == 0:
        return mean, sd
    known, bound = z[~(below | above)], z[below | above]
    for _ in range(_ROUNDS):
        a = sign * (bound - mean) / sd
        hazard = np.exp(-0.5 * a**2 - 0.5 * math.log(2 * math.pi) - log_ndtr(-a))
        first = mean + sign * sd * hazard
        second = sd**2 * (1 + a * hazard - hazard**2)
        new = (known.sum() + first.sum()) / len(z)
        spread = math.sqrt((((known - new) ** 2).sum() + ((first - new) ** 2 + second).sum()) / len(z))
        moved, mean, sd = abs(new - mean) + abs(spread - sd), float(new), spread
        if moved < _DONE * sd:
            break
    return mean, sd
