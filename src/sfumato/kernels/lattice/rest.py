"""Records that are in no safe class join one that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.judge import Judge
from sfumato.kernels.lattice.patterns import Patterns, class_of_rows
from sfumato.kernels.lattice.recoded import Cells, released

__all__ = ["with_rest"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TRIES = 100
"""Classes that are tried, the one that costs least first."""


def with_rest(
    patterns: Patterns, levels: Ints, rest: Bools, cells: Sequence[Cells], judging: Judge, weights: Sequence[float]
) -> Ints | None:
    """Join the rest, all of it, to the class with which it loses least among those that stay safe.

    Parameters
    ----------
    patterns, levels
        P patterns and the levels of their cells, shape (P, m).
    rest : ndarray of bool, shape (P,)
        Patterns that are in no safe class: some, not all.
    cells, judging, weights
        Of the keys; the criteria.

    Returns
    -------
    ndarray or None
        The levels, shape (P, m); None where none of the classes tried stays safe.

    Examples
    --------
    >>> from sfumato.kernels.lattice.criteria.sizes import KAnonymity
    >>> from sfumato.kernels.lattice.judge import judge
    >>> from sfumato.kernels.lattice.levels import Levels
    >>> ages = Cells.of(Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))))
    >>> data = Patterns(np.array([[0], [1], [3]]), np.array([1, 3, 3]))
    >>> judging = judge([KAnonymity(3)], (), (), 0)
    >>> with_rest(data, np.zeros((3, 1), dtype=np.int64), np.array([True, False, False]), [ages], judging, [1.0])
    array([[1],
           [1],
           [0]])
    """
    kept = np.flatnonzero(~rest)
    which, first = class_of_rows(released(patterns.codes[kept], levels[kept], cells))
    sizes = np.bincount(which, weights=patterns.counts[kept]).astype(np.int64)
    common, cost = _meeting(patterns, levels, rest, kept[first], sizes, cells, weights)
    for c in np.argsort(cost.round(9), kind="stable")[:_TRIES]:
        joined = np.sort(np.concatenate([kept[which == c], np.flatnonzero(rest)]))
        some = patterns.only(joined)
        one = np.zeros(len(joined), dtype=np.int64)
        if not judging.failing(np.array([some.records]), one, some.values, some.counts)[0]:
            out = levels.copy()
            out[joined] = common[c]
            return out
    return None


def _meeting(
    patterns: Patterns,
    levels: Ints,
    rest: Bools,
    member: Ints,
    sizes: Ints,
    cells: Sequence[Cells],
    weights: Sequence[float],
) -> tuple[Ints, Floats]:
    """The lowest levels at which each class, known by a member, takes the rest in, and what that costs."""
    alone = patterns.codes[rest]
    common = np.empty((len(member), len(cells)), dtype=np.int64)
    cost = np.zeros(len(member))
    for j, (c, weight) in enumerate(zip(cells, weights, strict=True)):
        leaf, own = patterns.codes[member, j], levels[member, j]
        level = own.copy()
        for other in np.unique(alone[:, j]):
            apart = c.group[c.at(level, leaf)] != c.group[c.at(level, np.full(len(leaf), other))]
            while apart.any():
                level = level + apart
                apart = c.group[c.at(level, leaf)] != c.group[c.at(level, np.full(len(leaf), other))]
        common[:, j] = level
        more = c.share[c.at(level, leaf)] * (sizes + patterns.counts[rest].sum()) - c.share[c.at(own, leaf)] * sizes
        cost += weight * more / max(1 - 1 / c.rows, 1e-9)
    return common, cost
