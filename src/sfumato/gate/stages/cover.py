"""Stage 1: bounds in closed form, for an attacker who is given more than he has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique

__all__ = ["Narrow", "narrow_cells"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Narrow:
    """Joint cells that closed bounds do not prove wide.

    Parameters
    ----------
    records : ndarray of int64, shape (cells,)
        A record of each.
    count : ndarray of int64, shape (cells,)
        How many people each has.
    exact
        Whether the bounds are those of the attacker himself, so that the cells are narrow indeed.
    looked
        How many records were looked at.
    """

    records: Ints
    count: Ints
    exact: bool
    looked: int


def narrow_cells(case: Case, count: int, width: int) -> Narrow:
    """Find the joint cells with 1 to `count` people whose bounds lie less than `width` apart.

    The most that such a cell can be is its smallest clique cell, so that only records in clique cells with fewer than
    `width + count` people are looked at. Cells of those who lack a value that may be told to lack are passed over.
    """
    cliques, between, exact = case.cover
    scope = case.scope
    rows = _union([scope.small(clique, width + count) for clique in cliques], scope.rows)
    if not len(rows):
        return Narrow(rows, rows, exact, 0)
    joint = scope.joint(case.nodes, rows)
    first = np.full(len(joint.count), -1, dtype=np.int64)
    first[joint.cell[::-1]] = np.arange(len(rows) - 1, -1, -1)
    small = np.flatnonzero((joint.count >= 1) & (joint.count <= count))
    if case.lacking is not None:
        small = small[~case.lacking[rows[first[small]]]]
    records, own = rows[first[small]], joint.count[small]
    low, high = ends(case, cliques, between, records)
    narrow = high - low < width
    return Narrow(records[narrow], own[narrow], exact, len(rows))


def ends(case: Case, cliques: Sequence[Clique], between: Sequence[Clique], records: Ints) -> tuple[Ints, Ints]:
    """The least and the most of the joint cells of some records."""
    low = np.zeros(len(records), dtype=np.int64)
    high = np.full(len(records), np.iinfo(np.int64).max)
    for clique in cliques:
        margin = case.scope.margin(clique)
        own = margin.count[margin.cell[records]]
        low += own
        np.minimum(high, own, out=high)
    for clique in between:
        margin = case.scope.margin(clique)
        low -= margin.count[margin.cell[records]]
    return np.maximum(low, 0), high


def _union(parts: Sequence[Ints], rows: int) -> Ints:
    held = [part for part in parts if len(part)]
    if not held:
        return np.zeros(0, dtype=np.int64)
    if len(held) == 1:
        return held[0].astype(np.int64)
    marked = np.zeros(rows, dtype=bool)
    for part in held:
        marked[part] = True
    return np.flatnonzero(marked)
