"""How things are measured, where measures leave a choice."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.kernels.glm import Family
from sfumato.measures.attacking import Attacking

__all__ = ["Measuring"]


@dataclass(frozen=True)
class Measuring:
    """How things are measured.

    Parameters
    ----------
    w1, w2
        Widths of the robust Mahalanobis risk.
    interval
        Half-width of interval disclosure, in sd of the masked column.
    model, family
        The user's model, for utility: a formula, and `linear`, `logistic` or `probit`.
    attacking
        Which attackers the h-rank is of; None measures it, with the default ones, only where noise is disclosed.

    Examples
    --------
    >>> Measuring(model="asthma ~ bmi", family="logistic").w1
    0.01
    """

    w1: float = 0.01
    w2: float = 0.05
    interval: float = 0.05
    model: str | None = None
    family: Family | None = None
    attacking: Attacking | None = None
