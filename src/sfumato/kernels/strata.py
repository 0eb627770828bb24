"""Merge strata that are too small into their nearest neighbours.

Each stratum has a ladder of names in every dimension, from its own to the broadest, and two strata are as far apart in
a dimension as the first rung on which both have the same name. So the nearest are found without looking at all: for a
choice of rungs, one in every dimension, the strata with the same names stand together in one heap, and choices are
tried from the nearest on.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ladder", "merge_small"]

S = TypeVar("S", bound=Hashable)
T = TypeVar("T")
Entry = tuple[int, int]  # minus the records of a stratum, and its place: the smallest is the one to take
Rungs = tuple[int, ...]

_INDEXED = 64
"""Choices of rungs that strata are kept by; further ones are rare and take a look at all strata."""


@dataclass(frozen=True)
class Ladder:
    """A dimension of strata: names from narrow to broad.

    Parameters
    ----------
    names : tuple of tuple
        Of each stratum, on each rung. Where a stratum has no name that it could share, an object of its own.
    far : tuple of float
        How far apart two strata are whose first common name is on that rung; increasing. Those without one must not be
        joined.
    """

    names: tuple[tuple[Hashable, ...], ...]
    far: tuple[float, ...]


def merge_small(
    strata: Mapping[S, T],
    ladders: Sequence[Ladder],
    join: Callable[[T, T], T],
    size: Callable[[T], int],
    small: Callable[[T], bool],
) -> dict[S, S] | None:
    """Join each small stratum to the nearest other one, smallest first, until none is small.

    The joined stratum takes the name and the place of the one that was joined to. Of equally near strata the larger is
    taken, then the first in `strata`, so that the result depends on the strata alone.

    Parameters
    ----------
    strata
        What each stratum holds, in a fixed order of strata.
    ladders
        How near the strata are: distances in all dimensions are added up.
    join
        What two strata hold together.
    size
        Number of records.
    small
        Whether a stratum is too small.

    Returns
    -------
    dict or None
        New stratum of each stratum that was joined to another; None where a stratum stays too small.

    Examples
    --------
    >>> towns = Ladder((("york", "all"), ("leeds", "all"), ("bath", "all")), (0.0, 1.0))
    >>> merge_small({"york": 1, "leeds": 5, "bath": 9}, [towns], int.__add__, int, lambda n: n < 5)
    {'york': 'bath'}
    """
    keys, held = list(strata), list(strata.values())
    alive = _Alive([size(one) for one in held], ladders)
    into = list(range(len(keys)))
    waiting = [(alive.size[i], i) for i, one in enumerate(held) if small(one)]
    heapq.heapify(waiting)
    while waiting:
        count, source = heapq.heappop(waiting)
        if not alive.here[source] or alive.size[source] != count or not small(held[source]):
            continue  # it was joined to another, or another to it
        alive.remove(source)
        target = alive.nearest(source)
        if target is None:
            return None
        into[source] = target
        held[target] = join(held[target], held[source])
        alive.grow(target, size(held[target]))
        if small(held[target]):
            heapq.heappush(waiting, (alive.size[target], target))
    return {keys[i]: keys[_last(into, i)] for i, target in enumerate(into) if target != i}


def _last(into: list[int], i: int) -> int:
    """Where a chain of joined strata ends; what was passed is pointed there."""
    passed = []
    while into[i] != i:
        passed.append(i)
        i = into[i]
    for j in passed:
        into[j] = i
    return i


class _Alive:
    """Strata that were not joined to others, by their names on the rungs."""

    def __init__(self, size: list[int], ladders: Sequence[Ladder]) -> None:
        self.size, self.ladders = size, ladders
        self.here = [True] * len(size)
        self.choices = _Choices([ladder.far for ladder in ladders])
        self.heaps: dict[Rungs, dict[Hashable, list[Entry]]] = {}
        self.codes: list[list[NDArray[np.int64]]] | None = None

    def remove(self, i: int) -> None:
        """Take a stratum out; heaps find out when they come to it."""
        self.here[i] = False

    def grow(self, i: int, size: int) -> None:
        """Say that a stratum has more records now."""
        self.size[i] = size
        for rungs, heaps in self.heaps.items():
            heapq.heappush(heaps[self._names(i, rungs)], (-size, i))

    def nearest(self, source: int) -> int | None:
        """The nearest stratum left; of equally near ones the largest, then the first."""
        best: Entry | None = None
        reached = 0.0
        for at in range(_INDEXED):
            choice = self.choices.get(at)
            if choice is None:
                return None if best is None else best[1]
            far, rungs = choice
            if best is not None and far > reached:
                return best[1]
            found = self._first(rungs, self._names(source, rungs))
            if found is not None and (best is None or found < best):
                best, reached = found, far
        return self._look_at_all(source)

    def _names(self, i: int, rungs: Rungs) -> Hashable:
        return tuple(ladder.names[i][rung] for ladder, rung in zip(self.ladders, rungs, strict=True))

    def _first(self, rungs: Rungs, names: Hashable) -> Entry | None:
        """The largest stratum left with these names on these rungs."""
        if rungs not in self.heaps:
            self.heaps[rungs] = self._heaps(rungs)
        heap = self.heaps[rungs].get(names, [])
        while heap and not (self.here[heap[0][1]] and self.size[heap[0][1]] == -heap[0][0]):
            heapq.heappop(heap)
        return heap[0] if heap else None

    def _heaps(self, rungs: Rungs) -> dict[Hashable, list[Entry]]:
        heaps: dict[Hashable, list[Entry]] = {}
        for i, here in enumerate(self.here):
            if here:
                heaps.setdefault(self._names(i, rungs), []).append((-self.size[i], i))
        for heap in heaps.values():
            heapq.heapify(heap)
        return heaps

    def _look_at_all(self, source: int) -> int | None:
        """The same by the distance of every stratum."""
        if self.codes is None:
            self.codes = [_numbered(ladder) for ladder in self.ladders]
        far = np.zeros(len(self.size))
        for ladder, codes in zip(self.ladders, self.codes, strict=True):
            own = np.full(len(far), np.inf)
            for rung in reversed(range(len(ladder.far))):
                own[codes[rung] == codes[rung][source]] = ladder.far[rung]
            far += own
        far[~np.array(self.here)] = np.inf
        near = np.flatnonzero(far == far.min())
        if np.isinf(far[near[0]]):
            return None
        return min((-self.size[i], int(i)) for i in near)[1]


def _numbered(ladder: Ladder) -> list[NDArray[np.int64]]:
    """Numbers in place of the names on each rung."""
    out = []
    for rung in range(len(ladder.far)):
        number: dict[Hashable, int] = {}
        out.append(np.array([number.setdefault(names[rung], len(number)) for names in ladder.names]))
    return out


class _Choices:
    """Choices of one rung in every dimension, from the nearest on."""

    def __init__(self, far: Sequence[tuple[float, ...]]) -> None:
        self.far = far
        lowest = (0,) * len(far)
        self.done: list[tuple[float, Rungs]] = []
        self.next: list[tuple[float, Rungs, int]] = [(self._sum(lowest), lowest, 0)]

    def _sum(self, rungs: Rungs) -> float:
        total = 0.0  # not `sum`, which rounds otherwise than arrays do from Python 3.12 on
        for far, rung in zip(self.far, rungs, strict=True):
            total += far[rung]
        return total

    def get(self, at: int) -> tuple[float, Rungs] | None:
        """The choice with that many nearer ones; None where there is none."""
        while len(self.done) <= at:
            if not self.next:
                return None
            far, rungs, last = heapq.heappop(self.next)
            self.done.append((far, rungs))
            for j in range(last, len(rungs)):  # each choice comes from one other: dimensions are climbed in order
                if rungs[j] + 1 < len(self.far[j]):
                    higher = (*rungs[:j], rungs[j] + 1, *rungs[j + 1 :])
                    heapq.heappush(self.next, (self._sum(higher), higher, j))
        return self.done[at]
