"""Centroids of the k nearest neighbours, with ties shared, so that row order changes nothing.

Source: Avraam, Jones and Burton (2021), doi:10.21203/rs.3.rs-344334/v1, steps iii and iv. The paper leaves ties to the
visiting order of its search tree; here the last ring of equally distant points shares what remains of k.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rows import distinct as distinct_rows

__all__ = ["TIE", "Ties", "nearest_centroids"]

Ties = Literal["share", "all"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-9
"""Relative difference below which two distances are equal."""

_CHUNK = 200_000


def nearest_centroids(
    z: Floats, k: int, *, ties: Ties = "share", distinct: bool = False, wanted: NDArray[np.bool_] | None = None
) -> Floats:
    """Give the centroid of the k nearest points of each point, itself included.

    Mass is taken in order of distance until it makes k. The last ring, all points whose distances are equal within
    1e-9 relative, shares what remains in proportion to multiplicity (`ties="share"`), or is taken whole (`"all"`).

    Parameters
    ----------
    z
        Points of one stratum, shape (n, p), n ≥ k, no NaN.
    k
        Number of records in a centroid, the record itself included.
    ties
        What to do with the last ring.
    distinct
        Whether equal points count once, so that no record maps to itself because of its twins.
    wanted
        Rows for which a centroid is wanted, shape (n,); all if not given.

    Returns
    -------
    ndarray, shape (n', p)
        Centroids of the wanted rows, in their order.

    Examples
    --------
    >>> nearest_centroids(np.array([[0.0], [1.0], [3.0]]), 2).ravel().tolist()
    [0.5, 0.5, 2.0]
    """
    from scipy.spatial import cKDTree

    found = distinct_rows(z + 0.0)  # −0 and 0 are one value; an order that hangs on the values alone
    points, inverse = found.points, found.inverse
    mass = np.ones(len(points)) if distinct else found.multiplicity.astype(np.float64)
    k = min(k, int(mass.sum()))
    tree = cKDTree(points, leafsize=16, balanced_tree=False, compact_nodes=False)
    if wanted is None:
        targets = np.asarray(tree.indices)  # leaf by leaf: neighbours in space are neighbours in memory
    else:
        targets = np.unique(inverse[wanted])
    out = np.empty_like(points)
    for start in range(0, len(targets), _CHUNK):
        part = targets[start : start + _CHUNK]
        out[part] = _centroids_of(tree, points, mass, part, k, ties)
    return out[inverse if wanted is None else inverse[wanted]]


def _centroids_of(tree: object, points: Floats, mass: Floats, targets: Ints, k: int, ties: Ties) -> Floats:
    """Centroids of the points `targets`; those with a ring still open are asked again for twice as many."""
    out = np.empty((len(targets), points.shape[1]))
    todo = np.arange(len(targets))
    ask = k + 1
    while len(todo):
        ask = min(ask, len(points))
        distance, index = tree.query(points[targets[todo]], k=np.arange(1, ask + 1))  # type: ignore[attr-defined]
        weight, is_open = _weights(distance, mass[index], k, ties)
        if ask == len(points):
            is_open[:] = False
        done = ~is_open
        out[todo[done]] = _weighted_mean(points, index[done], weight[done])
        todo, ask = todo[is_open], 2 * ask
    return out


def _weights(distance: Floats, mass: Floats, k: int, ties: Ties) -> tuple[Floats, NDArray[np.bool_]]:
    """Weight of each neighbour in its centroid, and whether the last ring may go on beyond the neighbours asked for."""
    reached = (np.cumsum(mass, axis=1) >= k).argmax(axis=1)
    ring_at = np.take_along_axis(distance, reached[:, None], axis=1)
    low, high = ring_at * (1 - TIE), ring_at * (1 + TIE)
    inside = distance < low
    ring = ~inside & (distance <= high)
    inner = np.where(inside, mass, 0.0)
    outer = np.where(ring, mass, 0.0)
    if ties == "share":
        left = k - inner.sum(axis=1, keepdims=True)
        outer = outer * (left / outer.sum(axis=1, keepdims=True))
    weight = inner + outer
    return weight / weight.sum(axis=1, keepdims=True), distance[:, -1] <= high[:, 0]


def _weighted_mean(points: Floats, index: Ints, weight: Floats) -> Floats:
    out = np.empty((len(index), points.shape[1]))
    for j in range(points.shape[1]):
        column = np.ascontiguousarray(points[:, j])
        out[:, j] = np.einsum("ij,ij->i", column[index], weight)
    return out
