"""What a drafted plan does, in short: for whoever reads a draft before the plan, and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sfumato.plan.wishes import Purpose

__all__ = ["DraftedPlan", "LeftOut", "Tried"]


@dataclass(frozen=True)
class LeftOut:
    """A column that does not leave, and why.

    Parameters
    ----------
    column
        Its name.
    because
        Why, in words without values or counts from the data.
    """

    column: str
    because: str


@dataclass(frozen=True)
class Tried:
    """What was measured when the draft was tried; None where it was not.

    Parameters
    ----------
    linkage_nearest
        Share of the people who are found by the nearest record.
    uniques_kept
        Share of the people whose combination is still unique.
    inference
        What the release tells of its people beyond what it tells of others, in the worst column.
    records
        How many records it was tried on.
    relations_shift
        By how much correlations move on average.
    """

    linkage_nearest: float | None = None
    uniques_kept: float | None = None
    inference: float | None = None
    records: int | None = None
    relations_shift: float | None = None


@dataclass(frozen=True)
class DraftedPlan:
    """A drafted plan, and what it does.

    Parameters
    ----------
    text
        The plan as YAML.
    purpose
        What it is drafted for.
    method
        `keys`: what is known is broadened and averaged, and all else leaves as it is. `swap`: values are exchanged
        among similar records. `synthesise`: all values are drawn anew.
    known
        Columns that somebody may know.
    unknown
        Columns that leave as they are, since nobody knows them.
    kept
        Columns that leave.
    left_out
        Columns that do not.
    group
        Fewest records that are alike, or that exchange values.
    tried
        What was measured on the way.
    next
        Commands to go on with.
    open
        Whether the plan still asks why nobody knows some columns.
    because
        Why nothing can be released in this way; None where something can.

    Examples
    --------
    >>> drafted = DraftedPlan("sfumato: 1", "scientific-use", "keys", ("sex",), (), ("sex",), group=5)
    >>> drafted.to_dict()["for"], drafted.to_dict()["tried"]["records"]
    ('scientific-use', None)
    """

    text: str = field(repr=False)
    purpose: Purpose
    method: Literal["keys", "swap", "synthesise"]
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    kept: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    group: int | None = None
    tried: Tried = field(default_factory=Tried)
    next: tuple[str, ...] = ()
    open: bool = False
    because: str | None = None

    def with_next(self, commands: Sequence[str]) -> DraftedPlan:
        """The same with commands to go on with."""
        return replace(self, next=tuple(commands))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the plan; `because` only where nothing can be released."""
        told: dict[str, Any] = {
            "for": self.purpose,
            "known": list(self.known),
            "unknown": list(self.unknown),
            "kept": list(self.kept),
            "left_out": [{"column": one.column, "because": one.because} for one in self.left_out],
            "method": self.method,
            "group": self.group,
            "tried": dict(vars(self.tried)),
            "next": list(self.next),
        }
        return told | ({} if self.because is None else {"because": self.because})
