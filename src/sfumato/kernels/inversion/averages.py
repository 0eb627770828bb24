"""Solve for values whose averages over given neighbourhoods are known, staying near a guess."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["from_averages"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_STEPS, _ENOUGH = 10, 1e-10


@compiled
def from_averages(rows: Rows, weight: Floats, target: Floats, hold: Floats, guess: Floats) -> Floats:
    """Minimise the weighted squares of averages minus targets and of values minus guesses, by conjugate gradients.

    Parameters
    ----------
    rows
        Whose values each average is of, shape (n, k).
    weight, target
        Of each average, shape (n,).
    hold, guess
        How much each value is held to its guess, shape (n,), hold > 0.

    Returns
    -------
    ndarray
        The values, shape (n,).

    References
    ----------
    Hestenes and Stiefel (1952), doi:10.6028/jres.049.044.
    """
    n, k = rows.shape
    diagonal, residual = hold.copy(), np.zeros(n)
    for i in range(n):
        total = 0.0
        for t in range(k):
            total += guess[rows[i, t]]
        pull = weight[i] * (target[i] - total / k) / k
        for t in range(k):
            residual[rows[i, t]] += pull
            diagonal[rows[i, t]] += weight[i] / (k * k)
    values, scaled = guess.copy(), residual / diagonal
    direction, size = scaled.copy(), np.sum(residual * scaled)
    first = size
    for _ in range(_STEPS):
        if size <= _ENOUGH * first:
            break
        image = hold * direction
        for i in range(n):
            total = 0.0
            for t in range(k):
                total += direction[rows[i, t]]
            pull = weight[i] * total / (k * k)
            for t in range(k):
                image[rows[i, t]] += pull
        along = size / np.sum(direction * image)
        values += along * direction
        residual -= along * image
        scaled = residual / diagonal
        new = np.sum(residual * scaled)
        direction = scaled + new / size * direction
        size = new
    return values
