"""Combinations of values that outlive an exchange: unique before, and standing once again after it.

What stands out is moved, not left out: targeted swapping, Shlomo, Tudor and Groom (2010), Privacy in Statistical
Databases, LNCS 6344.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rows import scatter

__all__ = ["combined", "move_survivors", "survivors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_ROUNDS = 6


def combined(codes: Ints) -> Words:
    """A word for each combination of codes, equal for equal rows, shape (n,).

    Parameters
    ----------
    codes
        Numbers of values, shape (n, p).

    Examples
    --------
    >>> a, b, c = combined(np.array([[1, 2], [2, 1], [1, 2]]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    word = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        word = scatter((word + np.uint64(0x9E3779B97F4A7C15)) ^ column.astype(np.int64).view(np.uint64))
    return word


def survivors(before: Words, after: Words) -> Ints:
    """Rows of the released table whose combination stands once there and once in the original, sorted.

    Parameters
    ----------
    before, after
        A word for each combination, shapes (n,) and (m,).

    Examples
    --------
    >>> survivors(np.array([1, 2, 2, 3], dtype=np.uint64), np.array([3, 1, 1, 2], dtype=np.uint64)).tolist()
    [0]
    """
    old, times = np.unique(before, return_counts=True)
    new, first, often = np.unique(after, return_index=True, return_counts=True)
    once = np.isin(new[often == 1], old[times == 1], assume_unique=True)
    return np.sort(first[often == 1][once])


def move_survivors(
    source: Ints,
    original: Ints,
    told: Callable[[Ints], Ints],
    sets: Ints,
    views: Sequence[Sequence[int]],
    z: Floats,
    group: Ints,
    block: Ints,
    words: Words,
) -> tuple[Ints, NDArray[np.bool_]]:
    """Let the rarest value of each survivor change places with that of a near record outside its group.

    Parameters
    ----------
    source
        The row whose value each row takes, by set of columns that move together, shape (n, s).
    original
        Numbers of the original values, shape (n, p).
    told
        Gives the numbers of the values that would be released of a `source`, shape (n, p).
    sets
        The set of each column, shape (p,).
    views
        Columns of which a combination may survive: each is looked at by itself.
    z
        Points that tell who is near, shape (n, d).
    group, block
        The group of each row, and the block of 0, 1, … in which who is near is looked for first, shape (n,).
    words
        Keyed words that break ties, shape (n,).

    Returns
    -------
    source, moved
        The rows to take values from in the end, shape (n, s), and which rows bore a survivor, shape (n,).
    """
    source = source.copy()
    before = [combined(original[:, list(view)]) for view in views]
    search = _Near(z, group, block, words)
    moved = np.zeros(len(source), dtype=bool)
    for _ in range(_ROUNDS):
        codes = told(source)
        touched = np.zeros(len(source), dtype=bool)
        shares = [_often(column) for column in codes.T]
        for view, was in zip(views, before, strict=True):
            for row in survivors(was, combined(codes[:, list(view)])):
                if touched[row]:
                    continue
                rarest = min(view, key=lambda j: (shares[j][row], j))
                other = search.another(row, codes[:, rarest], touched)
                if other is not None:
                    s = sets[rarest]
                    source[[row, other], s] = source[[other, row], s]
                    touched[[row, other]] = True
                    moved[row] = True
        if not touched.any():
            break
    return source, moved


def _often(codes: Ints) -> Ints:
    """How often each row's value stands in its column, shape (n,)."""
    _, place, times = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(times[place])


class _Near:
    """Who is nearest outside a row's own group: in its block, else among all."""

    def __init__(self, z: Floats, group: Ints, block: Ints, words: Words) -> None:
        self.z, self.group, self.block, self.words = z, group, block, words
        order = np.argsort(block, kind="stable")
        self.members = np.split(order, np.flatnonzero(np.diff(block[order])) + 1)

    def another(self, row: int, codes: Ints, touched: NDArray[np.bool_]) -> int | None:
        """The nearest record outside the group that has another value and was not moved in this round."""
        for near in (self.members[self.block[row]], np.arange(len(self.z))):
            there = near[(self.group[near] != self.group[row]) & (codes[near] != codes[row]) & ~touched[near]]
            if len(there):
                apart = np.square(self.z[there] - self.z[row]).sum(axis=1)
                nearest = there[apart == apart.min()]
                return int(nearest[np.argmin(self.words[nearest])])
        return None
