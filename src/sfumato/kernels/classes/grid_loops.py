"""The loops over the cells of a grid of keys: bring it to a margin, and look how far a Poisson model of it is off."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["adjust", "look"]

Floats = NDArray[np.float64]

_FEW = 0.1
"""Below it the series of (1 − exp(−u))/u and its derivatives are taken, of which closed forms lose digits."""


@compiled
def adjust(means: Floats, wanted: Floats) -> float:
    """Scale means so that they have a two-way margin (a step of iterative proportional fitting).

    Parameters
    ----------
    means : ndarray, shape (before, a, between, b, after)
        Changed in place.
    wanted : ndarray, shape (a, b)

    Returns
    -------
    float
        How far the margin was off, at most.

    Source: Deming & Stephan (1940), doi:10.1214/aoms/1177731829.
    """
    margin = np.zeros(wanted.shape)
    for i in range(means.shape[0]):
        for j in range(means.shape[1]):
            for k in range(means.shape[2]):
                for h in range(means.shape[3]):
                    total = 0.0
                    for m in range(means.shape[4]):
                        total += means[i, j, k, h, m]
                    margin[j, h] += total
    gap = 0.0
    for j in range(means.shape[1]):
        for h in range(means.shape[3]):
            gap = max(gap, abs(margin[j, h] - wanted[j, h]))
            margin[j, h] = wanted[j, h] / margin[j, h] if margin[j, h] > 0 else 0.0
    for i in range(means.shape[0]):
        for j in range(means.shape[1]):
            for k in range(means.shape[2]):
                for h in range(means.shape[3]):
                    by = margin[j, h]
                    for m in range(means.shape[4]):
                        means[i, j, k, h, m] *= by
    return gap


@compiled
def look(means: Floats, counted: NDArray[np.int32], fraction: float) -> tuple[float, float, float, float, float, float]:
    """Sum up what a Poisson model says of cells with one record, and how its underfit biases that.

    Parameters
    ----------
    means : ndarray, shape (cells,)
        Expected records of each cell.
    counted : ndarray, shape (cells,)
        Records there.
    fraction
        Share of the population that the file holds.

    Returns
    -------
    tuple of float
        Expected population uniques; expected right matches; for each of the two its bias and the variance of that.

    Source: Skinner & Shlomo (2008), doi:10.1198/016214507000001328.
    """
    rest = 1 - fraction
    uniques, matches = 0.0, 0.0
    bias_uniques, variance_uniques, bias_matches, variance_matches = 0.0, 0.0, 0.0, 0.0
    for i in range(len(means)):
        mu, f = means[i], counted[i]
        if mu <= 0:
            continue
        u = rest * mu / fraction
        alone = math.exp(-u)
        if u < _FEW:
            share, first, second = _series(u)
        else:
            share = (1 - alone) / u
            first = (alone * (1 + u) - 1) / (u * u)
            second = (2 - alone * (u * u + 2 * u + 2)) / (u * u * u)
        if f == 1:
            uniques += alone
            matches += share
        # by λ = μ/π the summands have derivatives (1 − π)ᵏ times those by u; the factors of λ and of x, z are joined
        g = mu * math.exp(-mu)
        x = (f - mu) * rest / fraction
        z = ((f - mu) * (f - mu) - f) * rest * rest / (2 * fraction * fraction)
        a = mu * rest * rest / (fraction * fraction)
        b = a * a / 2
        bias_uniques += g * alone * (x + z)
        variance_uniques += g * g * alone * alone * (a + b)
        bias_matches += g * (second * z - first * x)
        variance_matches += g * g * (first * first * a + second * second * b)
    return uniques, matches, bias_uniques, variance_uniques, bias_matches, variance_matches


@compiled
def _series(u: float) -> tuple[float, float, float]:
    """(1 − exp(−u))/u = Σ (−u)ᵏ/(k + 1)! and its first two derivatives, to k = 8."""
    share = 1 - u / 2 * (1 - u / 3 * (1 - u / 4 * (1 - u / 5 * (1 - u / 6 * (1 - u / 7 * (1 - u / 8 * (1 - u / 9)))))))
    first = -1 / 2 + u * (1 / 3 + u * (-1 / 8 + u * (1 / 30 + u * (-1 / 144 + u * (1 / 840 - u / 5760)))))
    second = 1 / 3 + u * (-1 / 4 + u * (1 / 10 + u * (-1 / 36 + u * (1 / 168 + u * (-1 / 960 + u / 6480)))))
    return share, first + u**7 / 45360, second
