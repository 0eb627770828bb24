"""What had to be possible for unsafe cells: proved, proved not to be, or not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.attacker import Intervals, Need

__all__ = ["Goals", "Levels", "goals"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Levels:
    """How many goals there were, and what became of them.

    A goal is an unsafe cell in a direction that has a level (with sliding levels its width is one goal). Where a cell
    has no level, and of counts in any case, a goal is that the cell is not determined.

    Parameters
    ----------
    asked
        All goals.
    proved
        Those for which a possible table is at hand that shows it.
    short
        Those that are proved not to be reached.
    unproved
        Those that were not decided before the work ended.
    """

    asked: int = 0
    proved: int = 0
    short: int = 0
    unproved: int = 0

    def to_plain(self) -> dict[str, int]:
        """Plain values for JSON.

        Examples
        --------
        >>> Levels(2, proved=1, short=1).to_plain()
        {'asked': 2, 'proved': 1, 'short': 1, 'unproved': 0}
        """
        return {"asked": self.asked, "proved": self.proved, "short": self.short, "unproved": self.unproved}


@dataclass(frozen=True)
class Goals:
    """The figures, and the cells behind them.

    Parameters
    ----------
    levels
        How many.
    below
        Cells of which a level is proved not to be reached.
    unproved
        Cells with a goal that was not decided.
    """

    levels: Levels
    below: Bools
    unproved: Bools


def goals(
    unsafe: Bools, value: Floats, need: Need, found: Intervals, settled: tuple[Bools, Bools], fit: float, *, each: bool
) -> Goals:
    """Judge every goal.

    Parameters
    ----------
    unsafe
        The cells that had to be protected.
    value
        True values; those of cells without a level are not looked at.
    need
        Their levels.
    found
        What is known of their intervals, from outside and from inside.
    settled
        Cells that are determined, and those that are proved not to be.
    fit
        Differences that are none.
    each
        Whether cells with levels must not be determined besides, which of whole numbers is a goal of its own.

    Examples
    --------
    Of a cell of 5 it is proved that it can be 7, and known that it is no less than 4; 1.5 are asked for either way:

    >>> one, two = np.ones(1), np.array([1.5])
    >>> found = Intervals(4 * one, 9 * one, 1, 5 * one, 7 * one, one < 0)
    >>> goals(one > 0, 5 * one, Need(two, two, 0 * two), found, (one < 0, one > 0), 0.0, each=False).levels
    Levels(asked=2, proved=1, short=1, unproved=0)
    """
    lower, upper, sliding = (np.where(unsafe, level, 0.0) for level in (need.lower, need.upper, need.sliding))
    sliding = np.where(sliding > lower + upper, sliding, 0.0)  # else the two others say as much
    ways = (
        (lower, value - found.seen_low, value - found.low),
        (upper, found.seen_high - value, found.high - value),
        (sliding, found.seen_high - found.seen_low, found.high - found.low),
    )
    below, unproved = np.zeros(len(value), dtype=bool), np.zeros(len(value), dtype=bool)
    asked = proved = short = 0
    for level, reached, possible in ways:
        wanted = level > 0
        enough = level * (1 - 1e-9) - fit
        not_so = wanted & (possible < enough)
        so = wanted & ~not_so & (reached >= enough - fit)
        below, unproved = below | not_so, unproved | (wanted & ~not_so & ~so)
        asked, proved, short = asked + int(wanted.sum()), proved + int(so.sum()), short + int(not_so.sum())
    determined, free = settled
    alone = unsafe if each else unsafe & (lower <= 0) & (upper <= 0) & (sliding <= 0)
    unproved |= alone & ~determined & ~free
    asked, short = asked + int(alone.sum()), short + int((alone & determined).sum())
    proved += int((alone & free & ~determined).sum())
    return Goals(Levels(asked, proved, short, asked - proved - short), below, unproved)
