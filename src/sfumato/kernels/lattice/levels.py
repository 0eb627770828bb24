"""The levels of one key's hierarchy, from its values up to one group of all."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Levels"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """Which group each value of a key is in, at each level of generalisation.

    Parameters
    ----------
    groups : tuple of ndarray, each of shape (leaves,)
        For each level 0, …, height the group 0, 1, … of each leaf; level 0 is the leaves themselves, the last level
        (`*`) is one group. Leaves that do not occur in the data are leaves too. Groups at a level lie whole within
        groups of the next.
    rows : int, optional
        D, the rows of the hierarchy, of which a group's share is counted; by default the number of leaves. A caller who
        appends leaves that no hierarchy lists (missing values, say) gives the number without them.

    Raises
    ------
    ValueError
        Where level 0 is not the leaves, the last level is not one group, a level is not a coarsening of the one
        before, or heights differ.

    Examples
    --------
    >>> import numpy as np
    >>> ages = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
    >>> ages.height, ages.rows, ages.sizes(1).tolist(), ages.shares(1).tolist()
    (2, 4, [2, 2], [0.5, 0.5])
    """

    groups: tuple[Ints, ...]
    rows: int = 0

    def __post_init__(self) -> None:
        levels = tuple(np.asarray(level, dtype=np.int64) for level in self.groups)
        if not levels or not len(levels[0]) or any(level.shape != levels[0].shape for level in levels):
            raise ValueError("levels: every level needs the group of each leaf")
        if (levels[0] != np.arange(len(levels[0]))).any() or levels[-1].any() or min(x.min() for x in levels) < 0:
            raise ValueError("levels: level 0 must be the leaves themselves, and the last level one group, 0")
        for fine, coarse in pairwise(levels):
            parent = np.zeros(fine.max() + 1, dtype=np.int64)
            parent[fine] = coarse
            if (parent[fine] != coarse).any():
                raise ValueError("levels: a group of one level is torn apart at the next")
        object.__setattr__(self, "groups", levels)
        object.__setattr__(self, "rows", self.rows or len(levels[0]))

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.groups) - 1

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return len(self.groups[0])

    def sizes(self, level: int) -> Ints:
        """Number of leaves under each group of a level."""
        return np.bincount(self.groups[level])

    def shares(self, level: int) -> Floats:
        """Share of the hierarchy's rows under each group of a level, at most 1."""
        return np.minimum(self.sizes(level) / self.rows, 1.0)
