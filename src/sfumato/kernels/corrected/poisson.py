"""Regression of a mean with the logarithm as link, by corrected equations, and the ascent that others use too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.corrected.linear import definite_inverse
from sfumato.kernels.corrected.tilted import Tilted

__all__ = ["STEPS", "Root", "climbed", "corrected_poisson"]

Floats = NDArray[np.float64]

STEPS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the noise that are taken out in turn: there may be several roots, and this way leads to the right one."""
_ROUNDS, _HALVINGS = 40, 25
_ENOUGH = 50_000
"""Of many more records than this, about so many show the way."""
_NEAR, _SURE = 1e-2, 1e-8
"""A root is reached where the next step is below this, in standard errors: on the way, and at the end."""

Look = Callable[[Floats], tuple[float, Floats, Floats]]
"""What is climbed: its height, its slope, shape (p,), and minus its bend, shape (p, p)."""


@dataclass(frozen=True)
class Root:
    """Where corrected equations hold.

    Parameters
    ----------
    estimate : ndarray, shape (p,)
        The coefficients.
    bread : ndarray, shape (p, p)
        Inverse of minus the derivative of the equations' sum.
    scores : ndarray, shape (n, p)
        What each record adds to them, not weighted.
    """

    estimate: Floats
    bread: Floats
    scores: Floats


def climbed(look: Look, b: Floats, near: float) -> tuple[Floats, Floats] | None:
    """Follow Newton's steps to a root at which the derivative is definite, as it has to be all the way.

    Parameters
    ----------
    look
        Height, slope and minus the bend at coefficients.
    b : ndarray, shape (p,)
        Where to begin.
    near
        Length of the last step, in standard errors of a likelihood.

    Returns
    -------
    tuple of ndarray, or None
        The root, and the inverse of minus the bend there; None where there is none.

    Examples
    --------
    >>> root, bread = climbed(lambda b: (-float(b @ b), -2 * b, 2 * np.eye(1)), np.array([3.0]), 1e-6)
    >>> float(root[0]), bread.tolist()
    (0.0, [[0.5]])
    """
    height, slope, bend = look(b)
    for _ in range(_ROUNDS):
        bread = definite_inverse(bend)
        if bread is None or not np.isfinite(height):
            return None
        step = bread @ slope
        length = float(np.sqrt(max(float(slope @ step), 0.0)))
        if length <= near:
            return b + step, bread
        for _ in range(_HALVINGS):
            there = look(b + step)
            if np.isfinite(there[0]) and there[0] >= height - 1e-12 * abs(height):
                break
            step = step / 2
        else:
            return None
        b, (height, slope, bend) = b + step, there
    return None


def corrected_poisson(
    tilted: Tilted, y: Floats, weight: Floats, start: Floats, shared: Floats | None = None
) -> Root | None:
    """Solve the equations of Poisson regression, unbiased for those of the true data; the variance of y is free.

    Parameters
    ----------
    tilted
        The design.
    y : ndarray, shape (n,)
        Numbers whose mean is exp(b'x).
    weight : ndarray, shape (n,)
        Of each record.
    start : ndarray, shape (p,)
        The naive coefficients.
    shared : ndarray, shape (n, p), optional
        Covariance of the noise on the columns and that on y.

    Returns
    -------
    Root or None
        None where the equations have no root with a definite derivative.

    References
    ----------
    Nakamura (1990), doi:10.1093/biomet/77.1.127.

    Examples
    --------
    >>> from sfumato.kernels.corrected.design import Design
    >>> from sfumato.kernels.corrected.noise import Noise
    >>> rng = np.random.default_rng(2)
    >>> x = rng.normal(size=20_000)
    >>> y = rng.poisson(np.exp(0.5 + 0.4 * x) * rng.gamma(1, 1, 20_000)).astype(float)
    >>> z, columns = x + rng.normal(0, 0.6, 20_000), np.ones((20_000, 2))
    >>> noise, powers = Noise(np.array([[0.36]])), np.array([[0], [1]])
    >>> tilted = Tilted(Design(columns, powers, z[:, None], [noise], np.zeros(20_000, dtype=np.int64)))
    >>> corrected_poisson(tilted, y, np.ones(20_000), np.array([0.5, 0.3])).estimate.round(1).tolist()
    [0.5, 0.4]
    """
    n = tilted.design.n
    some = np.arange(0, n, max(n // _ENOUGH, 1))
    few = (tilted.take(some), y[some], weight[some], None if shared is None else shared[some])
    every = (tilted, y, weight, shared)
    with np.errstate(over="ignore", invalid="ignore"):
        begun = _led(*few, start, STEPS[:-1])
        if begun is None and len(some) < n:  # a rare category may have no record among them
            begun = _led(*every, start, STEPS[:-1])
        found = None if begun is None else _led(*every, begun[0], STEPS[-1:])
    if found is None:
        return None
    told = tilted.linear * y[:, None]
    if shared is not None:
        told -= shared
    _, first = tilted.at(found[0])
    return Root(*found, told - first)


def _led(
    tilted: Tilted, y: Floats, weight: Floats, shared: Floats | None, b: Floats, steps: tuple[float, ...]
) -> tuple[Floats, Floats] | None:
    """Take shares of the noise out in turn: the root with the last of them, and the inverse of minus the bend there."""
    found = (b, np.eye(len(b)))
    for share in steps:
        part = tilted.scaled(share)
        toward = (weight * y) @ part.linear
        if shared is not None:
            toward = toward - share * (weight @ shared)

        def look(b: Floats, part: Tilted = part, toward: Floats = toward) -> tuple[float, Floats, Floats]:
            zero, first, second = part.sums(b, weight)
            return float(toward @ b) - zero, toward - first, second

        next_ = climbed(look, found[0], _SURE if share == 1 else _NEAR)
        if next_ is None:
            return None
        found = next_
    return found
