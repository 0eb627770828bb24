"""Combinations of values that outlive an exchange: unique before, and standing once again after it.

What stands out is moved, not left out: targeted swapping, Shlomo, Tudor and Groom (2010), Privacy in Statistical
Databases, LNCS 6344.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rows import scatter

__all__ = ["Near", "combined", "move_survivors", "survivors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_ROUNDS = 6
_CANDIDATES = 12  # nearest records that may change places with a survivor
_COLUMNS = 3  # rarest values that are tried
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WORD = 2**64 - 1


def combined(codes: Ints) -> Words:
    """A word for each combination of codes, equal for equal rows, shape (n,): the sum of the words of its values.

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
    return np.asarray(_words(codes, range(codes.shape[1])).sum(axis=1, dtype=np.uint64))


def _words(codes: Ints, columns: Sequence[int]) -> Words:
    """A word for each value, another one in each column, shape of `codes`; `columns` numbers them."""
    salt = scatter(np.array([j + 1 for j in columns], dtype=np.uint64) * _GOLDEN)
    return scatter((codes.view(np.uint64) * _GOLDEN) ^ salt)


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


@dataclass(frozen=True)
class Near:
    """Who is near whom.

    Parameters
    ----------
    z
        Points, shape (n, d).
    group, block
        The group of each row, and the block of 0, 1, … in which who is near is looked for first, shape (n,).
    words
        Keyed words that break ties, shape (n,).
    """

    z: Floats
    group: Ints
    block: Ints
    words: Words

    def others(self, row: int, codes: Ints, members: Sequence[Ints], touched: NDArray[np.bool_]) -> Ints:
        """The nearest records outside the group that have another value and were not moved in this round."""
        for near in (members[self.block[row]], np.arange(len(self.z))):
            there = near[(self.group[near] != self.group[row]) & (codes[near] != codes[row]) & ~touched[near]]
            if len(there):
                apart = np.square(self.z[there] - self.z[row]).sum(axis=1)
                if len(there) > _CANDIDATES:  # with all that tie
                    nearest = apart <= np.partition(apart, _CANDIDATES)[_CANDIDATES]
                    there, apart = there[nearest], apart[nearest]
                return np.asarray(there[np.lexsort((self.words[there], apart))][:_CANDIDATES])
        return np.zeros(0, dtype=np.int64)


Told = Callable[[int, Ints, Ints], Ints]
"""Numbers of the values that rows would have in the columns of a set from these donors, shape (m, columns)."""


def move_survivors(
    source: Ints, original: Ints, told: Told, sets: Sequence[Sequence[int]], views: Sequence[Sequence[int]], near: Near
) -> tuple[Ints, NDArray[np.bool_]]:
    """Let a rare value of each survivor change places with that of a near record outside its group.

    The rarest, with what moves with it, changes places with the nearest record's where that leaves fewer survivors;
    else with that of one of the next nearest, or the next rarest value does.

    Parameters
    ----------
    source
        The row whose value each row takes, by set of columns that move together, shape (n, s).
    original
        Numbers of the original values, shape (n, p).
    told
        Gives the numbers of values that would be released.
    sets
        The columns of each set.
    views
        Columns of which a combination may survive: each is looked at by itself.
    near
        Who is near whom.

    Returns
    -------
    source, moved
        The rows to take values from in the end, shape (n, s), and which rows bore a survivor, shape (n,).
    """
    moving = _Moving(source.copy(), original, told, sets, views, near)
    moved = np.zeros(len(source), dtype=bool)
    for _ in range(_ROUNDS):
        found = moving.round()
        moved[found] = True
        if not len(found):
            break
    return moving.source, moved


class _View:
    """Combinations of some columns: how often each stands now, and which were unique before."""

    def __init__(self, columns: Sequence[int], original: Words, now: Words) -> None:
        self.columns = frozenset(columns)
        before, times = np.unique(original[:, list(columns)].sum(axis=1, dtype=np.uint64), return_counts=True)
        self.unique = frozenset(before[times == 1].tolist())
        self.words: list[int] = now[:, list(columns)].sum(axis=1, dtype=np.uint64).tolist()
        values, counts = np.unique(np.array(self.words, dtype=np.uint64), return_counts=True)
        self.often = dict(zip(values.tolist(), counts.tolist(), strict=True))

    def survives(self, row: int) -> bool:
        word = self.words[row]
        return bool(self.often[word] == 1 and word in self.unique)

    def gained(self, row: int, other: int, changes: tuple[int, int]) -> int:
        """How many survivors there would be more, or less, if the words of two rows changed so."""
        old = (self.words[row], self.words[other])
        new = ((old[0] + changes[0]) & _WORD, (old[1] + changes[1]) & _WORD)
        more = 0
        for word in {*old, *new}:
            if word in self.unique:
                now = self.often.get(word, 0)
                more += (now - old.count(word) + new.count(word) == 1) - (now == 1)
        return more

    def change(self, row: int, by: int) -> None:
        self.often[self.words[row]] -= 1
        self.words[row] = (self.words[row] + by) & _WORD
        self.often[self.words[row]] = self.often.get(self.words[row], 0) + 1


class _Moving:
    """The exchange as it stands, move by move."""

    def __init__(
        self,
        source: Ints,
        original: Ints,
        told: Told,
        sets: Sequence[Sequence[int]],
        views: Sequence[Sequence[int]],
        near: Near,
    ) -> None:
        self.source, self.told, self.sets, self.near = source, told, sets, near
        self.set_of = {j: s for s, columns in enumerate(sets) for j in columns}
        self.codes = np.empty_like(original)
        rows = np.arange(len(source))
        for s, columns in enumerate(sets):
            self.codes[:, list(columns)] = told(s, rows, source[:, s])
        every = range(original.shape[1])
        now = _words(self.codes, every)
        self.views = [_View(view, _words(original, every), now) for view in views]
        order = np.argsort(near.block, kind="stable")
        self.members = np.split(order, np.flatnonzero(np.diff(near.block[order])) + 1)

    def round(self) -> Ints:
        """Move every survivor once; gives those that were moved."""
        touched = np.zeros(len(self.source), dtype=bool)
        shares = [_often(column) for column in self.codes.T]
        moved = []
        for view in self.views:
            for row in [i for i in range(len(self.source)) if view.survives(i)]:
                if touched[row] or not view.survives(row):
                    continue
                rarest = sorted(view.columns, key=lambda j: (shares[j][row], j))[:_COLUMNS]
                best = min(self._options(row, rarest, touched), key=lambda option: option[0], default=None)
                if best is not None and best[0] <= 0:
                    _, s, other = best
                    self._exchange(row, other, s)
                    touched[[row, other]] = True
                    moved.append(row)
        return np.array(moved, dtype=np.int64)

    def _options(self, row: int, rarest: Sequence[int], touched: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
        """How many survivors more, set and other row of the moves that are tried; none after the first that is good."""
        for j in rarest:
            s = self.set_of[j]
            others = self.near.others(row, self.codes[:, j], self.members, touched)
            if not len(others):
                continue
            changes = self._changes(row, others, s)
            for i, other in enumerate(others.tolist()):
                more = sum(view.gained(row, other, each[i]) for view, each in zip(self.views, changes, strict=True))
                yield more, s, other
                if more < 0:
                    return

    def _changes(self, row: int, others: Ints, s: int) -> list[list[tuple[int, int]]]:
        """By view: what the words of the row and of each other change by, if they changed places in a set."""
        columns = list(self.sets[s])
        rows = np.full(len(others), row)
        new = _words(
            self.told(s, np.concatenate([rows, others]), self.source[np.concatenate([others, rows]), s]), columns
        )
        old = _words(self.codes[np.concatenate([rows, others])][:, columns], columns)
        m = len(others)
        found = []
        for view in self.views:
            inside = [i for i, j in enumerate(columns) if j in view.columns]
            by = (new[:, inside] - old[:, inside]).sum(axis=1, dtype=np.uint64).tolist()
            found.append(list(zip(by[:m], by[m:], strict=True)))
        return found

    def _exchange(self, row: int, other: int, s: int) -> None:
        (changes,) = zip(*self._changes(row, np.array([other]), s), strict=True)
        for view, (own, theirs) in zip(self.views, changes, strict=True):
            view.change(row, own)
            view.change(other, theirs)
        self.source[[row, other], s] = self.source[[other, row], s]
        two = np.array([row, other])
        self.codes[np.ix_(two, np.array(self.sets[s]))] = self.told(s, two, self.source[two, s])


def _often(codes: Ints) -> Ints:
    """How often each row's value stands in its column, shape (n,)."""
    _, place, times = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(times[place])
