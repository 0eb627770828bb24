"""The intruders whose success is measured: who they are, what they know, how sure they are that somebody is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from sfumato.errors import DataError

__all__ = ["PAIRS", "PAIRS_OF_RELEASES", "SCENARIOS", "Intruding", "Knowledge", "Scenario"]

Scenario = Literal["neighbour", "cross_match", "trawl", "claim"]
"""`neighbour` knows one person's keys; `cross_match` holds an identification file; `trawl` knows nothing and looks for
odd records; `claim` knows everybody's keys and needs one claim that is believed."""
SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)

PAIRS = 10**9
"""Most pairs of people and records that are compared; with more, fewer people are attacked."""
PAIRS_OF_RELEASES = 10**8
"""The same where a release is made."""


@dataclass(frozen=True)
class Knowledge:
    """What an intruder knows of a person.

    Parameters
    ----------
    keys
        The columns; None: all keys.
    error
        By column how wrong it is: a number is off by a normal error with this standard deviation, in the column's own
        unit; a category is with this probability another one, drawn from its margin.

    Examples
    --------
    >>> Knowledge(error={"age": 2.0}).error["age"]
    2.0
    """

    keys: tuple[str, ...] | None = None
    error: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def word(self) -> tuple[object, ...]:
        """The same in a form that can be compared."""
        return self.keys, tuple(sorted(self.error.items()))


@dataclass(frozen=True)
class Intruding:
    """Which intruders attack.

    Parameters
    ----------
    scenarios
        Who: `neighbour`, `cross_match`, `trawl`, `claim`.
    present
        Share of the known people of whom an intruder with a file takes it that they are in the release; None: their
        true share.
    knows
        What the intruder of a scenario knows; those who are not named know all keys.

    Raises
    ------
    DataError
        Where there is no such scenario, or `present` is not above 0 and at most 1.

    Examples
    --------
    >>> Intruding(("claim",)).knowledge("claim").keys is None
    True
    """

    scenarios: tuple[str, ...] = ("neighbour",)
    present: float | None = None
    knows: Mapping[str, Knowledge] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if strange := [name for name in self.scenarios if name not in SCENARIOS]:
            named = ", ".join(map(repr, strange))
            raise DataError(f"There is no scenario {named}. Scenarios: {', '.join(SCENARIOS)}.")
        if self.present is not None and not 0 < self.present <= 1:
            raise DataError(
                "--present (present=) is the share of the known people who are in the release: above 0 and at most 1."
            )

    def knowledge(self, scenario: str) -> Knowledge:
        """What the intruder of a scenario knows."""
        return self.knows.get(scenario, Knowledge())
