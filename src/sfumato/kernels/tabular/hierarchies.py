"""All sets of margins with all that they hold, and how one adds to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["down_sets", "held", "maximal"]


_MANY = 64


def held(margins: Sequence[int], n: int) -> int:
    """All margins that some give by summing, a bit for each of the `2^n` sets of variables.

    Examples
    --------
    >>> bin(held([0b11], 2))
    '0b1111'
    """
    out = 0
    for margin in margins:
        part = margin
        while True:
            out |= 1 << part
            if not part:
                break
            part = (part - 1) & margin
    return out


def down_sets(n: int) -> Iterator[tuple[int, ...]]:
    """Every set of margins of n variables, given by those that no other one holds; the grand total comes first.

    They are 4, 18, 166 and 7,579 with one margin or more for 2 to 5 variables, and the grand total alone.

    Examples
    --------
    >>> [sum(1 for _ in down_sets(n)) for n in (1, 2, 3, 4, 5)]
    [2, 5, 19, 167, 7580]
    """
    if n > 5:
        raise ValueError("sets of margins of up to 5 variables")
    order = sorted(range(1 << n), key=lambda m: (m.bit_count(), m))
    yield from _grown((), order, 0)


def _grown(chosen: tuple[int, ...], order: Sequence[int], start: int) -> Iterator[tuple[int, ...]]:
    """Antichains that go on from those chosen."""
    for i in range(start, len(order)):
        one = order[i]
        if all(one & other != other for other in chosen):
            yield (*chosen, one)
            yield from _grown((*chosen, one), order, i + 1)


def maximal(sets: Sequence[int]) -> list[int]:
    """Which of several sets, each a number with a bit for each thing it has, lie in no other one; as positions.

    Examples
    --------
    >>> maximal([0b001, 0b011, 0b110])
    [1, 2]
    """
    order = sorted(range(len(sets)), key=lambda i: (-sets[i].bit_count(), i))
    if not order or max(sets) >> _MANY:
        kept: list[int] = []
        for i in order:
            if not any(sets[i] & sets[j] == sets[i] for j in kept):
                kept.append(i)
        return sorted(kept)
    words: NDArray[np.uint64] = np.array([sets[i] for i in order], dtype=np.uint64)
    best: list[int] = []
    open_ = np.ones(len(words), dtype=bool)
    at = 0
    while at < len(words):
        best.append(order[at])
        open_ &= (words & ~words[at]) != 0
        left = np.flatnonzero(open_[at + 1 :])
        if not len(left):
            break
        at += 1 + int(left[0])
    return sorted(best)
