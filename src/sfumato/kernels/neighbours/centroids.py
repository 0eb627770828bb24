"""Centroids of the k nearest neighbours, with ties shared, so that row order changes nothing.

Source: Avraam, Jones and Burton (2021), doi:10.21203/rs.3.rs-344334/v1, steps iii and iv. The paper leaves ties to the
visiting order of its search tree; here the last ring of equally distant points shares what remains of k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rows import distinct as distinct_rows
from sfumato.kernels.rows import scatter

__all__ = ["TIE", "Groups", "Ties", "nearest_centroids", "nearest_groups"]

Ties = Literal["share", "all"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

TIE = 1e-9
"""Relative difference below which two distances are equal."""

_CHUNK = 200_000


@dataclass(frozen=True)
class Groups:
    """The records that each record is averaged with.

    Parameters
    ----------
    centroid
        Their mean, shape (n, p).
    spread
        Root mean square distance from it by column, shape (n, p), where it was asked for.
    signature
        A word that tells which records they are, whatever the order in which they were found, shape (n,); as `spread`.
    """

    centroid: Floats
    spread: Floats | None = None
    signature: Words | None = None

    @classmethod
    def like(cls, points: Floats, known: bool) -> Groups:
        """Room for the groups of points; with all that is known of them, or with centroids only."""
        if not known:
            return cls(np.full_like(points, np.nan))
        return cls(np.full_like(points, np.nan), np.full_like(points, np.nan), np.zeros(len(points), dtype=np.uint64))

    def of(self, rows: Ints | NDArray[np.bool_]) -> Groups:
        """Those of some rows."""
        if self.spread is None or self.signature is None:
            return Groups(self.centroid[rows])
        return Groups(self.centroid[rows], self.spread[rows], self.signature[rows])

    def put(self, rows: Any, columns: Any, found: Groups) -> None:
        """Write the groups of some rows, in some columns."""
        self.centroid[np.ix_(rows, columns)] = found.centroid
        if self.spread is not None and self.signature is not None and found.signature is not None:
            self.spread[np.ix_(rows, columns)] = found.spread
            self.signature[rows] = found.signature


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
    return nearest_groups(z, k, ties=ties, distinct=distinct, wanted=wanted).centroid


def nearest_groups(
    z: Floats,
    k: int,
    words: Words | None = None,
    *,
    ties: Ties = "share",
    distinct: bool = False,
    wanted: NDArray[np.bool_] | None = None,
) -> Groups:
    """Give the k nearest points of each point: their centroid, how far they are from it, and which they are.

    Parameters
    ----------
    z, k, ties, distinct, wanted
        As in `nearest_centroids`.
    words
        A word for each point, equal for equal points, shape (n,), of which the groups' signatures are made. Without
        them only centroids are given.

    Examples
    --------
    >>> found = nearest_groups(np.array([[0.0], [1.0], [3.0]]), 2, np.array([7, 8, 9], dtype=np.uint64))
    >>> found.spread.ravel().tolist(), bool(found.signature[0] == found.signature[1])
    ([0.5, 0.5, 1.0], True)
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
    out = Groups.like(points, words is not None)
    names = None if words is None else scatter(words[found.first])
    for start in range(0, len(targets), _CHUNK):
        part = targets[start : start + _CHUNK]
        _average(tree, points, mass, names, part, k, ties, out)
    return out.of(inverse if wanted is None else inverse[wanted])


def _average(
    tree: object, points: Floats, mass: Floats, names: Words | None, targets: Ints, k: int, ties: Ties, out: Groups
) -> None:
    """Write the groups of the points `targets`; those with a ring still open are asked again for twice as many."""
    todo = np.arange(len(targets))
    ask = k + 1
    while len(todo):
        ask = min(ask, len(points))
        distance, index = tree.query(points[targets[todo]], k=np.arange(1, ask + 1))  # type: ignore[attr-defined]
        weight, is_open = _weights(distance, mass[index], k, ties)
        if ask == len(points):
            is_open[:] = False
        done = ~is_open
        rows, members, shares = targets[todo[done]], index[done], weight[done]
        out.centroid[rows] = _weighted_mean(points, members, shares)
        if names is not None and out.spread is not None and out.signature is not None:
            out.spread[rows] = _weighted_spread(points, members, shares, out.centroid[rows])
            # a sum of whole words hangs on who the members are, and not on the order in which they were found
            which = names[members] * np.round(shares * k * 2.0**20).astype(np.uint64)
            out.signature[rows] = which.sum(axis=1, dtype=np.uint64)
        todo, ask = todo[is_open], 2 * ask


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


def _weighted_spread(points: Floats, index: Ints, weight: Floats, centre: Floats) -> Floats:
    out = np.empty((len(index), points.shape[1]))
    for j in range(points.shape[1]):
        apart = np.ascontiguousarray(points[:, j])[index] - centre[:, j, None]
        out[:, j] = np.sqrt(np.einsum("ij,ij,ij->i", apart, apart, weight))
    return out
