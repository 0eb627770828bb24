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
_UNDONE = 1_000
"""Exchanges after which it is left."""
_TRIED = 300_000
"""Choices of changes that are tried for one cell."""


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
    sees : ndarray of uint64, shape (pairs of codes, words)
        Variable by variable, which margins see the change from one code to another; a bit for each margin.

    Examples
    --------
    >>> table = np.array([[5, 2], [1, 2]])
    >>> one = [np.arange(2), None]
    >>> square = Exchange.of(table, np.ones((2, 2), dtype=bool), [one, one[::-1]])
    >>> up, down = (square.moved(np.array([0]), np.array([9]), sign)[0] for sign in (1, -1))
    >>> up.tolist(), down.tolist()
    ([1], [2])
    """

    count: Ints
    possible: Bools
    shape: tuple[int, ...]
    sees: Words

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
            sees.append(seen.reshape(-1, words))
        return cls(count.ravel().astype(np.int64), possible.ravel(), count.shape, np.concatenate(sees))

    def moved(self, cells: Ints, wanted: Ints, sign: int, effort: float = np.inf) -> tuple[Ints, int]:
        """How far cells were seen to move, each by itself, and how many choices of changes were tried.

        Parameters
        ----------
        cells
            Their numbers.
        wanted
            How far is enough for each.
        sign
            1: upwards; -1: downwards.
        effort
            Choices of changes after which the other cells stay where they are.
        """
        shape = np.array(self.shape, dtype=np.int64)
        out = np.zeros(len(cells), dtype=np.int64)
        most = int(min(effort, 1 << 62))
        table = self.count.copy()
        tried = _move_each(table, self.possible, shape, self.sees, cells.astype(np.int64), wanted, sign, most, out)
        return out, tried


@compiled
def _move_each(
    table: Ints, possible: Bools, shape: Ints, sees: Words, cells: Ints, wanted: Ints, sign: int, effort: int, out: Ints
) -> int:
    """Move each cell by itself; the table is as it was afterwards.

    Changes of one variable are tried first, then those of two, in small tables of any number.
    """
    many, words = len(shape), sees.shape[1]
    strides = np.ones(many, dtype=np.int64)
    for axis in range(many - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    starts = np.zeros(many, dtype=np.int64)
    for axis in range(1, many):
        starts[axis] = starts[axis - 1] + shape[axis - 1] * shape[axis - 1]
    room = max(_room(shape), len(table) if len(table) <= _SMALL else 0)
    changes = np.zeros(room, dtype=np.int64)
    held = np.zeros(room, dtype=np.uint64)
    seen = np.zeros((room, words), dtype=np.uint64)
    place = np.zeros(many, dtype=np.int64)
    undo = np.zeros((_UNDONE, 6), dtype=np.int64)
    all_tried = 0
    for c in range(len(cells)):
        if all_tried >= effort:
            break
        tried = 0
        cell, rest = cells[c], cells[c]
        for axis in range(many):
            place[axis] = rest // strides[axis]
            rest -= place[axis] * strides[axis]
        moves = 0
        for level in range(3):
            if out[c] >= wanted[c] or (level == 2 and len(table) > _SMALL):
                break
            if level < 2:
                found = _few(shape, strides, starts, sees, place, level + 1, changes, held, seen)
            else:
                found = _any(shape, strides, starts, sees, place, cell, changes, held, seen)
            keep = _best(table, cell, found, changes, held, seen)
            tried += found
            got, moves, tried = _climb(
                table,
                possible,
                cell,
                changes[:keep],
                held[:keep],
                seen[:keep],
                wanted[c] - out[c],
                sign,
                undo,
                moves,
                tried,
            )
            out[c] += got
        all_tried += tried
        for m in range(moves):
            _add(table, cell, undo[m, 2:], undo[m, 0], -undo[m, 1])
    return all_tried


@compiled
def _room(shape: Ints) -> int:
    """How many changes of one or two variables there are."""
    out = 0
    for i in range(len(shape)):
        out += shape[i] - 1
        for j in range(i + 1, len(shape)):
            out += (shape[i] - 1) * (shape[j] - 1)
    return out


@compiled
def _few(
    shape: Ints,
    strides: Ints,
    starts: Ints,
    sees: Words,
    place: Ints,
    most: int,
    changes: Ints,
    held: Words,
    seen: Words,
) -> int:
    """List the changes of one variable, or of one and two."""
    words, found = sees.shape[1], 0
    for i in range(len(shape)):
        for a in range(shape[i]):
            if a == place[i]:
                continue
            changes[found] = (a - place[i]) * strides[i]
            held[found] = np.uint64(1) << np.uint64(i)
            one = starts[i] + place[i] * shape[i] + a
            for w in range(words):
                seen[found, w] = sees[one, w]
            found += 1
    if most < 2:
        return found
    for i in range(len(shape)):
        for j in range(i + 1, len(shape)):
            for a in range(shape[i]):
                if a == place[i]:
                    continue
                one = starts[i] + place[i] * shape[i] + a
                for b in range(shape[j]):
                    if b == place[j]:
                        continue
                    other = starts[j] + place[j] * shape[j] + b
                    changes[found] = (a - place[i]) * strides[i] + (b - place[j]) * strides[j]
                    held[found] = np.uint64(1) << np.uint64(i) | np.uint64(1) << np.uint64(j)
                    for w in range(words):
                        seen[found, w] = sees[one, w] | sees[other, w]
                    found += 1
    return found


@compiled
def _any(
    shape: Ints,
    strides: Ints,
    starts: Ints,
    sees: Words,
    place: Ints,
    cell: int,
    changes: Ints,
    held: Words,
    seen: Words,
) -> int:
    """List all changes there are."""
    words, found, cells = sees.shape[1], 0, 1
    for axis in range(len(shape)):
        cells *= shape[axis]
    for other in range(cells):
        if other == cell:
            continue
        changes[found] = other - cell
        held[found] = 0
        seen[found, :] = 0
        rest = other
        for axis in range(len(shape)):
            code = rest // strides[axis]
            rest -= code * strides[axis]
            if code != place[axis]:
                held[found] |= np.uint64(1) << np.uint64(axis)
                one = starts[axis] + place[axis] * shape[axis] + code
                for w in range(words):
                    seen[found, w] |= sees[one, w]
        found += 1
    return found


@compiled
def _best(table: Ints, cell: int, found: int, changes: Ints, held: Words, seen: Words) -> int:
    """Bring changes to cells with most people to the front, those of few variables first; tell how many are kept."""
    worth = np.zeros(found, dtype=np.float64)
    for i in range(found):
        several = held[i] & (held[i] - np.uint64(1))
        worth[i] = -min(table[cell + changes[i]], 1 << 30) + (0.0 if several == 0 else float(1 << 31))
    order = np.argsort(worth, kind="mergesort")[: min(found, _PAIRS)]
    own, whose, told = changes[order].copy(), held[order].copy(), seen[order].copy()
    changes[: len(order)], held[: len(order)], seen[: len(order)] = own, whose, told
    return len(order)


@compiled
def _add(table: Ints, cell: int, changes: Ints, many: int, step: int) -> None:
    """Add people where the number of changes is even and take them away where it is odd."""
    for some in range(1 << many):
        at, odd = cell, 0
        for i in range(many):
            if some >> i & 1:
                at += changes[i]
                odd ^= 1
        table[at] += step if odd == 0 else -step


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
    _add(table, cell, changes, many, sign * step)
    return step


@compiled
def _climb(
    table: Ints,
    possible: Bools,
    cell: int,
    changes: Ints,
    held: Words,
    seen: Words,
    wanted: int,
    sign: int,
    undo: Ints,
    moves: int,
    tried: int,
) -> tuple[int, int, int]:
    """Move a cell up (sign 1) or down, by exchanges of two, three and four changes, as far as is wanted.

    Changes are chosen one after the other: each concerns other variables, and the last leaves no margin that sees all.
    """
    got = 0
    total, words = seen.shape
    if moves == _UNDONE:
        return got, moves, tried
    chosen = np.zeros(4, dtype=np.int64)
    taken = np.zeros(5, dtype=np.uint64)
    left = np.zeros((5, words), dtype=np.uint64)
    left[0, :] = ~np.uint64(0)
    own = np.zeros(4, dtype=np.int64)
    for many, top in ((2, min(total, _PAIRS)), (3, min(total, _TRIPLES)), (4, min(total, _FOURS))):
        depth = 0
        chosen[0] = -1
        while depth >= 0 and got < wanted and tried < _TRIED:
            tried += 1
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
                step = _exchanged(table, possible, cell, own[:many], wanted - got, sign)
                if step > 0:
                    got += step
                    undo[moves, 0], undo[moves, 1] = many, sign * step
                    undo[moves, 2:] = own
                    moves += 1
                    if moves == _UNDONE:
                        return got, moves, tried
    return got, moves, tried
