"""A figure averaged over replications, with its interval, and all figures at one value of a tuned parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.finding import Finding

__all__ = ["LEVEL", "Averaged", "Point", "averaged", "single"]

LEVEL = 0.95
"""Level of the intervals."""


@dataclass(frozen=True)
class Averaged:
    """A figure averaged over replications.

    Parameters
    ----------
    value
        The mean.
    low, high
        Its 95% interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """What came of one value of the parameter.

    Parameters
    ----------
    value
        The value.
    held
        For each limit whether it is met: by the far end of its figure's interval, or by that of a single run.
    figures
        The figure of each limit; None where it could not be had.
    nearest
        Number of the limit that is nearest to breaking, or broken most.
    utility
        Means of the utility figures by name.
    replications
        How many runs it is of.
    kept
        Share of the runs whose own figures kept to every limit: about the chance that one release will, but too good
        where the value was chosen by the same runs.
    """

    value: float
    held: tuple[bool, ...]
    figures: tuple[Averaged | None, ...]
    nearest: int
    utility: dict[str, float | None]
    replications: int
    kept: float

    @property
    def met(self) -> bool:
        """Whether all limits are met."""
        return all(self.held)

    @property
    def risk(self) -> float | None:
        """The figure of the limit that is nearest to breaking."""
        figure = self.figures[self.nearest]
        return None if figure is None else figure.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of `risk`."""
        figure = self.figures[self.nearest]
        return None if figure is None else (figure.low, figure.high)


def averaged(findings: Sequence[Finding | None], level: float = LEVEL) -> Averaged | None:
    """Mean of a figure over replications, with its interval.

    The interval is Student's t over the replications. Where the figures were taken on a sample of records, that
    sample is the same in all replications, so its error does not average out: its half-width (the mean over
    replications) is added, in squares, to that of the t-interval. Each side is added for itself (Zou and Donner 2008,
    doi:10.1002/sim.3095).

    Parameters
    ----------
    findings
        The finding of each replication. One alone is taken as certain but for its own (95%) interval.
    level
        Level of the interval.

    Returns
    -------
    Averaged or None
        None where a replication has no value.

    Examples
    --------
    >>> found = averaged([Finding("risk1", value=v) for v in (0.1, 0.2, 0.3)])
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.2, -0.0484, 0.4484)
    """
    known = [f for f in findings if f is not None and f.value is not None]
    if not known or len(known) < len(findings):
        return None
    values = np.array([f.value for f in known], dtype=float)
    mean = float(values.mean())
    spread, wider = _half_width(values, level), _wider(level)
    below = _mean([f.value - f.interval[0] for f in known if f.interval and f.value is not None])
    above = _mean([f.interval[1] - f.value for f in known if f.interval and f.value is not None])
    return Averaged(mean, mean - math.hypot(spread, wider * below), mean + math.hypot(spread, wider * above))


def single(findings: Sequence[Finding | None], kept: float) -> Averaged | None:
    """Where the figure of one further run lies below, and where above, with a given probability each.

    A prediction by Student's t: of the runs' spread, and of what their mean may be off. What a sample of records adds
    is in every run's own figure already.

    Parameters
    ----------
    findings
        The finding of each replication; one alone is taken as certain.
    kept
        The probability, 0.5 to 1.

    Returns
    -------
    Averaged or None
        With the mean as `value`; None where a replication has no value.

    Examples
    --------
    >>> found = single([Finding("risk1", value=v) for v in (0.1, 0.2, 0.3)], 0.95)
    >>> round(found.high, 4)
    0.5372
    """
    values = np.array([f.value for f in findings if f is not None and f.value is not None], dtype=float)
    if not len(values) or len(values) < len(findings):
        return None
    half = _half_width(values, 2 * kept - 1) * math.sqrt(len(values) + 1)
    return Averaged(float(values.mean()), float(values.mean()) - half, float(values.mean()) + half)


def _half_width(values: NDArray[np.float64], level: float) -> float:
    from scipy.special import stdtrit

    n = len(values)
    return 0.0 if n < 2 else float(stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / math.sqrt(n))


def _wider(level: float) -> float:
    """How many times as wide a normal interval of this level is as one of 95%."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2) / ndtri((1 + LEVEL) / 2))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
