"""h-ranks: how many records hide each target from an attacker who takes the nearest released record for theirs.

The attacker searches with what he knows of target i and takes j*, the released record nearest to it. Then
h_i = #{j : d(y_i, y_j) < d(y_i, y_j*)} counts the true records that are closer to the target than the one he took. The
record itself counts, so that h = 0 exactly if he took the right one.

The paper compares full distance matrices. Here a k-d tree of the released points finds j*, another of the true points
counts, and equal rows are one point each, so that memory grows with n and time hardly faster.

Source: Goldstein, H. and Shlomo, N. (2020). A probabilistic procedure for anonymisation, for assessing the risk of
re-identification and for the analysis of perturbed data sets. Journal of Official Statistics 36(1), 89–115.
doi:10.2478/jos-2020-0005.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import DataError
from sfumato.kernels.neighbours.h_rank_loops import (
    Nodes,
    Pairs,
    Tied,
    choose,
    find_nearest,
    intervals,
    mixtures,
    nodes_of,
    own_is_tied,
    room_for,
    to_others,
)
from sfumato.kernels.neighbours.kdtree import Tree, build_tree
from sfumato.kernels.rows import distinct, scatter

__all__ = ["TIE", "HiddenRanks", "hidden_ranks", "isolation", "ranks_of", "together"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

TIE = 1e-9
"""Relative difference below which two squared distances are equal."""
_EVERYTHING = 2**62  # more records than there can be
_LEAF = 64  # a leaf's distances are worked out several at once, so that large leaves pay
_MANY = 20_000  # fewer targets than this are not worth a second thread
_OFFSETS = np.array([0x9E3779B97F4A7C15, 0x3C6EF372FE94F82A], dtype=np.uint64)  # SplitMix64: one and two steps on


@dataclass(frozen=True)
class HiddenRanks:
    """Distribution of h for each target, over the attacker's choices among ties.

    It is a mixture of uniform distributions on whole numbers; targets with equal distributions share a class.

    Parameters
    ----------
    h
        Expectation of min(h, cap + 1), or of h where `cap` is None, shape (n,).
    cap
        Largest h that is told from larger ones, or None.
    kind
        Class of each target, shape (n,).
    start
        Where the components of each class begin, shape (classes + 1,).
    component
        First value, number of values and records that bring it about, for each component, shape (components, 3).
    total
        Records among which the attacker chooses, for each class, shape (classes,).
    """

    h: Floats
    cap: int | None
    kind: Ints
    start: Ints
    component: Ints | Floats
    total: Ints | Floats

    def probability(self, t: float) -> Floats:
        """Give P(h ≤ t) for each target, shape (n,).

        Parameters
        ----------
        t
            Any number up to the cap.

        Raises
        ------
        DataError
            Where `t` is above the cap or not a number.
        """
        if math.isnan(t) or (self.cap is not None and t > self.cap):
            raise DataError(f"P(h ≤ t) was asked for t = {t}; h was counted up to {self.cap} only. Raise the cap.")
        low, length, records = self.component.T
        within = np.clip(np.floor(t) + 1.0 - low, 0, length)
        return _per_target(records * within / length, self.start, self.total, self.kind)


def hidden_ranks(
    released: ArrayLike,
    truth: ArrayLike,
    *,
    search: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    cap: int | None = None,
    ties: Literal["expected", "keyed"] = "expected",
    lot: Words | None = None,
    threads: int | None = None,
) -> HiddenRanks:
    """Find how many records hide each target from an attacker who takes the nearest released record.

    Squared distances within a relative 1e-9 of each other are ties. Of m released records that are equally near, each
    is taken with probability 1/m. A record that is taken has h = 0 if it is the target's own; it shares the numbers
    1 … c − 1 evenly with the target's other twins if it is one of c records with the target's true values; else it
    shares L … L + g − 1 with the g records of its true distance, where L are closer.

    Memory grows with n, and with a cap time hardly faster than n; in many columns (about 10 and more) no tree helps
    much, and time grows with the number of targets times some power of n below 1. Where very many different records
    are released as one point and no cap is given, time grows with the square of n.

    Parameters
    ----------
    released : ndarray, shape (n, p)
        The released records, as the attacker compares them; row j of `truth` is what row j was made from. Finite.
    truth : ndarray, shape (n, q)
        The true records, in the space where h is counted. Finite.
    search : ndarray, shape (m, p), optional
        What the attacker searches with, one row for each target. Default: the target's row of `truth`.
    targets : ndarray of int, shape (m,), optional
        Row numbers of the targets. Default: all rows.
    cap
        Larger h are not told from each other, which saves most of the time. Default: none.
    ties
        `expected` gives the distribution over all choices; `keyed` makes one choice, by `lot`, so that h is whole.
    lot : ndarray of uint64, shape (n,)
        A keyed number of each record, for `keyed`.
    threads
        Default: one for each core, or one for few targets. The result does not depend on it.

    Returns
    -------
    HiddenRanks
        In the order of the targets.

    Raises
    ------
    DataError
        For arrays whose shapes do not fit, values that are not finite, targets that are no rows, a negative cap or
        missing `lot`.

    Notes
    -----
    What the attacker is assumed to know: the true values of `search`, and that the target is in the file. It says
    nothing of what he learns from a wrong record that resembles the target (attribute disclosure).

    Examples
    --------
    >>> y = np.array([[0.0], [1.0], [3.0]])
    >>> found = hidden_ranks(np.array([[0.9], [1.2], [2.5]]), y)
    >>> found.h.tolist(), found.probability(0).tolist()
    ([0.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    """
    z, y, given, rows = _checked(released, truth, search, targets)
    if cap is not None and cap < 0:
        raise DataError(f"The cap of h is {cap}; it must be 0 or more.")
    if ties == "keyed" and (lot is None or len(lot) != len(z)):
        raise DataError("Ties can only be broken by a keyed number of each record: give `lot`, one for each row.")
    if not len(rows):
        return ranks_of(cap, np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros((0, 3), np.int64), rows)
    file = _file(z, y)
    run = _Runner(threads, len(rows))
    asked = _questions(file, given, rows)
    chosen = _nearest(file, asked, run)
    if ties == "keyed" and lot is not None:
        return _keyed(file, asked, chosen, cap, lot.astype(np.uint64), run)
    return _expected(file, asked, chosen, cap, run)


def together(parts: Sequence[tuple[Ints, HiddenRanks]]) -> HiddenRanks:
    """Put the h-ranks of several sets of targets together.

    Parameters
    ----------
    parts
        Place of each target among all, and the distribution of each; one cap.

    Examples
    --------
    >>> y = np.array([[0.0], [1.0], [3.0]])
    >>> halves = [(np.array(at), hidden_ranks(y, y, search=y[at], targets=at)) for at in ([2], [0, 1])]
    >>> together(halves).h.tolist()
    [0.0, 0.0, 0.0]
    """
    m = sum(len(at) for at, _ in parts)
    h, kind = np.empty(m), np.empty(m, dtype=np.int64)
    starts, classes, components = [np.zeros(1, dtype=np.int64)], 0, 0
    for at, ranks in parts:
        h[at], kind[at] = ranks.h, ranks.kind + classes
        starts.append(ranks.start[1:] + components)
        classes, components = classes + len(ranks.total), components + len(ranks.component)
    component = np.concatenate([ranks.component for _, ranks in parts])
    total = np.concatenate([ranks.total for _, ranks in parts])
    return HiddenRanks(h, parts[0][1].cap, kind, np.concatenate(starts), component, total)


def isolation(truth: ArrayLike) -> Floats:
    """Give the distance from each record to the nearest other one, shape (n,): 0 for twins, ∞ for a record alone.

    Parameters
    ----------
    truth : ndarray, shape (n, q)
        Finite.

    Examples
    --------
    >>> isolation(np.array([[0.0], [1.0], [3.0], [3.0]])).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    y = _table(truth, "true records")
    if not len(y):
        return np.zeros(0)
    if not y.shape[1]:
        return np.full(len(y), 0.0 if len(y) > 1 else np.inf)
    found = distinct(y)
    tree = build_tree(found.points, found.multiplicity, _LEAF)
    distance = to_others(nodes_of(tree), room_for(tree))
    return np.asarray(np.where(found.multiplicity[found.inverse] > 1, 0.0, distance[tree.rank()][found.inverse]))


# -- the file and what is asked of it -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """Trees of the released and the true points, and the place of each record's in them."""

    released: Nodes
    truth: Nodes
    released_tree: Tree
    truth_tree: Tree
    z: Ints
    y: Ints
    pairs: Pairs


@dataclass(frozen=True)
class _Questions:
    """Targets with equal search rows and equal true rows ask the same: once for all of them.

    `search` (questions, p), `truth` the place of the true point, `member` a target's row number; `of` is the question
    of each target, `rows` the targets.
    """

    search: Floats
    truth: Ints
    member: Ints
    of: Ints
    rows: Ints


def _table(values: ArrayLike, what: str) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"The {what} must be a table of numbers: an array with two dimensions.")
    if not np.isfinite(table).all():
        raise DataError(f"The {what} must be finite: leave out or fill in what is missing first.")
    return np.ascontiguousarray(table)


def _checked(
    released: ArrayLike, truth: ArrayLike, search: ArrayLike | None, targets: ArrayLike | None
) -> tuple[Floats, Floats, Floats | None, Ints]:
    """Arrays of shapes that fit; a table without columns gets one that is the same in every row."""
    z, y = _table(released, "released records"), _table(truth, "true records")
    if len(z) != len(y):
        raise DataError("There must be one released record for each true one, in the same order.")
    rows = np.arange(len(y), dtype=np.int64) if targets is None else np.asarray(targets)
    if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise DataError("Targets must be row numbers.")
    rows = rows.astype(np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= len(y)):
        raise DataError("Targets must be row numbers of the file, counted from 0.")
    given = None if search is None else _table(search, "search rows")
    if given is not None and len(given) != len(rows):
        raise DataError("There must be one search row for each target.")
    if z.shape[1] != (y if given is None else given).shape[1]:
        raise DataError("The attacker must search with as many columns as the released records have.")
    if not z.shape[1]:
        z, given = np.zeros((len(z), 1)), np.zeros((len(rows), 1))
    return z, y if y.shape[1] else np.zeros((len(y), 1)), given, rows


def _file(z: Floats, y: Floats) -> _File:
    (released, z_place), (true, y_place) = _tree(z), _tree(y)
    many = len(true.points)
    keys, records = np.unique(z_place * many + y_place, return_counts=True)
    start = np.searchsorted(keys, np.arange(len(released.points) + 1) * many)
    pairs = Pairs(start.astype(np.int64), keys % many, records.astype(np.int64))
    return _File(nodes_of(released), nodes_of(true), released, true, z_place, y_place, pairs)


def _tree(table: Floats) -> tuple[Tree, Ints]:
    """Tree of the distinct rows, and the place of each row's point in it."""
    found = distinct(table)
    tree = build_tree(found.points, found.multiplicity, _LEAF)
    return tree, tree.rank()[found.inverse]


def _questions(file: _File, search: Floats | None, rows: Ints) -> _Questions:
    """Distinct questions, in the order of the true points' leaves: what is near in turn is near in space."""
    place = file.y[rows]
    if search is None:
        truth, first, of = np.unique(place, return_index=True, return_inverse=True)
        return _Questions(file.truth.points[truth], truth, rows[first], of.astype(np.int64), rows)
    found = distinct(np.column_stack([search, place]))
    truth = found.points[:, -1].astype(np.int64)
    order = np.argsort(truth, kind="stable")
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order))
    points = np.ascontiguousarray(found.points[order, :-1])
    return _Questions(points, truth[order], rows[found.first[order]], turn[found.inverse], rows)


class _Runner:
    """Runs compiled work on slices of the questions, side by side, and gives the results in order."""

    def __init__(self, threads: int | None, targets: int) -> None:
        if threads is not None and threads < 1:
            raise DataError(f"The number of threads is {threads}; it must be 1 or more.")
        self.threads = threads or (1 if targets < _MANY else os.cpu_count() or 1)

    def __call__(self, work: Callable[[int, int], Any], size: int) -> list[Any]:
        pieces = 1 if self.threads == 1 else min(8 * self.threads, size)
        cuts = np.linspace(0, size, pieces + 1).astype(int).tolist()
        if pieces == 1:
            return [work(0, size)]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, cuts[:-1], cuts[1:]))


@dataclass(frozen=True)
class _Chosen:
    """The released points nearest in each question, and whether each target's own record is among them."""

    tied: Tied
    own: Bools


def _nearest(file: _File, asked: _Questions, run: _Runner) -> _Chosen:
    nodes, z = file.released, file.z[asked.member]

    def work(a: int, b: int) -> tuple[Floats, Ints, Ints]:
        return find_nearest(nodes, asked.search[a:b], z[a:b], TIE, room_for(file.released_tree))

    distance, count, places = (np.concatenate(part) for part in zip(*run(work, len(z)), strict=True))
    tied = Tied(np.append(0, np.cumsum(count)).astype(np.int64), places)
    own = own_is_tied(nodes, asked.search, asked.of, file.z[asked.rows], distance, TIE)
    return _Chosen(tied, own)


# -- ties by expectation --------------------------------------------------------------------------------------------


def _expected(file: _File, asked: _Questions, chosen: _Chosen, cap: int | None, run: _Runner) -> HiddenRanks:
    size = len(asked.truth)
    flags = np.zeros((size, 2), dtype=np.bool_)  # is there a target whose own record is not, is, among the nearest?
    flags[asked.of, chosen.own.astype(np.int64)] = True
    true, mass, pairs = file.truth, file.released.records, file.pairs
    enough = _EVERYTHING if cap is None else cap

    def work(a: int, b: int) -> tuple[Ints, Ints, Ints]:
        tied, room = Tied(chosen.tied.start[a : b + 1], chosen.tied.places), room_for(file.truth_tree)
        return mixtures(true, mass, pairs, tied, asked.truth[a:b], flags[a:b], enough, TIE, room)

    component, count, total = (np.concatenate(part) for part in zip(*run(work, size), strict=True))
    number = np.cumsum(flags.ravel()) - 1
    kind = number[2 * asked.of + chosen.own]
    return ranks_of(cap, kind, np.append(0, np.cumsum(count)).astype(np.int64), component, total)


def ranks_of(cap: int | None, kind: Ints, start: Ints, component: Ints | Floats, total: Ints | Floats) -> HiddenRanks:
    """The distribution of h of targets, from its parts: arguments as in `HiddenRanks`."""
    low, length, records = component.T
    within = length if cap is None else np.clip(cap + 1 - low, 0, length)
    mean = within * (low + (within - 1) / 2)
    if cap is not None:
        mean = mean + (length - within) * (cap + 1)
    return HiddenRanks(_per_target(records * mean / length, start, total, kind), cap, kind, start, component, total)


def _per_target(value: Floats, start: Ints, total: Ints | Floats, kind: Ints) -> Floats:
    """Sum over the components of each class, as a mean over the attacker's choices, for each target."""
    if not len(kind):
        return np.zeros(0)
    return np.asarray((np.add.reduceat(value, start[:-1]) / total)[kind])


# -- ties by a keyed choice -----------------------------------------------------------------------------------------


def _keyed(file: _File, asked: _Questions, chosen: _Chosen, cap: int | None, lot: Words, run: _Runner) -> HiddenRanks:
    """Choose one of the nearest, and one of the places in its interval, for each target by the numbers of its lot."""
    first, second = (_unit(scatter(lot[asked.rows] + k)) for k in _OFFSETS)
    in_turn = np.lexsort((file.y, lot, file.z))  # the records of each released point, in the order of their lots
    below = file.released.below
    taken = in_turn[choose(chosen.tied, asked.of, below, first)]
    many = len(file.truth.points)
    keys, which = np.unique(asked.truth[asked.of] * many + file.y[taken], return_inverse=True)
    nodes, enough = file.truth, _EVERYTHING if cap is None else cap

    def work(a: int, b: int) -> Ints:
        return intervals(nodes, keys[a:b] // many, keys[a:b] % many, enough, TIE, room_for(file.truth_tree))

    low, length = np.concatenate(run(work, len(keys)))[which].T
    h = np.where(taken == asked.rows, 0, low + np.floor(second * length).astype(np.int64))
    h = h if cap is None else np.minimum(h, cap + 1)
    each = np.arange(len(h), dtype=np.int64)
    ones = np.ones(len(h), dtype=np.int64)
    return ranks_of(cap, each, np.arange(len(h) + 1), np.column_stack([h, ones, ones]), ones)


def _unit(words: Words) -> Floats:
    """Numbers from 0 up to, not including, 1."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)
