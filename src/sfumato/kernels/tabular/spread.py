"""Contributors that stand in several cells: what each has in every margin, taken together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Sums", "add_up"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sums(NamedTuple):
    """What is added up for each cell: value, total of sizes, contributors, largest sizes, largest asked, who is single.

    Examples
    --------
    >>> Sums(*(np.zeros(1),) * 2, np.zeros(1, dtype=np.int64), np.zeros((1, 2)), np.zeros(1),
    ...     np.zeros(1, dtype=np.int64)).largest.shape
    (1, 2)
    """

    value: Floats
    total: Floats
    heads: Ints
    largest: Floats
    asked: Floats
    single: Ints


@compiled
def _found(key: int, place: Ints, keys: Ints) -> int:
    if len(place):
        return int(place[key])
    return int(np.searchsorted(keys, key))


@compiled
def _ranked(largest: Floats, cell: int, size: float, units: int) -> None:
    """Put a size among the largest of a cell, as often as it has units."""
    ranks = largest.shape[1]
    for _ in range(min(units, ranks)):
        if size <= largest[cell, ranks - 1]:
            return
        at = ranks - 1
        while at > 0 and largest[cell, at - 1] < size:
            largest[cell, at] = largest[cell, at - 1]
            at -= 1
        largest[cell, at] = size


@compiled
def add_up(
    who: Ints,
    key: Ints,
    amount: Floats,
    size: Floats,
    heads: Ints,
    units: Ints,
    asked: NDArray[np.bool_],
    sizes: Ints,
    weights: Ints,
    start: Ints,
    target: Ints,
    place: Ints,
    keys: Ints,
    sums: Sums,
) -> None:
    """Add contributions up, contributor by contributor, each once in every cell that counts one of its own.

    Parameters
    ----------
    who, key, amount, size, heads, units, asked
        Contributions, those of one contributor together.
    sizes, weights, start, target
        Number of codes and weight in the key of each variable, and which codes each is counted in, one variable after
        the other.
    place, keys
        The cells: where each key stands, or the keys in rising order alone.
    sums
        What is added to.
    """
    deepest = 1
    first = np.zeros(len(sizes), dtype=np.int64)  # where a variable begins in `start`
    skipped = np.zeros(len(sizes), dtype=np.int64)  # and in `target`
    for axis in range(len(sizes)):
        most = 0
        for code in range(sizes[axis]):
            most = max(most, start[first[axis] + code + 1] - start[first[axis] + code])
        deepest *= most
        if axis + 1 < len(sizes):
            first[axis + 1] = first[axis] + sizes[axis] + 1
            skipped[axis + 1] = skipped[axis] + start[first[axis] + sizes[axis]]
    one, other = np.zeros(deepest, dtype=np.int64), np.zeros(deepest, dtype=np.int64)
    stamp = np.full(len(keys), -1, dtype=np.int64)
    slot = np.zeros(len(keys), dtype=np.int64)
    longest, run = 0, 0
    for row in range(len(who)):
        run = run + 1 if row > 0 and who[row] == who[row - 1] else 1
        longest = max(longest, run)
    room = min(longest * deepest, len(keys))  # for the contributor with most lines; the same for all
    cell = np.zeros(room, dtype=np.int64)
    held, whole = np.zeros(room), np.zeros(room)
    counted, times = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    protected = np.zeros(room, dtype=np.bool_)
    begin = 0
    while begin < len(who):
        end = begin
        while end < len(who) and who[end] == who[begin]:
            end += 1
        used = 0
        for row in range(begin, end):
            one[0], many = 0, 1
            for axis in range(len(sizes)):
                code = (key[row] // weights[axis]) % sizes[axis]
                low, high = start[first[axis] + code], start[first[axis] + code + 1]
                grown = 0
                for i in range(many):
                    for j in range(low, high):
                        other[grown] = one[i] + target[skipped[axis] + j] * weights[axis]
                        grown += 1
                one, other, many = other, one, grown
            for i in range(many):
                spot = _found(one[i], place, keys)
                if stamp[spot] != begin:
                    stamp[spot], slot[spot] = begin, used
                    cell[used], counted[used], times[used] = spot, heads[row], units[row]
                    held[used], whole[used], protected[used] = 0.0, 0.0, False
                    used += 1
                at = slot[spot]
                held[at] += amount[row]
                whole[at] += size[row]
                counted[at], times[at] = min(counted[at], heads[row]), min(times[at], units[row])
                protected[at] |= asked[row]
        for i in range(used):
            spot, big = cell[i], abs(whole[i])
            sums.value[spot] += held[i]
            sums.total[spot] += big * times[i]
            sums.heads[spot] += counted[i]
            sums.single[spot] = who[begin]
            if protected[i]:
                sums.asked[spot] = max(sums.asked[spot], big)
            if sums.largest.shape[1]:
                _ranked(sums.largest, spot, big, times[i])
        begin = end
