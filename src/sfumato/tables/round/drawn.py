"""Rounding by keyed draws: random rounding and Barnardisation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, Purpose, Words, bits
from sfumato.kernels.tabular.rounding import parted

__all__ = ["barnardised", "rounded_at_random"]

Floats = NDArray[np.float64]


def rounded_at_random(value: Floats, base: float, unit: Words, draws: Draws) -> Floats:
    """One of the two multiples beside each value, the upper with probability r / b: right on average.

    Examples
    --------
    >>> from sfumato.draws import units
    >>> rounded_at_random(np.array([0.0, 5.0, 10.0]), 5, units([1, 2, 3]), Draws(bytes(16))).tolist()
    [0.0, 5.0, 10.0]
    """
    number, rest = parted(value, base)
    draw = draws.uniform(unit, Purpose("round", strength=f"{base:g}"), bits(value))
    return base * (number + (draw < rest / base))


def barnardised(value: Floats, keep: float, unit: Words, draws: Draws) -> Floats:
    """Each count but 0 as it is with probability `keep`, else one more or one less, each as likely.

    Examples
    --------
    >>> from sfumato.draws import units
    >>> barnardised(np.array([0.0, 5.0]), 1.0, units([1, 2]), Draws(bytes(16))).tolist()
    [0.0, 5.0]
    """
    draw = draws.uniform(unit, Purpose("barnardise", strength=f"{keep!r}"), bits(value))
    down = (1 - keep) / 2
    step = np.where(draw < down, -1.0, np.where(draw >= 1 - down, 1.0, 0.0))
    return value + np.where(value > 0, step, 0.0)
