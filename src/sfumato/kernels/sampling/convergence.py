"""Whether Markov chains have reached their target: rank-normalised split R-hat and the effective number of draws.

Source: Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16, 667-718, doi:10.1214/20-BA1221.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["bulk_effective", "split_r_hat"]

Floats = NDArray[np.float64]


def split_r_hat(draws: Floats) -> float:
    """Spread of all half-chains together over the spread within them: 1 where they agree, trusted up to 1.01.

    The larger of two: of the ranks of the draws (do the chains agree where they are?), and of the ranks of their
    distances from the median (do they agree how wide they are?).

    Parameters
    ----------
    draws : ndarray, shape (C, D)
        Draws of one parameter by chain; at least 4 of each.

    Returns
    -------
    float
        NaN where all draws are equal.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> same, apart = rng.normal(size=(4, 500)), rng.normal(size=(4, 500)) + np.arange(4)[:, None]
    >>> bool(split_r_hat(same) < 1.01), bool(split_r_hat(apart) > 1.5)
    (True, True)
    """
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves))
    return float(np.fmax(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded))))


def bulk_effective(draws: Floats) -> float:
    """How many independent draws would tell as much about the middle of the distribution.

    Parameters
    ----------
    draws : ndarray, shape (C, D)
        Draws of one parameter by chain; at least 10 of each.

    Returns
    -------
    float
        More than C D where successive draws fall on opposite sides; NaN where all draws are equal.

    Examples
    --------
    >>> sticky = np.repeat(np.random.default_rng(1).normal(size=(4, 100)), 10, axis=1)
    >>> bool(200 < bulk_effective(sticky) < 800)
    True
    """
    z = _normal_scores(_halves(draws))
    C, D = z.shape
    covariance = _autocovariance(z)
    within = covariance[:, 0].mean() * D / (D - 1)
    total = within * (D - 1) / D + z.mean(axis=1).var(ddof=1)
    if not total > 0:
        return float("nan")
    correlation = 1 - (within - covariance.mean(axis=0)) / total
    correlation[0] = 1.0
    pairs = correlation[: D - D % 2].reshape(-1, 2).sum(axis=1)
    last = (D - 3) // 2  # the longest lags rest on too few draws
    count = min(int(np.argmax(pairs <= 0)), last) if (pairs <= 0).any() else last  # Geyer's initial positive sequence,
    time = -1 + 2 * float(np.minimum.accumulate(pairs[:count]).sum())  # made to fall
    time += max(float(correlation[2 * count]), 0.0)
    return float(C * D / max(time, 1 / np.log10(C * D)))


def _halves(draws: Floats) -> Floats:
    """Each chain as two; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(x: Floats) -> Floats:
    """Ranks among all draws, equal ones sharing theirs, as quantiles of the normal distribution."""
    _, inverse, count = np.unique(x, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    return np.asarray(ndtri((rank[inverse.reshape(x.shape)] - 0.375) / (x.size + 0.25)))


def _r_hat(z: Floats) -> float:
    D = z.shape[1]
    within = z.var(axis=1, ddof=1).mean()
    if not within > 0:
        return float("nan")
    return float(np.sqrt((D - 1) / D + z.mean(axis=1).var(ddof=1) / within))


def _autocovariance(z: Floats) -> Floats:
    """Autocovariances of each chain at lags 0 to D − 1, divided by D, shape (C, D)."""
    D = z.shape[1]
    f = np.fft.rfft(z - z.mean(axis=1, keepdims=True), 2 * D)
    return np.asarray(np.fft.irfft(f * f.conj(), 2 * D)[:, :D] / D)
