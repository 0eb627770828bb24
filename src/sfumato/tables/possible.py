"""What a published count can have been, where it was changed by a method that everybody knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError

__all__ = ["Barnardised", "Possible", "Rounded"]

Floats = NDArray[np.float64]


class Possible(Protocol):
    """A way counts were changed: from the published ones to the least and the most that each can have been."""

    @property
    def totals(self) -> Literal["own", "summed"]:
        """Whether totals were changed by themselves."""
        ...

    def interval(self, published: Floats) -> tuple[Floats, Floats]:
        """The least and the most that each published count can have been."""
        ...


@dataclass(frozen=True)
class Rounded:
    """Counts that were rounded to multiples of a base.

    Parameters
    ----------
    base
        Counts are published as multiples of it.
    method
        `conventional`: to the nearest. `random` and `controlled`: to one of the two multiples beside it, multiples
        themselves are kept.
    steps
        Controlled rounding may have gone so many multiples further.
    totals
        `own`: totals were rounded as all cells were; `summed`: they are sums of rounded cells, and tell nothing more.

    Examples
    --------
    >>> [end.tolist() for end in Rounded(3).interval(np.array([0.0, 3.0]))]
    [[0.0, 1.0], [2.0, 5.0]]
    >>> [end.tolist() for end in Rounded(5, "conventional").interval(np.array([0.0, 5.0]))]
    [[0.0, 3.0], [2.0, 7.0]]
    """

    base: int
    method: Literal["conventional", "random", "controlled"] = "random"
    steps: int = 0
    totals: Literal["own", "summed"] = "own"

    def __post_init__(self) -> None:
        if self.base < 2 or self.steps < 0:
            raise DataError("Rounding needs a base of 2 or more, and a number of steps of 0 or more.")
        if self.steps and self.method != "controlled":
            raise DataError("Only controlled rounding goes further by steps.")

    def interval(self, published: Floats) -> tuple[Floats, Floats]:
        """The least and the most that each published count can have been.

        Raises
        ------
        DataError
            Where a count is no multiple of the base.
        """
        if np.any(np.mod(published[~np.isnan(published)], self.base) != 0):
            raise DataError(f"Counts that were rounded to the base {self.base} are multiples of it; some are not.")
        if self.method == "conventional":
            # half-way counts went either way, by whose rule is not told
            reach = float(self.base // 2)
        else:
            reach = float((self.steps + 1) * self.base - 1)
        return np.maximum(published - reach, 0.0), published + reach


@dataclass(frozen=True)
class Barnardised:
    """Counts to which one was added, or from which one was taken, or neither; zeros were kept.

    Parameters
    ----------
    totals
        `own`: totals were changed as all cells were; `summed`: they are sums of changed cells, and tell nothing more.

    Examples
    --------
    >>> [end.tolist() for end in Barnardised().interval(np.array([0.0, 1.0, 2.0]))]
    [[0.0, 1.0, 1.0], [1.0, 2.0, 3.0]]
    """

    totals: Literal["own", "summed"] = "own"

    def interval(self, published: Floats) -> tuple[Floats, Floats]:
        """The least and the most that each published count can have been."""
        return np.where(published > 0, np.maximum(published - 1, 1.0), 0.0), published + 1
