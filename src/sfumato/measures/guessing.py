"""Right guesses of people and of a control, and what they tell beyond it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.measures.confidence import wilson

__all__ = ["Guessed", "risk_above"]


@dataclass(frozen=True)
class Guessed:
    """Right guesses among people of the release, and among others.

    Parameters
    ----------
    attack, control
        Expected number of right guesses.
    members, others
        People who were guessed.
    """

    attack: float
    control: float
    members: int
    others: int

    @property
    def risk(self) -> float:
        """What the release adds for its people, as a share of what others leave to be learnt."""
        return risk_above(self.attack / self.members, self.control / self.others)

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the risk, from Wilson's of both shares by the rule of Zou & Donner (2008)."""
        a, c = self.attack / self.members, self.control / self.others
        (a_low, a_high), (c_low, c_high) = wilson(self.attack, self.members), wilson(self.control, self.others)
        low = math.hypot(self.risk - risk_above(a_low, c), self.risk - risk_above(a, c_high))
        high = math.hypot(risk_above(a_high, c) - self.risk, risk_above(a, c_low) - self.risk)
        return self.risk - low, min(1.0, self.risk + high)


def risk_above(attack: float, control: float) -> float:
    """How much of what is left to be learnt of others the release tells of its people: (a − c) / (1 − c).

    Parameters
    ----------
    attack, control
        Shares of right guesses. Where all others are guessed rightly there is nothing left to tell, and the risk is 0.

    Source: Giomi et al. (2023), doi:10.56553/popets-2023-0055.

    Examples
    --------
    >>> round(risk_above(0.6, 0.5), 3)
    0.2
    """
    return (attack - control) / (1 - control) if control < 1 else 0.0
