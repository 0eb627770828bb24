"""Which attackers a table is exposed to, and how much they know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DEFAULT", "USUAL", "Attacking", "Metric"]

Metric = Literal["euclidean", "scaled", "mahalanobis"]

DEFAULT = ("nearest", "predicted")
"""The attackers whose maximum is the headline, where nobody says otherwise."""


@dataclass(frozen=True)
class Attacking:
    """How records are attacked.

    Parameters
    ----------
    attacks
        Names of the attackers, see `Attack`.
    cap
        Largest h that is counted; at least 10, the largest t reported.
    sample
        Attack so many records at most, chosen at random; all if None.
    metric
        As in `h_rank`, for attackers that look for the nearest.
    fraction
        Chance that a target is in the file; None: as the disclosure says.
    file_order
        Whether to add the first 10, 50 and 90% of the file in its own order.
    at
        Values of t that P(h ≤ t) is given for besides 0, 1, 2, 5 and 10.
    """

    attacks: tuple[str, ...] = DEFAULT
    cap: int = 100
    sample: int | None = None
    metric: Metric = "scaled"
    fraction: float | None = None
    file_order: bool = False
    at: tuple[int, ...] = ()


USUAL = Attacking(sample=100_000)
"""Who attacks a release, where nobody says otherwise: with so many targets standard errors are below 0.002."""
