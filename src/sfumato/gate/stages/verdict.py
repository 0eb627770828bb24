"""What a stage came to."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HOLDS", "NOTHING", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether a criterion holds.

    Parameters
    ----------
    holds
        Proved, disproved, or neither (None).
    stage
        What showed it.
    work
        Units of work that were spent: equal on every machine.
    """

    holds: bool | None
    stage: str
    work: int = 0


HOLDS = Verdict(True, "known")
"""Nothing is left to be shown."""
NOTHING = Verdict(None, "open")
"""Nothing was shown."""
