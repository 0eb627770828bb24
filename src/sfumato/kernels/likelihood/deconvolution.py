"""Mixtures of normals seen through normal noise: where an ascent of their likelihood may begin.

What was released is z = x + N(0, Ω), and x a mixture of G normals; then z is one too, with covariances S_g + Ω. The EM
algorithm takes the noise off within its steps. It climbs slowly and to the nearest summit, so it is started from
several places that hang on nothing but the values, and run on points that stand for many records: what it gives is
where to begin, not an estimate.

Source: Bovy, Hogg and Roweis (2011), Annals of Applied Statistics 5, 1657-1677, doi:10.1214/10-AOAS439 (extreme
deconvolution); Chen, Tan and Zhang (2008), Statistica Sinica 18, 443-465, jstor.org/stable/24308490 (the penalty).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Parts", "deconvolve", "thinned"]

Floats = NDArray[np.float64]

_WIDTH = 0.05
"""Width of the intervals that stand for the records where one number is hidden, in standard deviations of it."""
_MOST = 2000
"""Most records that stand for all where several numbers are hidden."""
_SHORT, _LONG = 20, 40
"""Steps of EM from each start, and from the best of them."""
_SPLITS = (0.5, 0.8, 0.2)
"""Quantiles at which two parts are begun below and above."""
_TIGHT, _LOOSE = 0.4, 2.0
"""Shares of the whole covariance at which two parts around one mean are begun."""
_NARROW = 0.05
"""Least share of the whole variance that a part begins with."""


@dataclass(frozen=True)
class Parts:
    """A mixture of G normals of c numbers.

    Parameters
    ----------
    weights : ndarray, shape (G,)
        They sum to 1.
    means : ndarray, shape (G, c)
    covariances : ndarray, shape (G, c, c)
    """

    weights: Floats
    means: Floats
    covariances: Floats


@dataclass(frozen=True)
class _Points:
    """Points u (n, c) of weights (n,), the noise in them, and the covariance that parts are drawn to."""

    u: Floats
    weight: Floats
    noise: Floats
    size: Floats

    def step(self, parts: Parts) -> tuple[Parts, float]:
        """One step of EM, and the penalised log-likelihood before it."""
        S = parts.covariances
        C = S + self.noise
        precision = np.linalg.inv(C)
        gap = self.u - parts.means[:, None]
        height = np.log(parts.weights) - 0.5 * np.linalg.slogdet(C)[1]
        log_f = height[:, None] - 0.5 * ((gap @ precision) * gap).sum(axis=2)
        top = log_f.max(axis=0)
        r = np.exp(log_f - top)
        total = r.sum(axis=0)
        r *= self.weight / total
        mass = r.sum(axis=1)
        gain = S @ precision
        expected = parts.means[:, None] + gap @ gain.transpose(0, 2, 1)
        means = (r[:, None] @ expected)[:, 0] / np.maximum(mass, 1e-300)[:, None]
        gap = expected - means[:, None]
        inside = (S - gain @ S) * mass[:, None, None] + gap.transpose(0, 2, 1) @ (gap * r[:, :, None]) + self.size
        covariances = (inside + inside.transpose(0, 2, 1)) / 2 / (mass + 1)[:, None, None]
        penalty = 0.5 * (np.sum(self.size * np.linalg.inv(S)) + np.linalg.slogdet(S)[1].sum())
        found = float(self.weight @ (np.log(total) + top) + np.log(parts.weights).sum() - penalty)
        return Parts((mass + 1) / (mass + 1).sum(), means, covariances), found

    def climb(self, parts: Parts, steps: int) -> tuple[Parts, float]:
        """Many steps, and the log-likelihood before the last."""
        height = -math.inf
        for _ in range(steps):
            parts, height = self.step(parts)
        return parts, height


def thinned(u: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Points that stand for many records, whatever the order of these.

    Parameters
    ----------
    u : ndarray, shape (n, c)
        Records.
    weight : ndarray, shape (n,)
        Of each.

    Returns
    -------
    ndarray, ndarray
        Of one number the means of narrow intervals; of several, records at even distances in their order.

    Examples
    --------
    >>> points, weight = thinned(np.arange(1000.0)[:, None], np.ones(1000))
    >>> points.shape, float(weight.sum())
    ((70, 1), 1000.0)
    """
    n, c = u.shape
    order = np.lexsort(u.T[::-1])
    if c == 1:
        width = _WIDTH * float(np.sqrt(np.cov(u[:, 0], aweights=weight))) if n > 1 else 0.0
        if not width > 0:
            return u[order], weight[order]
        place = np.floor((u[order, 0] - u[order[0], 0]) / width)
        cuts = np.flatnonzero(np.diff(place, prepend=-1.0))
        mass = np.add.reduceat(weight[order], cuts)
        return np.add.reduceat((u[:, 0] * weight)[order], cuts)[:, None] / mass[:, None], mass
    if n <= _MOST:
        return u[order], weight[order]
    kept = order[np.linspace(0, n - 1, _MOST).astype(np.int64)]
    return u[kept], weight[kept] * (weight.sum() / weight[kept].sum())


def deconvolve(u: Floats, weight: Floats, noise: Floats, most: int) -> Iterator[Parts]:
    """Give mixtures of 1, 2, … normals of what was released less its noise, to begin an ascent at.

    Parameters
    ----------
    u : ndarray, shape (n, c)
        What was released, complete, less what the exact covariates explain.
    weight : ndarray, shape (n,)
        Of each record.
    noise : ndarray, shape (c, c)
        Covariance of the noise, the mean one where it differs.
    most
        How many normals at most.

    Examples
    --------
    >>> z = np.concatenate([np.linspace(-3, -1, 300), np.linspace(1, 3, 300)])[:, None]
    >>> _, two = deconvolve(z, np.ones(600), np.zeros((1, 1)), 2)
    >>> np.sort(two.means[:, 0]).round(1).tolist()
    [-2.0, 2.0]
    """
    points, mass = thinned(u, weight)
    mean = weight @ u / weight.sum()
    gap = u - mean
    total = gap.T @ (gap * weight[:, None]) / weight.sum()
    whole = _taken_off(total, noise, total)
    found = Parts(np.ones(1), mean[None], whole[None])
    yield found
    for count in range(2, most + 1):
        work = _Points(points, mass, noise, whole / count**2)
        starts = list(_halves(points, mass, noise, total) if count == 2 else _split(found))
        runs = [work.climb(start, _SHORT) for start in starts]
        best = max(runs, key=lambda run: run[1])[0]
        found, _ = work.climb(best, _LONG)
        yield found


def _taken_off(covariance: Floats, noise: Floats, total: Floats) -> Floats:
    """A covariance less the noise, with no direction below a small share of the whole variance."""
    scale = np.sqrt(np.maximum(np.diagonal(total), 1e-300))
    values, vectors = np.linalg.eigh((covariance - noise) / np.outer(scale, scale))
    return np.asarray((vectors * np.maximum(values, _NARROW)) @ vectors.T * np.outer(scale, scale))


def _halves(u: Floats, weight: Floats, noise: Floats, total: Floats) -> Iterator[Parts]:
    """Two parts: below and above a quantile of each number, and a narrow one within a wide one."""
    for j in range(u.shape[1]):
        order = np.argsort(u[:, j], kind="stable")
        share = np.cumsum(weight[order]) / weight.sum()
        for split in _SPLITS:
            low = np.zeros(len(u), dtype=bool)
            low[order[share <= split]] = True
            yield _of_slices(u, weight, noise, total, [low, ~low])
    mean = weight @ u / weight.sum()
    S = _taken_off(total, noise, total)
    yield Parts(np.array([0.7, 0.3]), np.array([mean, mean]), np.array([_TIGHT * S, _LOOSE * S]))


def _of_slices(u: Floats, weight: Floats, noise: Floats, total: Floats, slices: list[NDArray[np.bool_]]) -> Parts:
    weights, means, covariances = [], [], []
    for rows in slices:
        own = weight[rows]
        mean = own @ u[rows] / own.sum()
        gap = u[rows] - mean
        weights.append(own.sum() / weight.sum())
        means.append(mean)
        covariances.append(_taken_off(gap.T @ (gap * own[:, None]) / own.sum(), noise, total))
    return Parts(np.array(weights), np.array(means), np.array(covariances))


def _split(parts: Parts) -> Iterator[Parts]:
    """One part more: each in turn is split in two, side by side along where it is widest, and one in the other."""
    for j, (weight, mean, S) in enumerate(zip(parts.weights, parts.means, parts.covariances, strict=True)):
        values, vectors = np.linalg.eigh(S)
        away = vectors[:, -1] * math.sqrt(float(values[-1])) * math.copysign(1.0, float(vectors[:, -1].sum()))
        rest = [np.delete(a, j, axis=0) for a in (parts.weights, parts.means, parts.covariances)]
        for step, scales in ((0.7, (0.5, 0.5)), (0.0, (_TIGHT, _LOOSE))):
            yield Parts(
                np.append(rest[0], [weight / 2, weight / 2]),
                np.concatenate([rest[1], [mean - step * away, mean + step * away]]),
                np.concatenate([rest[2], [scales[0] * S, scales[1] * S]]),
            )
