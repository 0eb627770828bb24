"""The h-rank of some targets against a table that is seen in parts: what each part tells adds up.

An attacker takes the released record that is nearest to what he knows; the true records nearer to the target than the
one he took hide it. Two looks at each part tell both: first the released records nearest to each target, with their
true values; then how many true records are nearer than these. Parts may be of any sizes and come in any order: what
comes of them is what the whole table gives, see `sfumato.kernels.neighbours.h_rank`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.neighbours.h_rank import TIE, HiddenRanks, ranks_of
from sfumato.kernels.neighbours.h_rank_loops import (
    closer_and_as_far,
    find_nearest,
    nearest_others,
    nodes_of,
    room_for,
)
from sfumato.kernels.neighbours.kdtree import Tree, build_tree
from sfumato.kernels.rows import distinct, mostly_distinct, row_hash

__all__ = ["MOST_TIED", "Nearest", "Taken", "closer_in", "hidden_by", "nearest_in", "others_in", "tree_of_parts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

MOST_TIED = 8
"""Different true records, of those whose releases are equally near, that are looked at; a fixed choice among more."""
_LEAF = 256  # far fewer people than records: a tree that is built sooner is worth more than one that is walked sooner


@dataclass(frozen=True)
class Nearest:
    """The released records of a part that are nearest to each target.

    Parameters
    ----------
    distance
        Squared distance, shape (m,); ∞ where the part has no record.
    mass
        Records that are equally near, shape (m,).
    twins
        Those of them whose true values are the target's, shape (m,).
    of, word, truth, records
        Those of other true values: which target, a hash of the true values, these values, and how many records; at most
        `MOST_TIED` of a released point, those with the smallest hashes. Shapes (k,), (k,), (k, q), (k,).
    """

    distance: Floats
    mass: Ints
    twins: Ints
    of: Ints
    word: Words
    truth: Floats
    records: Ints


def nearest_in(released: Floats, truth: Floats, search: Floats, goal: Floats, most: int = MOST_TIED) -> Nearest:
    """Find the released records of a part that are nearest to each target.

    Parameters
    ----------
    released : ndarray, shape (n, p)
        The released records of the part, as the attacker compares them. Finite.
    truth : ndarray, shape (n, q)
        What row i was made of, in the space where h is counted. Finite.
    search : ndarray, shape (m, p)
        What the attacker searches with.
    goal : ndarray, shape (m, q)
        True values of the targets.
    most
        Most different true records of one released point.

    Examples
    --------
    >>> y = np.array([[0.0], [1.0], [3.0]])
    >>> found = nearest_in(np.array([[0.5], [0.5], [2.5]]), y, y[:1], y[:1])
    >>> found.mass.tolist(), found.twins.tolist(), found.truth.tolist()
    ([2], [1], [[1.0]])
    """
    m, n = len(search), len(released)
    if not n or not m:
        none = np.zeros(0, dtype=np.int64)
        far, zero = np.full(m, np.inf), np.zeros(m, dtype=np.int64)
        return Nearest(far, zero, zero, none, none.astype(np.uint64), np.zeros((0, goal.shape[1])), none)
    if mostly_distinct(released):
        return _one_by_one(released, truth, search, goal)
    points, values = distinct(released), distinct(np.concatenate([truth, goal]))
    tree = build_tree(points.points, points.multiplicity, _LEAF)
    place, many = tree.rank()[points.inverse], len(values.points)
    keys, records = np.unique(place * many + values.inverse[:n], return_counts=True)
    distance, target, places = _nearest_places(tree, search)
    mass = np.bincount(target, tree.mass[places], m).astype(np.int64)
    own = places * many + values.inverse[n:][target]
    at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    twins = np.bincount(target, np.where(keys[at] == own, records[at], 0), m).astype(np.int64)
    of, pair = _candidates(target, places, keys, values.points, most)
    other = values.inverse[n:][of] != keys[pair] % many
    of, pair = of[other], pair[other]
    those = values.points[keys[pair] % many]
    return Nearest(distance, mass, twins, of, row_hash(those), those, records[pair].astype(np.int64))


def _one_by_one(released: Floats, truth: Floats, search: Floats, goal: Floats) -> Nearest:
    """The same where each record is a point of its own."""
    m = len(search)
    tree = build_tree(released, np.ones(len(released), dtype=np.int64), _LEAF)
    distance, target, places = _nearest_places(tree, search)
    rows = tree.order[places]
    twin = (truth[rows] == goal[target]).all(axis=1)
    mass, twins = np.bincount(target, minlength=m), np.bincount(target[twin], minlength=m)
    of, those = target[~twin], truth[rows[~twin]]
    return Nearest(distance, mass, twins, of, row_hash(those), those, np.ones(len(of), dtype=np.int64))


def _nearest_places(tree: Tree, search: Floats) -> tuple[Floats, Ints, Ints]:
    """Squared distances of the nearest points; pairs of a target and the place of a point that is nearest to it."""
    start = np.zeros(len(search), dtype=np.int64)
    found = find_nearest(nodes_of(tree), np.ascontiguousarray(search), start, TIE, room_for(tree))
    distance, count, places = found
    return distance, np.repeat(np.arange(len(search)), count), places


def _candidates(target: Ints, places: Ints, keys: Ints, values: Floats, most: int) -> tuple[Ints, Ints]:
    """For every target and released point, the numbers of its pairs of a point and a true record; at most so many."""
    many = len(values)
    if len(keys) > len(np.unique(keys // many)):
        word = row_hash(values)[keys % many]
        in_turn = np.lexsort((word, keys // many))
    else:
        in_turn = np.arange(len(keys))
    begins = np.searchsorted(keys // many, places)
    sizes = np.minimum(np.searchsorted(keys // many, places, side="right") - begins, most)
    ends = np.cumsum(sizes)
    step = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return np.repeat(target, sizes), in_turn[np.repeat(begins, sizes) + step]


def tree_of_parts(table: Floats) -> Tree:
    """A tree of the records of a part, in which few people are looked for.

    Parameters
    ----------
    table : ndarray, shape (n, p)
        Finite, n ≥ 1.

    Examples
    --------
    >>> tree_of_parts(np.array([[1.0], [3.0]])).mass.tolist()
    [1.0, 1.0]
    """
    if mostly_distinct(table):
        return build_tree(table, np.ones(len(table), dtype=np.int64), _LEAF)
    found = distinct(table)
    return build_tree(found.points, found.multiplicity, _LEAF)


def others_in(truth: Floats, goal: Floats) -> tuple[Floats, Ints]:
    """Distance from each target to the nearest different true record of a part, and how many are equal to it.

    Parameters
    ----------
    truth : ndarray, shape (n, q)
        True records of the part.
    goal : ndarray, shape (m, q)
        The targets.

    Returns
    -------
    distance, twins
        Shapes (m,); ∞ where there is none.

    Examples
    --------
    >>> distance, twins = others_in(np.array([[0.0], [1.0], [1.0]]), np.array([[1.0]]))
    >>> distance.tolist(), twins.tolist()
    ([1.0], [2])
    """
    if not len(truth) or not len(goal):
        return np.full(len(goal), np.inf), np.zeros(len(goal), dtype=np.int64)
    found = distinct(truth)
    tree = build_tree(found.points, found.multiplicity, _LEAF)
    squared, twins = nearest_others(nodes_of(tree), np.ascontiguousarray(goal), room_for(tree))
    return np.sqrt(squared), twins


def closer_in(truth: Floats, goal: Floats, reach: Floats, enough: int) -> Ints:
    """Count the true records of a part that are closer to each goal than a distance, and those as far.

    Parameters
    ----------
    truth : ndarray, shape (n, q)
        True records of the part.
    goal : ndarray, shape (k, q)
        True values of targets.
    reach : ndarray, shape (k,)
        Squared distances; equal ones are within a relative 1e-9.
    enough
        Counting stops once more than this are closer.

    Returns
    -------
    ndarray, shape (k, 2)

    Examples
    --------
    >>> closer_in(np.array([[0.0], [1.0], [3.0]]), np.array([[0.0]]), np.array([9.0]), 10).tolist()
    [[2, 1]]
    """
    if not len(truth) or not len(goal):
        return np.zeros((len(goal), 2), dtype=np.int64)
    tree = tree_of_parts(truth)
    return closer_and_as_far(nodes_of(tree), np.ascontiguousarray(goal), reach, enough, TIE, room_for(tree))


@dataclass(frozen=True)
class Taken:
    """What all parts together tell of whom the attacker takes for each target.

    Parameters
    ----------
    own
        Whether the target's own record is among the nearest, shape (m,).
    mass, twins
        As in `Nearest`, of all parts, shape (m,).
    alike
        True records with the target's values, itself among them, shape (m,).
    of, records
        As in `Nearest`: candidates of other true values, in the order of the targets, shape (k,).
    counted
        True records closer to the target than the candidate, and those as far, shape (k, 2).
    """

    own: Bools
    mass: Ints
    twins: Ints
    alike: Ints
    of: Ints
    records: Ints
    counted: Ints


def hidden_by(taken: Taken, cap: int) -> HiddenRanks:
    """The distribution of h of each target, from what all parts told.

    Where only some of the tied candidates were looked at, they stand for all of them.

    Parameters
    ----------
    taken
        Whom the attacker takes.
    cap
        Larger h are not told from each other.

    Examples
    --------
    >>> none = np.zeros(0, dtype=np.int64)
    >>> one = np.array([1])
    >>> found = Taken(np.array([True]), one, one, one, none, none, np.zeros((0, 2), dtype=np.int64))
    >>> hidden_by(found, 10).probability(0).tolist()
    [1.0]
    """
    m = len(taken.own)
    low, length = taken.counted.T
    none = low == 0  # no distance from the target: a twin
    low, length = np.where(none, 1, low), np.where(none, np.maximum(length - 1, 1), length)
    beyond = low > cap
    low, length = np.where(beyond, cap + 1, low), np.where(beyond, 1, np.maximum(length, 1))
    looked = np.bincount(taken.of, taken.records, m)
    rest = (taken.mass - taken.twins).astype(np.float64)
    share = np.divide(rest, looked, out=np.zeros(m), where=looked > 0)
    parts = [
        (taken.of, low, length, taken.records * share[taken.of]),
        _of_targets(taken.own, np.zeros(m), np.ones(m), np.ones(m)),
        _of_targets(taken.twins > taken.own, np.ones(m), np.maximum(taken.alike - 1, 1), taken.twins - taken.own),
    ]
    of, first, number, records = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(of, kind="stable")
    start = np.append(0, np.cumsum(np.bincount(of, minlength=m)))
    component = np.column_stack([first, number, records])[order].astype(np.float64)
    return ranks_of(cap, np.arange(m), start, component, taken.mass.astype(np.float64))


def _of_targets(which: Bools, *figures: Floats | Ints) -> tuple[Floats | Ints, ...]:
    return (np.flatnonzero(which), *(np.asarray(each, dtype=np.float64)[which] for each in figures))
