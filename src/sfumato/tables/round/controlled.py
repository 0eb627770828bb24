"""Controlled rounding: multiples that add up, as few bases off as it takes."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.rounding import additive
from sfumato.kernels.tabular.whole_numbers import Solved
from sfumato.tables.equations import Merged

__all__ = ["MOST_STEPS", "controlled"]

Floats = NDArray[np.float64]
MOST_STEPS = 3
"""So many steps are tried where none are asked for."""


def controlled(merged: Merged, base: float, steps: int | None, seconds: float | None) -> tuple[Floats, Solved, int]:
    """Rounded cells of the system, how they were found, and the steps that it took.

    Raises
    ------
    DataError
        Where no table of multiples adds up within the steps, or none was found in time.
    """
    value, matrix = merged.system.value, merged.system.matrix
    lines = merged.gather([np.ones(len(cell)) for cell in merged.cell], "sum")  # a total with one part is two lines
    begun = time.monotonic()
    tries = [steps] if steps is not None else list(range(MOST_STEPS + 1))
    proved = True
    for i, step in enumerate(tries):
        left = None if seconds is None else max(seconds - (time.monotonic() - begun), 0.1)
        part = left if left is None or i == len(tries) - 1 else left / 2
        found = additive(matrix, value, base, step, part, lines)
        if found.values is not None:
            if np.any(np.abs(matrix @ found.values) > 0.5):
                raise DataError("The table could not be rounded so that it adds up: the solver failed on its size.")
            return found.values, found, step
        proved = proved and found.optimal
    if proved:
        raise DataError(
            f"No table of multiples of {base:g} adds up with values at most {tries[-1]} steps beyond their neighbours. "
            f"Allow more steps (--steps {tries[-1] + 1}, `steps`), take a smaller base, "
            "or round at random (--method random)."
        )
    raise DataError(
        "No rounded table that adds up was found in time. Allow more time (--time-limit, `seconds`) or more steps "
        "(--steps, `steps`), or round at random (--method random)."
    )
