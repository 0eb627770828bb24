"""What is told of the distribution of hidden numbers: its parts, and its density beside what was released."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture

__all__ = ["Density", "densities", "describe_hidden", "released_histogram"]

Floats = NDArray[np.float64]

_LEAST = 10
"""Fewest records that a bar of the histogram stands for."""
_BARS, _POINTS, _PLACES = 40, 200, 400
"""Bars of the histogram, points of the density, and values of the exact covariates that it is averaged over."""


@dataclass(frozen=True)
class Density:
    """The density of a hidden number's true values, beside the histogram of what was released.

    Parameters
    ----------
    edges, heights : ndarray, shapes (B + 1,) and (B,)
        Bars of the histogram, each of ten records at least; values further out are not shown.
    at, density : ndarray, shape (m,)
        The density of the true values over the same range.
    """

    edges: Floats
    heights: Floats
    at: Floats
    density: Floats


def describe_hidden(problem: Problem, model: GaussianMixture, theta: Floats) -> dict[str, dict[str, Any]]:
    """Tell the parts of each hidden number's distribution, in the order of their means.

    Parameters
    ----------
    problem
        The model with its data.
    model, theta
        The likelihood and its parameters.

    Returns
    -------
    dict
        By column: `components`, and of each `weights`, `means` (at the exact covariates' means) and `sds`.
    """
    weights, means, S = _parts(model, theta)
    found = {}
    for j, covariate in enumerate(problem.continuous):
        order = np.argsort(means[:, j], kind="stable")
        middle, sd = means[order, j], np.sqrt(S[order, j, j])
        if covariate.scale is not None:
            low, high = covariate.scale(middle - sd), covariate.scale(middle + sd)
            middle, sd = covariate.scale(middle), (high - low) / 2
        found[covariate.name] = {
            "components": model.parts,
            "weights": weights[order].tolist(),
            "means": middle.tolist(),
            "sds": sd.tolist(),
        }
    return found


def _parts(model: GaussianMixture, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares (G,), means at the mean of the exact covariates (G, c), and covariances (G, c, c)."""
    _, _, gamma, A, roots = model.split(theta)
    records = model.records
    weight = model.weight[records]
    pi = (weight @ np.exp(model.patterns.log_probability(gamma, records)) / weight.sum()).reshape(model.parts, -1)
    t = model.T.shape[1]
    by_pattern = (model.T @ A[:t]).reshape(model.parts, -1, model.components)
    shares = pi.sum(axis=1)
    means = (pi[:, :, None] * by_pattern).sum(axis=1) / shares[:, None]
    means = means + (weight @ model.patterns.w[records] / weight.sum()) @ A[t:]
    return shares, means, roots @ roots.transpose(0, 2, 1)


def densities(problem: Problem, model: GaussianMixture, theta: Floats) -> dict[str, Density]:
    """Work out the density of each hidden number, beside the histogram of what was released.

    Parameters
    ----------
    problem, model, theta
        As for `describe_hidden`.

    Returns
    -------
    dict
        By column; without those of which bands were released, and those of too few records.
    """
    _, _, gamma, A, roots = model.split(theta)
    t = model.T.shape[1]
    records = model.records
    places = records[np.linspace(0, len(records) - 1, min(len(records), _PLACES)).astype(np.int64)]
    log_pi = model.patterns.log_probability(gamma, places)
    middle = (model.patterns.w[places] @ A[t:])[:, None, :] + (model.T @ A[:t])[None]
    sds = np.repeat(np.sqrt(np.einsum("gij,gij->gi", roots, roots)), len(model.Q) // model.parts, axis=0)
    found = {}
    for j, covariate in enumerate(problem.continuous):
        bars = None if covariate.scale is not None else released_histogram(covariate)
        if bars is None:
            continue
        at = np.linspace(bars[0][0], bars[0][-1], _POINTS)
        density = [_height(x, middle[:, :, j], sds[:, j], log_pi) for x in at]
        found[covariate.name] = Density(bars[0], bars[1], at, np.array(density))
    return found


def _height(x: float, middle: Floats, sd: Floats, log_pi: Floats) -> float:
    log_f = log_pi - 0.5 * ((x - middle) / sd) ** 2 - np.log(sd)
    return float(np.exp(log_f).sum(axis=1).mean()) / math.sqrt(2 * math.pi)


def released_histogram(covariate: Covariate) -> tuple[Floats, Floats] | None:
    """Bars of what was released, at round places, none of fewer than ten records: edges and heights; None without any.

    Parameters
    ----------
    covariate
        A hidden number.

    Examples
    --------
    >>> edges, heights = released_histogram(Covariate("x", (), np.arange(100.0)))
    >>> edges.tolist(), float(heights.sum().round(9))
    ([0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0], 0.1)
    """
    z = covariate.values[~np.isnan(covariate.values)]
    if len(z) < 2 * _LEAST or np.ptp(z) == 0:
        return None
    low, high = np.quantile(z, [0.01, 0.99])
    width = _round((high - low) / min(_BARS, len(z) / _LEAST))
    first, last = math.floor(low / width), math.floor(high / width)
    place = np.floor(z / width).astype(np.int64) - first
    counts = np.bincount(place[(place >= 0) & (place <= last - first)], minlength=last - first + 1)
    edges, kept = _merged(counts)
    if not kept:
        return None
    ends = (first + np.array(edges)) * width
    return ends, np.array(kept) / len(z) / np.diff(ends)


def _merged(counts: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Bars put together until each has enough records; what is left over at the end is left out."""
    edges, kept, total = [0], [], 0
    for j, count in enumerate(counts):
        total += int(count)
        if total >= _LEAST:
            edges.append(j + 1)
            kept.append(total)
            total = 0
    return edges, kept


def _round(width: float) -> float:
    """The next of 1, 2 or 5 times a power of ten, from below."""
    power = 10.0 ** math.floor(math.log10(width))
    return max(step * power for step in _STEPS if step * power <= width * (1 + 1e-9))


_STEPS: Sequence[float] = (1.0, 2.0, 5.0)
