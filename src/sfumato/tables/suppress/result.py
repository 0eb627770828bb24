"""What a suppression gives: the pattern, how good it is, and which cells could not be protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stage", "Suppression", "impossible_note"]


@dataclass(frozen=True, eq=False)
class Stage:
    """What one stage of the search left.

    Parameters
    ----------
    name
        `elimination`, `flows`, `clean-up`, `flows from scratch` or `search`.
    secondary
        Cells that were hidden beside the primary ones when it ended.
    work
        Iterations of the solver that it took.
    """

    name: str
    secondary: NDArray[np.bool_]
    work: int


@dataclass(frozen=True, eq=False)
class Suppression:
    """A pattern of suppressed cells.

    Parameters
    ----------
    secondary
        Cells hidden beside the primary ones, shape (cells,).
    optimal
        It is proved that no pattern costs less.
    gap
        The share of the cost that may be too much, from 0 to 1; None where nothing was proved.
    bound
        No pattern costs less than this; None where nothing was proved.
    note
        What must be said of the result, without data; None where there is nothing to say.
    unprotected
        Places of primary cells that no pattern protects as was asked, in order.
    reason
        Why, one word for each of them: `bounds` (what was known before leaves no room), `forbidden` (cells that must
        be published give it away), `insider` (one contributor of a neighbouring cell finds it).
    method
        How it was found.
    stages
        What was done under `auto`, in order.
    enough
        Whether the work sufficed for all goals; else some may be missed that could be reached.

    Examples
    --------
    >>> Suppression(np.array([False, True])).tidy()[0]
    {'what': 'secondary', 'value': 1}
    """

    secondary: NDArray[np.bool_]
    optimal: bool = False
    gap: float | None = None
    bound: float | None = None
    note: str | None = None
    unprotected: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    reason: tuple[str, ...] = ()
    method: str = ""
    stages: tuple[Stage, ...] = ()
    enough: bool = True

    def tidy(self) -> list[dict[str, object]]:
        """The result as rows."""
        return [
            {"what": "secondary", "value": int(self.secondary.sum())},
            {"what": "optimal", "value": self.optimal},
            {"what": "gap", "value": self.gap},
            {"what": "bound", "value": self.bound},
            {"what": "unprotected", "value": len(self.unprotected)},
            {"what": "method", "value": self.method},
        ]


REASONS = {
    "bounds": "what is known beforehand (lower and upper bounds, empty cells) leaves no pattern that would",
    "forbidden": "cells that must be published give them away; allow some of these to be hidden",
    "insider": "the only contributor of a neighbouring cell finds them whatever is hidden",
}


def impossible_note(reasons: Sequence[str]) -> str | None:
    """Say in words that some cells cannot be protected, and why; nothing of the data, not even how many.

    Examples
    --------
    >>> print(impossible_note(["forbidden"]))  # doctest: +ELLIPSIS
    Some primary cells cannot be protected as asked: cells that must be published give them away; ...
    """
    said = [text for reason, text in REASONS.items() if reason in reasons]
    return f"Some primary cells cannot be protected as asked: {'; '.join(said)}." if said else None
