"""Unbiased indicators of true categories, from values that noise or exchange made of them.

With f_l the density (or probability) of what was released where the true category is l, π any positive shares,
f̄ = Σ π_l f_l and G_ml = ∫ f_m f_l / f̄, the weights φ(z) = G⁻¹ f(z) / f̄(z) have E[φ_l | true category m] = 1{l = m}.
Any function g of the category is then estimated without bias by Σ g(l) φ_l, whatever the true shares are. Single
weights may be negative or above 1; they always sum to 1. For exchanged categories φ is a row of the inverse matrix.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.likelihood.released import Law

__all__ = ["Points", "fitted_shares", "released_points", "unbiased_indicators"]

Floats = NDArray[np.float64]

_POINTS = 8_000
_REACH = {"gaussian": 8.0, "laplace": 26.0, "uniform": math.sqrt(3) * (1 + 1e-6)}
"""Standard deviations beyond which next to nothing is released."""
_ROUNDS = 25
_LEAST_SHARE = 1e-3
_SINGULAR = 1e-9
"""Levels whose released values are this much alike cannot be told apart."""


def fitted_shares(density: Floats, weight: Floats) -> Floats:
    """Shares of the true categories by which what was released is likeliest, as far as a few steps of EM come.

    Parameters
    ----------
    density : ndarray, shape (m, L)
        Of what each record shows given each true category, up to a factor of the record.
    weight : ndarray, shape (m,)
        Of each record.

    Returns
    -------
    ndarray, shape (L,)
        Positive, with sum 1. They make the indicators precise; these are unbiased whatever they are.

    Examples
    --------
    >>> fitted_shares(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.ones(4)).round(2).tolist()
    [0.75, 0.25]
    """
    shares = np.full(density.shape[1], 1 / density.shape[1])
    for _ in range(_ROUNDS):
        joint = density * shares
        shares = (weight / joint.sum(axis=1)) @ joint
        shares = shares / shares.sum()
    shares = np.maximum(shares, _LEAST_SHARE)
    return np.asarray(shares / shares.sum())


class Points(NamedTuple):
    """Points that cover all that can be released.

    Parameters
    ----------
    place : ndarray, shape (M,)
        Where they are.
    density : ndarray, shape (M, L)
        Density there given each true value.
    mass : ndarray, shape (M,)
        How much each stands for: a width, or 1 for a value with a probability of its own (a bound, or a multiple where
        values were rounded).
    """

    place: Floats
    density: Floats
    mass: Floats


def released_points(x: Floats, sd: Floats, law: Law) -> Points:
    """Points that cover all that noise can make of a few true values, for integrals over what is released.

    Parameters
    ----------
    x, sd : ndarray, shape (L,)
        The true values, and the standard deviation of the noise at each, above 0.
    law
        How values were released.

    Returns
    -------
    Points

    Examples
    --------
    >>> _, density, mass = released_points(np.array([0.0, 1.0]), np.full(2, 0.5), Law(low=0.0, high=1.0))
    >>> (mass @ density).round(6).tolist()
    [1.0, 1.0]
    """
    reach = _REACH[law.distribution] * float(sd.max())
    low, high = max(float(x.min()) - reach, law.low), min(float(x.max()) + reach, law.high)
    bounds = np.array([b for b in (law.low, law.high) if math.isfinite(b)])
    if law.rounded and (high - low) / law.rounded <= _POINTS:
        multiples = law.rounded * np.arange(math.floor(low / law.rounded) - 1, math.ceil(high / law.rounded) + 2)
        inner = multiples[(multiples > law.low) & (multiples < law.high)]
        points = np.concatenate([inner, bounds])
        return Points(points, np.exp(law.log_density(points[:, None], x, sd)), np.ones(len(points)))
    smooth = replace(law, rounded=0.0)
    jumps = np.concatenate([x, x - math.sqrt(3) * sd, x + math.sqrt(3) * sd])  # where a density bends or jumps
    edges = np.unique(np.clip(np.concatenate([np.linspace(low, high, _POINTS + 1), jumps]), low, high))
    middle = (edges[1:] + edges[:-1]) / 2
    points = np.concatenate([middle, bounds])
    mass = np.concatenate([np.diff(edges), np.ones(len(bounds))])
    return Points(points, np.exp(smooth.log_density(points[:, None], x, sd)), mass)


def unbiased_indicators(density: Floats, shares: Floats, points: Floats, mass: Floats) -> Floats | None:
    """Weights φ whose mean given the true category is the indicator of that category.

    Parameters
    ----------
    density : ndarray, shape (m, L)
        Of what each record shows given each true category, up to a factor of the record.
    shares : ndarray, shape (L,)
        Positive reference shares.
    points : ndarray, shape (M, L)
        Density at points that cover all that can be released.
    mass : ndarray, shape (M,)
        How much each point stands for: a width, or 1 for a value with a probability of its own.

    Returns
    -------
    ndarray, shape (m, L), or None
        None where what was released does not tell the categories apart.

    Examples
    --------
    Two categories of which each stays with probability 0.8:

    >>> kept = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> unbiased_indicators(kept, np.array([0.5, 0.5]), kept, np.ones(2)).round(4).tolist()
    [[1.3333, -0.3333], [-0.3333, 1.3333]]
    """
    there = (points @ shares) > 0
    ratio = points[there] / (points[there] @ shares)[:, None]
    gram = points[there].T @ (ratio * mass[there][:, None])
    scale = np.sqrt(np.diagonal(gram))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    if values[0] <= _SINGULAR * values[-1]:
        return None
    inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
    return np.asarray((density / (density @ shares)[:, None]) @ inverse)
