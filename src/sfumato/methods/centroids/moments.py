"""What is restored of a column, kept to a tenth of its standard error: two releases cannot be subtracted exactly.

Means and standard deviations of two releases, one person apart, give sums whose difference is that person's value. So
each is rounded to a grid of a tenth of its standard error, up or down at random and right on average. The difference
of two sums then errs by about 0.06 √n sd: by 0.06 / √s of the deviation of a person who holds the share s of the sum of
squares. The draw is keyed on the column and the moment, whatever the neighbours are, so that other releases of the same
data repeat it and there is nothing to average.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.kernels.grid import significant
from sfumato.methods.at_random import round_at_random
from sfumato.methods.base import StepDraws

__all__ = ["DOMINATES", "Kept", "dominated", "rounded"]

DOMINATES = 0.1
"""Share of a column's sum of squares above which a person's deviation is told to within a fifth, rounded or not."""
_OF_ERROR = 0.1
_DIGITS = 2  # of a finer grid the multiple that is released would give the exact spread away


@dataclass(frozen=True)
class Kept:
    """A column's moments before it was averaged, over the whole table.

    Parameters
    ----------
    n
        Values.
    mean, sd
        Theirs.
    squares
        Variance of their squared z-scores: the fourth moment of z less one.
    largest
        Largest squared z-score.
    """

    n: int
    mean: float
    sd: float
    squares: float = 0.0
    largest: float = 0.0

    @classmethod
    def of(cls, mean: float, sd: float, squares: Mapping[str, Any]) -> Kept:
        """From mean, standard deviation, and the moments of the squared z-scores as a data set answers them."""
        return cls(squares["n"], mean, sd, squares["variance"] or 0.0, squares["high"] or 0.0)

    def error(self, moment: Literal["mean", "sd"]) -> float:
        """Standard error of the mean, or of the standard deviation by the fourth moment."""
        of_sd = float(np.sqrt(self.squares)) / 2
        return self.sd * (1.0 if moment == "mean" else of_sd) / float(np.sqrt(self.n))


def rounded(kept: Kept, moment: Literal["mean", "sd"], column: str, draws: StepDraws) -> float:
    """Round a moment to a tenth of its standard error, up or down by a keyed draw, unbiased.

    Parameters
    ----------
    kept
        The column's moments.
    moment
        Which of them.
    column
        Its name.
    draws
        The step's keyed draws.

    Examples
    --------
    >>> from sfumato.draws import Draws
    >>> kept = Kept(400, 31.416, 2.0)
    >>> draws = StepDraws(Draws(bytes(16)), "centroids", None)
    >>> kept.error("mean"), rounded(kept, "mean", "age", draws) in (31.41, 31.42)
    (0.1, True)
    """
    exact: float = getattr(kept, moment)
    grid = significant(_OF_ERROR * kept.error(moment), _DIGITS)
    if not grid > 0:
        return exact
    return round_at_random(exact, grid, column, moment, kept.n, draws)


def dominated(kept: Kept) -> bool:
    """Whether one value holds so much of the sum of squares that rounding hides it badly.

    Examples
    --------
    >>> dominated(Kept(101, 0.0, 1.0, largest=30.0)), dominated(Kept(101, 0.0, 1.0, largest=9.0))
    (True, False)
    """
    return kept.n > 1 and kept.largest > DOMINATES * (kept.n - 1)
