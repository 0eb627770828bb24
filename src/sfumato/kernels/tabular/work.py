"""How much work a search or a proof may cost, counted so that every machine stops at the same place."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Work", "WorkEnded"]


class WorkEnded(Exception):
    """The work that a program may cost is spent: what it would have told is not known."""


@dataclass
class Work:
    """Iterations of the solver that may be spent, and those that were.

    Not seconds: the same table gives the same pattern, and the same proof, on every machine.

    Parameters
    ----------
    limit
        The most iterations; infinite where nothing limits them.
    spent
        Those that were.

    Examples
    --------
    >>> work = Work(100)
    >>> work.spend(60), work.over, work.spend(60), work.over
    (None, False, None, True)
    """

    limit: float = float("inf")
    spent: int = 0

    @property
    def over(self) -> bool:
        """Whether all of it is spent."""
        return self.spent >= self.limit

    @property
    def left(self) -> int:
        """How many iterations are left for a program, as the solver takes it."""
        return int(min(max(self.limit - self.spent, 0), _NO_LIMIT))

    def spend(self, iterations: int) -> None:
        """Count iterations."""
        self.spent += iterations


_NO_LIMIT = 2**31 - 1
