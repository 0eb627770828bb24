"""Other tables with the same margins, reached by exchanging people between cells.

Take a cell and m changes of it that concern different variables, such that no margin sees all m of them. Of the 2^m
cells that differ by some of the changes, add t where the number of changes is even and take t away where it is odd: no
margin moves. As long as all counts stay at 0 or above the attacker cannot tell the new table from the true one, so that
what a cell reaches on such a walk it can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Exchange"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_WORD = 64
_SMALL = 4_096
"""Cells up to which any cell may take part; in larger tables those that differ in at most two variables."""
_PAIRS, _TRIPLES, _FOURS = 400, 120, 24
"""How many changes are tried two, three and four at a time."""


@dataclass(frozen=True)
class Exchange:
    """A table whose cells people can be exchanged between.

    Parameters
    ----------
    count : ndarray of int64
        The true table.
    possible : ndarray of bool
        Cells that may hold somebody.
    shape
        Its shape; the table itself is kept flat.
    sees : tuple of ndarray of uint64, shapes (codes, codes, words)
        By variable, which margins see the change from one code to another; a bit for each margin.

    Examples
    --------
    >>> table = np.array([[5, 2], [1, 2]])
    >>> one = [np.arange(2), None]
    >>> square = Exchange.of(table, np.ones((2, 2), dtype=bool), [one, one[::-1]])
    >>> square.reached(0, 9)
    (3, 6)
    """

    count: Ints
    possible: Bools
    shape: tuple[int, ...]
    sees: tuple[Words, ...]

    @classmethod
    def of(cls, count: Ints, possible: Bools, margins: list[list[Ints | None]]) -> Exchange:
        """Prepare a table with an axis for each variable.

        Parameters
        ----------
        count, possible
            Of each cell.
        margins
            Each known margin: of each variable, the number of the group of each of its codes, or None where the margin
            does not have the variable.
        """
        words = (len(margins) + _WORD - 1) // _WORD or 1
        sees = []
        for axis, size in enumerate(count.shape):
            seen = np.zeros((size, size, words), dtype=np.uint64)
            for i, margin in enumerate(margins):
                group = margin[axis]
                if group is not None:
                    differ = (group[:, None] != group[None, :]).astype(np.uint64)
                    seen[:, :, i // _WORD] |= differ << np.uint64(i % _WORD)
            sees.append(seen)
        return cls(count.ravel().astype(np.int64), possible.ravel(), count.shape, tuple(sees))

    def reached(self, cell: int, width: int, highest: bool = False) -> tuple[int, int]:
        """The least and the most that a cell was seen to be; it is looked no further once they lie `width` apart.

        Parameters
        ----------
        cell
            Its number.
        width
            How far apart is enough.
        highest
            Whether the most alone is wanted, that far above the true count.
        """
        changes, held, seen = self._changes(cell)
        table = self.count.copy()
        own = int(table[cell])
        up = _climb(table, self.possible, cell, changes, held, seen, width, 1)
        if up >= width or highest:
            return own, own + up
        down = _climb(self.count.copy(), self.possible, cell, changes, held, seen, min(own, width - up), -1)
        return own - down, own + up

    def _changes(self, cell: int) -> tuple[Ints, Words, Words]:
        """Cells that differ from one in few variables: where they lie, which variables differ, which margins see it."""
        place = np.unravel_index(cell, self.shape)
        strides = np.array([int(np.prod(self.shape[i + 1 :])) for i in range(len(self.shape))])
        deltas, held, seen = [], [], []
        for axis, size in enumerate(self.shape):
            others = np.flatnonzero(np.arange(size) != place[axis])
            deltas.append((others - place[axis]) * strides[axis])
            held.append(np.full(len(others), np.uint64(1) << np.uint64(axis)))
            seen.append(self.sees[axis][place[axis]][others])
        singles = list(zip(deltas, held, seen, strict=True))
        grown = singles
        most = len(self.shape) if self.count.size <= _SMALL else 2
        everything = [singles]
        for _ in range(1, most):
            last = _last(grown)
            grown = [
                _both(one, single) for one, axis in zip(grown, last, strict=True) for single in singles[axis + 1 :]
            ]
            if not grown:
                break
            everything.append(grown)
        delta, mask, sees = (np.concatenate([one[k] for group in everything for one in group]) for k in range(3))
        many = np.bitwise_count(mask)
        order = np.lexsort((delta, -self.count[cell + delta], many))
        return delta[order], mask[order], sees[order]


def _last(groups: list[tuple[Ints, Words, Words]]) -> list[int]:
    """The last variable that each group of changes concerns."""
    return [int(held[0]).bit_length() - 1 if len(held) else 63 for _, held, _ in groups]


def _both(one: tuple[Ints, Words, Words], other: tuple[Ints, Words, Words]) -> tuple[Ints, Words, Words]:
    """Every change of one group together with every one of another."""
    (d1, h1, s1), (d2, h2, s2) = one, other
    delta = (d1[:, None] + d2[None, :]).ravel()
    held = (h1[:, None] | h2[None, :]).ravel()
    seen = (s1[:, None, :] | s2[None, :, :]).reshape(len(delta), -1)
    return delta, held, seen


@compiled
def _exchanged(table: Ints, possible: Bools, cell: int, changes: Ints, wanted: int, sign: int) -> int:
    """Exchange people between the cells that differ by some of the changes, as many as there are, at most so many."""
    many = len(changes)
    step = wanted
    for some in range(1 << many):
        at, odd = cell, 0
        for i in range(many):
            if some >> i & 1:
                at += changes[i]
                odd ^= 1
        if (odd == 1) == (sign > 0):
            step = min(step, table[at])
        elif not possible[at]:
            step = 0
        if step <= 0:
            return 0
    for some in range(1 << many):
        at, odd = cell, 0
        for i in range(many):
            if some >> i & 1:
                at += changes[i]
                odd ^= 1
        table[at] += step if (odd == 0) == (sign > 0) else -step
    return step


@compiled
def _climb(
    table: Ints, possible: Bools, cell: int, changes: Ints, held: Words, seen: Words, wanted: int, sign: int
) -> int:
    """Move a cell up (sign 1) or down, by exchanges of two, three and four changes, as far as is wanted.

    Changes are chosen one after the other: each concerns other variables, and the last leaves no margin that sees all.
    """
    got = 0
    total, words = seen.shape
    chosen = np.zeros(4, dtype=np.int64)
    taken = np.zeros(5, dtype=np.uint64)
    left = np.zeros((5, words), dtype=np.uint64)
    left[0, :] = ~np.uint64(0)
    own = np.zeros(4, dtype=np.int64)
    for many, top in ((2, min(total, _PAIRS)), (3, min(total, _TRIPLES)), (4, min(total, _FOURS))):
        depth = 0
        chosen[0] = -1
        while depth >= 0 and got < wanted:
            chosen[depth] += 1
            i = chosen[depth]
            if i >= top:
                depth -= 1
                continue
            if taken[depth] & held[i] != 0:
                continue
            sees = False
            for w in range(words):
                left[depth + 1, w] = left[depth, w] & seen[i, w]
                sees |= left[depth + 1, w] != 0
            if not sees and depth < many - 1:
                continue  # fewer changes are blind already: an exchange of these was tried
            if depth < many - 1:
                taken[depth + 1] = taken[depth] | held[i]
                depth += 1
                chosen[depth] = i
            elif not sees:
                for k in range(many):
                    own[k] = changes[chosen[k]]
                got += _exchanged(table, possible, cell, own[:many], wanted - got, sign)
    return got
