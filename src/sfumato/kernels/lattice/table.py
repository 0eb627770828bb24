"""Tables of classes that are rolled up one key and one level at a time, and never grouped anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns, packed
from sfumato.kernels.lattice.table_loops import arrange, roll_up, tally

__all__ = ["Classes", "Plane", "Table", "planes", "renumbered"]

Shorts = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Plane:
    """All that stays the same where one key's level is chosen.

    Parameters
    ----------
    ups : tuple of ndarray
        For each level but the lowest, the group there of each group of the level below. Groups are numbered along the
        hierarchy, so that they join with their neighbours.
    groups : tuple of int
        Number of groups at each level.
    leaf, after : ndarray, shape (suffixes,)
        Of each pattern of this key and those after it: this key's leaf, and the pattern of those after it.
    sensitive : ndarray, shape (suffixes after, s)
        Of each pattern after this key, where it ends in one, the sensitive codes.
    """

    ups: tuple[Shorts, ...]
    groups: tuple[int, ...]
    leaf: Shorts
    after: Shorts
    sensitive: Ints


@dataclass(frozen=True)
class Classes:
    """The classes of the keys that have their levels, and which of them the rows of the table are in.

    Parameters
    ----------
    parent, group : ndarray, shape (C,)
        Class of the keys before, and group of the last key.
    sizes, rows : ndarray, shape (C,)
        Number of records, and of rows.
    which : ndarray, shape (R,)
        Class of each row.
    """

    parent: Shorts
    group: Shorts
    sizes: Ints
    rows: Ints
    which: Shorts


@dataclass
class Table:
    """Rows of prefix, suffix, group and count; see `table_loops`."""

    plane: Plane
    prefix: Shorts
    suffix: Shorts
    group: Shorts
    count: Ints
    level: int = 0

    def copy(self) -> Table:
        """The same rows, to be rolled up on their own."""
        return Table(
            self.plane, self.prefix.copy(), self.suffix.copy(), self.group.copy(), self.count.copy(), self.level
        )

    def raised(self, level: int) -> None:
        """Roll the current key up to a level, in place."""
        if level > self.level:
            up = _leap(self.plane.ups[self.level : level])
            left = roll_up(self.prefix, self.suffix, self.group, self.count, len(self.count), up)
            for name in ("prefix", "suffix", "group", "count"):
                setattr(self, name, getattr(self, name)[:left])
        self.level = level

    def classes(self) -> Classes:
        """Find the classes of all keys up to the current one."""
        rows = len(self.count)
        which, parent, group = (np.empty(rows, dtype=np.int32) for _ in range(3))
        sizes, heights = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
        groups = self.plane.groups[self.level]
        found = tally(self.prefix, self.group, self.count, rows, groups, which, parent, group, sizes, heights)
        return Classes(parent[:found], group[:found], sizes[:found], heights[:found], which)

    def below(self, classes: Classes, plane: Plane) -> Table:
        """Go on to the next key, at its leaves."""
        rows = len(self.count)
        prefix, suffix, group = (np.empty(rows, dtype=np.int32) for _ in range(3))
        count = np.empty(rows, dtype=np.int64)
        found = len(classes.sizes)
        arrange(
            classes.which, self.suffix, self.count, rows, classes.rows, found,
            plane.leaf, plane.after, prefix, suffix, group, count,
        )  # fmt: skip
        return Table(plane, prefix, suffix, group, count)


def _leap(ups: Sequence[Shorts]) -> Shorts:
    """Several levels at once."""
    whole = ups[0] if ups else np.empty(0, dtype=np.int32)
    for up in ups[1:]:
        whole = up[whole]
    return whole


def renumbered(patterns: Patterns, hierarchies: Sequence[Levels]) -> tuple[Patterns, list[Levels]]:
    """Number leaves, and groups, anew, so that those which join at a higher level stand side by side."""
    codes = np.empty_like(patterns.codes)
    levels = []
    for j, hierarchy in enumerate(hierarchies):
        order = np.lexsort(hierarchy.groups)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        codes[:, j] = place[patterns.codes[:, j]]
        runs = (groups[order] for groups in hierarchy.groups)
        levels.append(Levels(tuple(np.cumsum(np.append(0, r[1:] != r[:-1])) for r in runs), hierarchy.rows))
    return Patterns(codes, patterns.counts, patterns.sensitive), levels


def _steps(hierarchy: Levels) -> tuple[Shorts, ...]:
    """For each level but the lowest, the group there of each group of the level below."""
    ups = []
    for fine, coarse in pairwise(hierarchy.groups):
        up = np.zeros(fine.max() + 1, dtype=np.int32)
        up[fine] = coarse
        ups.append(up)
    return tuple(ups)


def planes(patterns: Patterns, hierarchies: Sequence[Levels]) -> tuple[list[Plane], Table]:
    """Sort the patterns once, and lay out the planes of all keys, in the order given, and the table at the first.

    Suffixes are numbered with the last key as the most significant, so that a table which is ordered by suffix is also
    ordered by what comes after the next key, and then by that key's leaf. The hierarchies are `renumbered`.
    """
    columns = [*patterns.codes.T]
    last = [*(patterns.values.T + 1)]
    sorting = [*last[::-1], *columns[::-1]]
    words = packed(sorting, [int(column.max(initial=0)) + 1 for column in sorting])
    order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
    values = patterns.values[order]
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in values.T:
        new[1:] |= column[1:] != column[:-1]
    suffix = np.cumsum(new) - 1
    laid: list[Plane] = []
    sensitive = values[new]
    for hierarchy, column in zip(hierarchies[::-1], columns[::-1], strict=True):
        along = column[order]
        new[1:] |= along[1:] != along[:-1]
        leaf, after = along[new].astype(np.int32), suffix[new].astype(np.int32)
        groups = tuple(int(level.max()) + 1 for level in hierarchy.groups)
        laid.append(Plane(_steps(hierarchy), groups, leaf, after, sensitive))
        suffix = np.cumsum(new) - 1
        sensitive = sensitive[after]
    return laid[::-1], _root(laid[-1], np.bincount(suffix, weights=patterns.counts[order]).astype(np.int64))


def _root(plane: Plane, counts: Ints) -> Table:
    """The table at the first key."""
    return Table(plane, np.zeros(len(counts), dtype=np.int32), plane.after.copy(), plane.leaf.copy(), counts)
