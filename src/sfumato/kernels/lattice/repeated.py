"""Local recoding from below: one choice of levels after another takes the classes that are safe out of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.judge import Judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.losses import ArithmeticLoss
from sfumato.kernels.lattice.patterns import Patterns, class_of_rows
from sfumato.kernels.lattice.recoded import Cells, released

__all__ = ["repeated"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_NODES = 20_000
"""Choices of levels that are tried; of a larger lattice a fixed sample."""

_ROWS = 2 * 10**8
"""Rows that are grouped in all; where more would be, some choices are passed over."""


def repeated(
    patterns: Patterns, hierarchies: Sequence[Levels], judging: Judge, weights: Sequence[float]
) -> tuple[Ints, Bools]:
    """Recode the safe classes of each choice of levels, the choice that loses least first, until nothing is left.

    It is the full-domain search on the rest, again and again, each time asked for the least generalisation rather than
    for few suppressed records: what one choice suppresses the next ones may keep.

    Parameters
    ----------
    patterns, hierarchies, judging
        Data and criteria. Criteria on all that is kept are not looked at.
    weights
        Importance of each key.

    Returns
    -------
    tuple of ndarray
        Levels, shape (P, m), and which patterns are left, in no safe class at any choice, shape (P,).
    """
    codes = patterns.codes
    levels = np.zeros(codes.shape, dtype=np.int64)
    cells = [Cells.of(h) for h in hierarchies]
    nodes = _nodes(patterns, hierarchies, weights)
    left = np.arange(len(codes))
    room, at = _ROWS, 0
    while at < len(nodes) and len(left):
        node = nodes[at]
        mine = np.broadcast_to(node, (len(left), len(node)))
        which, _ = class_of_rows(released(codes[left], mine, cells))
        sizes = np.bincount(which, weights=patterns.counts[left]).astype(np.int64)
        passed = ~judging.failing(sizes, which, patterns.values[left], patterns.counts[left])[which]
        room -= len(left)
        if passed.any():
            levels[left[passed]] = node
            left = left[~passed]
        step = 1 + len(left) * (len(nodes) - at) // max(room, 1)
        at = at + step if at + step < len(nodes) else max(at + 1, len(nodes) - 1)
    rest = np.zeros(len(codes), dtype=bool)
    rest[left] = True
    return levels, rest


def _nodes(patterns: Patterns, hierarchies: Sequence[Levels], weights: Sequence[float]) -> Ints:
    """Choices of levels, the least loss first, ties in their order; the top is the last."""
    heights = [h.height + 1 for h in hierarchies]
    size = prod(heights)
    if size <= _NODES:
        nodes = np.stack(np.unravel_index(np.arange(size), heights), axis=1)
    else:
        rng = np.random.default_rng(0)  # which choices are tried is public and hides nothing
        drawn = np.stack([rng.integers(0, h, _NODES) for h in heights], axis=1)
        ends = np.array([[0] * len(heights), [h - 1 for h in heights]])
        nodes = np.unique(np.concatenate([drawn, ends]), axis=0)
    loss = ArithmeticLoss(patterns, hierarchies, weights)
    cost = np.zeros(len(nodes))
    for j, h in enumerate(hierarchies):
        own = [loss.weights[j] * loss.scaled(j, loss.whole[j][level]) for level in range(h.height + 1)]
        cost += np.array(own)[nodes[:, j]]
    order = np.argsort(cost.round(10), kind="stable")
    return nodes[order]
