"""What the nearest records say of a person: the value that most of them tell, weighted by how near they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.neighbours.classmates import Known

__all__ = ["Nearest", "nearest_among", "nearest_of", "right_votes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_CAP = 3.0
_WIDTH = 0.5  # distance at which a record's weight falls to 1/e of the nearest one's


@dataclass(frozen=True)
class Nearest:
    """The records nearest to each of m people.

    Parameters
    ----------
    rows : ndarray, shape (m, k)
        Rows of records, the nearest first; −1 where a class has fewer.
    distance : ndarray, shape (m, k)
        Their distances.
    """

    rows: Ints
    distance: Floats


def nearest_of(known: Known, people: Ints, k: int) -> Nearest:
    """The k records nearest to each person among those of the person's class.

    Distance: the sum of min(|difference|, 3) / 3 of numbers, 1 for another category, one half for a gap against a
    value.

    Parameters
    ----------
    known
        Of n people; `z`, `b` and `label` of records. Where records are as near the first rows are taken.
    people : ndarray, shape (m,)
        Rows of those who are looked for.
    k
        How many records.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [5.0]])
    >>> none = np.zeros((3, 0), dtype=np.int64)
    >>> nearest_of(Known(x, x, none, none, np.zeros(3, dtype=np.int64)), np.array([0]), 2).rows.tolist()
    [[0, 1]]
    """
    return nearest_among(known, known.x[people], known.a[people], known.label[people], k)


def nearest_among(records: Known, x: Floats, a: Ints, label: Ints, k: int) -> Nearest:
    """As `nearest_of`, of people who need not be among the records.

    Parameters
    ----------
    records
        Of which `z`, `b` and `label` are looked at.
    x, a, label
        True numbers and categories of m people, and their classes.
    k
        How many records.
    """
    order = np.argsort(records.label, kind="stable")
    labels = records.label[order]
    starts, ends = np.searchsorted(labels, label, "left"), np.searchsorted(labels, label, "right")
    z, b = np.ascontiguousarray(records.z[order]), np.ascontiguousarray(records.b[order])
    place, distance = _nearest(np.ascontiguousarray(x), np.ascontiguousarray(a), z, b, starts, ends, k)
    return Nearest(np.where(place < 0, -1, order[place] if len(order) else -1), distance)


@compiled
def _nearest(x: Floats, a: Ints, z: Floats, b: Ints, starts: Ints, ends: Ints, k: int) -> tuple[Ints, Floats]:
    """Places of the k nearest of each person's class and their distances, sorted."""
    m, p, q = len(x), x.shape[1], a.shape[1]
    place = np.full((m, k), -1, dtype=np.int64)
    distance = np.full((m, k), np.inf)
    for i in range(m):
        for j in range(starts[i], ends[i]):
            worst = distance[i, k - 1]
            d = 0.0
            for c in range(q):
                if a[i, c] != b[j, c]:
                    d += 0.5 if a[i, c] < 0 or b[j, c] < 0 else 1.0
            for c in range(p):
                if np.isnan(x[i, c]) or np.isnan(z[j, c]):
                    d += 0.0 if np.isnan(x[i, c]) and np.isnan(z[j, c]) else 0.5
                else:
                    d += min(abs(x[i, c] - z[j, c]), _CAP) / _CAP
                if d >= worst:
                    break
            if d >= worst:
                continue
            at = k - 1
            while at > 0 and distance[i, at - 1] > d:
                distance[i, at], place[i, at] = distance[i, at - 1], place[i, at - 1]
                at -= 1
            distance[i, at], place[i, at] = d, j
    return place, distance


def right_votes(near: Floats, told: Ints, truth: Ints, usual: int, counts: NDArray[np.bool_] | None = None) -> Floats:
    """Chance that the value which most of the nearest records tell is a person's own.

    A record's weight is exp(−(distance − least) / 0.5). Where values tie one of them is guessed; where no record
    counts, the usual value.

    Parameters
    ----------
    near : ndarray, shape (m, k)
        Distances of the nearest records, the least first; infinite where there is none.
    told : ndarray, shape (m, k)
        Number of the value that each of them tells.
    truth : ndarray, shape (m,)
        Number of each person's value.
    usual
        Number of the commonest value.
    counts : ndarray, shape (m, k), bool, optional
        Which records count.

    Returns
    -------
    ndarray, shape (m,)

    Examples
    --------
    >>> right_votes(np.array([[0.0, 1.0, 1.0]]), np.array([[0, 1, 1]]), np.array([0]), 1).tolist()
    [1.0]
    >>> own = np.array([[False, True, True]])
    >>> right_votes(np.array([[0.0, 1.0, 1.0]]), np.array([[0, 1, 1]]), np.array([0]), 1, own).tolist()
    [0.0]
    """
    least = np.where(np.isfinite(near[:, :1]), near[:, :1], 0.0)
    weight = np.exp(-(near - least) / _WIDTH)
    weight = np.where(np.isfinite(near) & (counts if counts is not None else True), weight, 0.0)
    values = int(max(told.max(initial=0), truth.max(initial=0), usual)) + 1
    votes = np.zeros((len(near), values))
    np.add.at(votes, (np.arange(len(near))[:, None], told), weight)
    votes[np.arange(len(near)), usual] += np.where(weight.sum(axis=1) > 0, 0.0, 1.0)
    best = np.isclose(votes, votes.max(axis=1, keepdims=True), rtol=1e-9, atol=0.0)
    return np.asarray(best[np.arange(len(near)), truth] / best.sum(axis=1))
