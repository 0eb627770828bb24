"""A table whose cells each have a level of their own, and what that loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns

__all__ = ["Cells", "cell_loss", "released", "tightened"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """A hierarchy in flat arrays, so that cells at different levels are looked up at once.

    Parameters
    ----------
    group, share, lowest : ndarray, shape ((height + 1) · leaves,)
        Of each level and leaf, level by level: a number of the group, another for every set of leaves; its share of the
        hierarchy; the lowest level that has the same set of leaves.
    leaves : int
        Number of leaves.
    groups : int
        Largest number of a group, and one.
    rows : int
        Rows of the hierarchy.
    """

    group: Ints
    share: Floats
    lowest: Ints
    leaves: int
    groups: int
    rows: int

    @classmethod
    def of(cls, hierarchy: Levels) -> Cells:
        """Flatten a hierarchy."""
        sizes = np.array([hierarchy.sizes(level)[groups] for level, groups in enumerate(hierarchy.groups)])
        lowest = np.array([np.argmax(sizes == row, axis=0) for row in sizes])
        starts = np.append(0, np.cumsum([groups.max() + 1 for groups in hierarchy.groups]))
        own = np.array([starts[level] + groups for level, groups in enumerate(hierarchy.groups)])
        group = np.take_along_axis(own, lowest, axis=0)
        share = np.minimum(sizes / hierarchy.rows, 1.0)
        flat = (group.reshape(-1), share.reshape(-1), lowest.reshape(-1))
        return cls(*flat, hierarchy.leaves, int(starts[-1]), hierarchy.rows)

    def at(self, level: Ints, leaf: Ints) -> Ints:
        """Where to look for cells at their levels."""
        return level * self.leaves + leaf


def released(codes: Ints, levels: Ints, cells: Sequence[Cells]) -> list[Ints]:
    """Give the group of each cell at its own level, one array of shape (P,) to a key: the value it is released as."""
    return [c.group[c.at(levels[:, j], codes[:, j])] for j, c in enumerate(cells)]


def tightened(codes: Ints, levels: Ints, which: Ints, cells: Sequence[Cells]) -> Ints:
    """Lower each class, key by key, to the lowest level at which its patterns still share their groups.

    The same patterns stay together, so that whatever was safe is, with less lost.

    Parameters
    ----------
    codes, levels : ndarray, shape (P, m)
        Leaves, and levels, which are equal within a class.
    which : ndarray, shape (P,)
        Class 0, 1, … of each pattern.
    cells
        Of each key.
    """
    classes = int(which.max(initial=-1)) + 1
    out = levels.copy()
    for j, c in enumerate(cells):
        level, leaf = out[:, j], codes[:, j]
        while True:
            lower = c.group[c.at(np.maximum(level - 1, 0), leaf)]
            least = np.full(classes, c.groups)
            most = np.full(classes, -1)
            np.minimum.at(least, which, lower)
            np.maximum.at(most, which, lower)
            agree = (least == most)[which] & (level > 0)
            if not agree.any():
                break
            level = level - agree
        out[:, j] = c.lowest[c.at(level, leaf)]
    return out


def cell_loss(
    patterns: Patterns, levels: Ints, suppressed: Bools, cells: Sequence[Cells], weights: Sequence[float] | None = None
) -> float:
    """Give the arithmetic loss, x summed over each record's own cells and 1 for every cell of a suppressed one.

    Parameters
    ----------
    patterns
        P rows.
    levels : ndarray, shape (P, m)
        Level of each cell.
    suppressed : ndarray of bool, shape (P,)
        Patterns that are not released.
    cells
        Of each key.
    weights : sequence of float, optional
        Importance of each key.

    Examples
    --------
    >>> ages = Levels((np.arange(2), np.array([0, 0])))
    >>> data = Patterns(np.array([[0], [1]]), np.array([3, 1]))
    >>> cell_loss(data, np.array([[0], [1]]), np.array([False, False]), [Cells.of(ages)])
    0.25
    """
    n, ys = patterns.records, []
    for j, c in enumerate(cells):
        share = np.where(suppressed, 1.0, c.share[c.at(levels[:, j], patterns.codes[:, j])])
        least = n / c.rows
        ys.append(max(0.0, (float(share @ patterns.counts) - least) / (n - least)) if c.rows > 1 else 0.0)
    return float(np.average(ys, weights=weights))
