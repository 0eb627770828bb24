"""Figures that are restored or disclosed, rounded up or down by a keyed draw: two releases cannot be subtracted.

The draw is keyed on the figure and its grid, so that other releases of the same data repeat it and there is nothing to
average.
"""

from __future__ import annotations

import numpy as np

from sfumato.draws import bits, units
from sfumato.kernels.grid import round_to_multiple
from sfumato.methods.base import StepDraws

__all__ = ["round_at_random"]

_SAME = 1e-6
"""Figures that agree to this part of the grid are one: engines and partitions differ in the last bits."""


def round_at_random(exact: float, grid: float, column: str, what: str, n: int, draws: StepDraws) -> float:
    """Round a figure to a multiple of a grid, up or down, right on average.

    Parameters
    ----------
    exact
        The figure.
    grid
        Its grid, above 0, in so few digits that the multiple does not give away what it was made of.
    column, what
        Of which column it is, and which of its figures.
    n
        Of how many values.
    draws
        The step's keyed draws.

    Examples
    --------
    >>> from sfumato.draws import Draws
    >>> draws = StepDraws(Draws(bytes(16)), "top_code", None)
    >>> round_at_random(31.4, 10.0, "age", "mean", 7, draws) in (30.0, 40.0)
    True
    """
    fine = _SAME * grid
    same = bits([float(np.floor(exact / fine + 0.5)) * fine])
    purpose = draws.purpose(column, f"{what} to {grid!r}")
    u = float(draws.draws.uniform(same, purpose, units([n]))[0])
    below = float(np.floor(exact / grid))
    return float(round_to_multiple(np.array([(below + (u < exact / grid - below)) * grid]), grid)[0])
