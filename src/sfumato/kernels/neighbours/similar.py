"""Groups of records that are near over many columns at once: coordinates cut to what counts, blocks, MDAV in each.

Source of the groups: Domingo-Ferrer and Mateo-Sanz (2002), doi:10.1109/69.979982; Domingo-Ferrer and Torra (2005),
doi:10.1007/s10618-005-0007-5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.neighbours.blocks import blocks
from sfumato.kernels.neighbours.mdav import mdav

__all__ = ["MOST_COORDINATES", "leading", "on_lattice", "similar_groups"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COORDINATES = 12
"""Coordinates beyond which the leading principal components do better than all of them, and are faster."""
_BLOCK = 800
_LOOKED_AT = 10_000  # records that tell the principal components; others lie in the same directions
_LATTICE = 2.0**20
_NOTHING = 1e-10  # of the largest sum of squares: what is left by rounding where points do not differ


def on_lattice(z: Floats) -> Floats:
    """Points on so fine a lattice that squared distances are exact: ties do not hang on last bits, shape (n, p).

    Examples
    --------
    >>> on_lattice(np.array([[0.1 + 0.2]])).item() == on_lattice(np.array([[0.3]])).item()
    True
    """
    return np.rint(z * _LATTICE) / _LATTICE


def leading(z: Floats, most: int = MOST_COORDINATES) -> Floats:
    """The leading principal components of points, or the points where they have no more coordinates than that.

    Parameters
    ----------
    z
        Points in an order that nothing in the data chose, shape (n, p), no NaN.
    most
        Most coordinates.

    Returns
    -------
    ndarray, shape (n, min(p, most))
        Centred; the sign of a component is that of its largest loading.

    Examples
    --------
    >>> leading(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), most=1).round(3).tolist()
    [[-1.414], [0.0], [1.414]]
    """
    if z.shape[1] <= most:
        return z
    some = z[:_LOOKED_AT]
    middle = some.mean(axis=0)
    centred = some - middle
    chosen = _directions(centred, most)
    largest = np.abs(chosen).argmax(axis=0)
    return np.asarray((z - middle) @ (chosen * np.sign(chosen[largest, np.arange(most)])))


def _directions(centred: Floats, most: int) -> Floats:
    """The leading principal directions, shape (p, most); of more coordinates than points from the products of points.

    Directions in which the points do not differ are zero there: nobody needs them, and there may be fewer points than
    directions are wanted.
    """
    n, p = centred.shape
    if n >= p:
        return np.asarray(np.linalg.eigh(centred.T @ centred)[1][:, : -most - 1 : -1])
    squares, left = np.linalg.eigh(centred @ centred.T)
    told = squares[::-1][:most] > _NOTHING * squares[-1]
    directions = np.zeros((p, most))
    directions[:, : len(told)] = np.where(told, centred.T @ left[:, ::-1][:, :most], 0.0)
    lengths = np.linalg.norm(directions, axis=0)
    return directions / np.where(lengths > 0, lengths, 1.0)


def similar_groups(z: Floats, k: int) -> tuple[Ints, Ints]:
    """Group points that are near: blocks cut at medians of the widest coordinate, MDAV in each.

    Parameters
    ----------
    z
        Points, shape (n, p), n ≥ 1, no NaN. Ties go to the lower row, so the caller fixes the order of rows.
    k
        Fewest points in a group, if there are as many.

    Returns
    -------
    group, block : ndarray, shape (n,), int64
        Group and block of each point, 0, 1, …; time grows about as n.

    Examples
    --------
    >>> similar_groups(np.array([[0.0], [9.0], [0.1], [9.1]]), 2)[0].tolist()
    [0, 1, 0, 1]
    """
    group, block = np.empty(len(z), dtype=np.int64), np.empty(len(z), dtype=np.int64)
    first = 0
    pieces = (part for rows in blocks(z, _BLOCK, k) for part in _pieces(z, rows, k))
    for number, part in enumerate(pieces):
        block[part] = number
        group[part] = first + mdav(z[part], k)
        first = int(group[part].max()) + 1
    return group, block


def _pieces(z: Floats, rows: Ints, k: int) -> list[Ints]:
    """A block that no coordinate can cut, since nearly all its points are equal, in pieces of a block's size."""
    if len(rows) <= _BLOCK:
        return [rows]
    order = rows[np.lexsort(z[rows].T[::-1])]
    return np.array_split(order, max(1, len(rows) // max(_BLOCK, k)))
