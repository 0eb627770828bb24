"""What a dependence between columns is, as stewards see it; analysts see nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Dependence", "Kind"]

Kind = Literal["tells", "tells_together", "never", "band", "adds"]


@dataclass(frozen=True, order=True)
class Dependence:
    """A dependence that was found in the data, and counts as known to everybody who asks.

    Parameters
    ----------
    kind
        `tells`: one column tells another; `tells_together`: two tell a third; `never`: combinations of two that are
        empty where many people were expected; `band`: a number tells a column; `adds`: numbers that add up.
    of
        The columns that tell; both of `never`; the parts of a sum that adds up.
    to
        The column that is told; None of `never`.
    combinations
        Of how many combinations of codes it says that they cannot be; of `adds`, how many columns it joins.
    expected
        How many people would be in these combinations were the columns independent of one another; of `adds`, the rows
        that it was confirmed on.
    version
        The version that alone has it; empty where all have it together.
    """

    kind: Kind
    of: tuple[str, ...]
    to: str | None
    combinations: int
    expected: float
    version: str = ""

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "from": list(self.of),
            "to": self.to,
            "combinations": self.combinations,
            "expected": round(self.expected, 1),
        }
