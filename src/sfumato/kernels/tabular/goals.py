"""What a suppression pattern must reach: for each primary cell, how far its value must be able to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAR", "Goals", "Insider", "boxes", "goals_of", "room", "served", "with_insiders"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FAR = 1000.0
"""Flows are bounded by so many times the amount asked for: LPs stay well scaled, patterns only safer."""

LARGER = 10.0
"""A movement serves goals that are at most so many times larger: what a program leaves of nothing stays nothing."""


@dataclass(frozen=True, eq=False)
class Insider:
    """Somebody who knows hidden cells, and must not find another one.

    Parameters
    ----------
    cell
        The primary cell that must be able to move all the same.
    known
        The cells that they know.
    exact
        Only that the cell can move at all counts; else all its levels hold against them too.
    """

    cell: int
    known: Ints
    exact: bool = False


@dataclass(frozen=True, eq=False)
class Goals:
    """What must be possible under the pattern, one goal a place.

    Parameters
    ----------
    cell
        The primary cell that must be able to move.
    sign
        1: upwards, -1: downwards, 0: the way up and the way down together.
    amount
        How far at least; 1 for a cone.
    cone
        Any distance above nothing will do: only whether a cell can move at all counts.
    known
        The place in `sets` of the cells that the attacker knows beside what is published; -1: none (an outsider).
    sets
        Sets of cells that somebody knows.
    """

    cell: Ints
    sign: Ints
    amount: Floats
    cone: Bools
    known: Ints
    sets: tuple[Ints, ...] = ()

    def __len__(self) -> int:
        """How many goals there are."""
        return len(self.cell)

    def __getitem__(self, places: NDArray[np.generic]) -> Goals:
        """The goals at some places."""
        of = (self.cell[places], self.sign[places], self.amount[places], self.cone[places], self.known[places])
        return Goals(*of, self.sets)

    def joined(self, other: Goals) -> Goals:
        """These goals, then others."""
        if other.sets is not self.sets:
            moved = np.where(other.known < 0, -1, other.known + len(self.sets))
            other = replace(other, known=moved, sets=self.sets + other.sets)
        return Goals(
            np.concatenate([self.cell, other.cell]),
            np.concatenate([self.sign, other.sign]),
            np.concatenate([self.amount, other.amount]),
            np.concatenate([self.cone, other.cone]),
            np.concatenate([self.known, other.known]),
            other.sets,
        )

    def within(self, place: Ints) -> Goals:
        """The same goals where cells have other places; -1: a cell that is left out, and does not move."""
        sets = tuple(place[known][place[known] >= 0] for known in self.sets)
        return replace(self, cell=place[self.cell], sets=sets)


def room(value: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """How far each cell may fall and rise by what the attacker knew before; what is next to nothing is nothing.

    Examples
    --------
    >>> down, up = room(np.array([3.0, 0.0]), np.array([0.0, 0.0]), np.array([np.inf, np.inf]))
    >>> down.tolist(), up.tolist()
    ([3.0, 0.0], [inf, inf])
    """
    least = 1e-9 * max(1.0, float(np.max(np.abs(value), initial=0.0)))
    down, up = value - lower, upper - value
    return np.where(down > least, down, 0.0), np.where(up > least, up, 0.0)


def goals_of(
    primary: Bools,
    down: Floats,
    up: Floats,
    levels: tuple[Floats | None, Floats | None, Floats | None],
    insiders: Sequence[Insider] = (),
) -> Goals:
    """List the goals of a table.

    Parameters
    ----------
    primary
        Cells that must be protected, shape (cells,).
    down, up
        How far cells may fall and rise, from `room`.
    levels
        Lower, upper and sliding protection levels; all None: no primary cell may be determined exactly. Primary cells
        without a positive level must not be determined exactly either.
    insiders
        Who knows which cells, and against whom the goals of one cell must hold too.

    Examples
    --------
    >>> levels = (np.array([1.0, 0]), np.array([2.0, 0]), None)
    >>> goals = goals_of(np.array([True, False]), np.ones(2), np.ones(2), levels)
    >>> goals.sign.tolist(), goals.amount.tolist()
    ([1, -1], [2.0, 1.0])
    """
    given = [np.zeros(len(primary)) if level is None else np.nan_to_num(level) for level in levels]
    lower, higher, sliding = (np.where(primary, np.maximum(level, 0.0), 0.0) for level in given)
    either = primary & (lower <= 0) & (higher <= 0) & (sliding <= 0)
    even = bool(np.all((down > 0) == (up > 0)))  # then whatever can rise can fall
    parts = [
        (higher > 0, 1, higher, False),
        (lower > 0, -1, lower, False),
        (sliding > lower + higher, 0, sliding, False),
        (either, 1 if even else 0, np.ones(len(primary)), True),
    ]
    found = []
    for which, sign, amount, cone in parts:
        cells = np.flatnonzero(which)
        found.append((cells, np.full(len(cells), sign), amount[cells], np.full(len(cells), cone)))
    cell, sign_, amount_, cone_ = (np.concatenate(x) for x in zip(*found, strict=True))
    known = np.full(len(cell), -1)
    order = np.lexsort((-sign_, cell))
    goals = Goals(cell, sign_, amount_, cone_, known)[order]
    return with_insiders(goals, insiders, even)


def with_insiders(goals: Goals, insiders: Sequence[Insider], even: bool) -> Goals:
    """Repeat the goals of cells for whoever knows others; `even`: whatever can rise can fall.

    Examples
    --------
    >>> goals = goals_of(np.array([True, False]), np.ones(2), np.ones(2), (None, np.array([2.0, 0]), None))
    >>> more = with_insiders(goals, [Insider(0, np.array([1])), Insider(0, np.array([1]), exact=True)], True)
    >>> more.amount.tolist(), more.cone.tolist(), more.known.tolist()
    ([2.0, 2.0, 1.0], [False, False, True], [-1, 0, 1])
    """
    outside = goals[goals.known < 0]
    for who in insiders:
        again = outside[np.flatnonzero(outside.cell == who.cell)]
        if who.exact:
            again = Goals(
                np.array([who.cell]), np.array([1 if even else 0]), np.ones(1), np.ones(1, dtype=bool), np.zeros(1, int)
            )
        goals = goals.joined(replace(again, known=np.zeros(len(again), dtype=np.int64), sets=(who.known,)))
    return goals


def boxes(goals: Goals, place: int, down: Floats, up: Floats) -> tuple[Floats, Floats]:
    """How far cells may fall and rise for the sake of one goal, in units of its amount.

    Examples
    --------
    >>> goals = goals_of(np.array([True, False]), np.ones(2), np.ones(2), (None, np.array([2.0, 0]), None))
    >>> [side.tolist() for side in boxes(goals, 0, np.array([4.0, 1.0]), np.array([np.inf, 0.0]))]
    [[2.0, 0.5], [1000.0, 0.0]]
    """
    falls: Floats
    rises: Floats
    if goals.cone[place]:
        falls, rises = np.where(down > 0, FAR, 0.0), np.where(up > 0, FAR, 0.0)
    else:
        amount = float(goals.amount[place])
        falls, rises = np.minimum(down / amount, FAR), np.minimum(up / amount, FAR)
    if goals.known[place] >= 0:
        known = goals.sets[goals.known[place]]
        falls[known] = rises[known] = 0.0
    return falls, rises


def served(goals: Goals, moved: Floats, down: Floats, up: Floats, among: Ints) -> Ints:
    """Of some goals, of one way each, those that a movement of the cells reaches, or its reverse, or a part of it.

    A movement that leaves what an insider knows as it is serves the goals against them as well.

    Examples
    --------
    >>> goals = goals_of(np.array([True, True]), np.ones(2), np.ones(2), (np.array([0, 2.0]), np.array([1.0, 0]), None))
    >>> moved, room = np.array([1.0, -1.0]), np.full(2, 3.0)
    >>> [served(goals, moved, room, side, np.arange(2)).tolist() for side in (room, room / 2)]
    [[0, 1], [0]]
    """
    used = np.flatnonzero(moved)
    far, rising = np.abs(moved[used]), moved[used] > 0
    forth = min(LARGER, float((np.where(rising, up[used], down[used]) / far).min()))
    back = min(LARGER, float((np.where(rising, down[used], up[used]) / far).min()))
    steps = moved[goals.cell[among]] * goals.sign[among]
    reach = np.where(steps > 0, steps * forth, -steps * back)
    found: Ints = among[(steps != 0) & (reach >= np.where(goals.cone[among], 1e-9, goals.amount[among] * (1 - 1e-7)))]
    known = goals.known[found]
    seen = [k for k in np.unique(known[known >= 0]).tolist() if np.any(moved[goals.sets[k]])]
    return np.asarray(found[~np.isin(known, seen)])
