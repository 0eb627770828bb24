"""What a criterion is: a judge of classes, or of all that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["SLACK", "Block", "Criterion", "Overall", "above"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLACK = 1e-12
"""Relative: computed figures that are equal to a threshold on paper may lie this far beyond it by rounding."""


def above(figure: Floats, threshold: float) -> Bools:
    """Tell which figures are above a threshold, and not by rounding alone."""
    return np.asarray(figure > threshold + SLACK * max(1.0, abs(threshold)))


@dataclass(frozen=True)
class Block:
    """Some classes, as criteria see them.

    Parameters
    ----------
    sizes : ndarray of int, shape (C,)
        Records of each class.
    histograms : dict
        By the number of a sensitive variable: records of each class with each value, shape (C, V). Records without a
        value are in `sizes` alone.
    references : sequence of ndarray, each of shape (V,)
        Of every sensitive variable: records of the whole file, before suppression, with each value.
    """

    sizes: Ints
    histograms: dict[int, Ints]
    references: Sequence[Ints]


class Criterion:
    """A judge of classes: one that fails is suppressed whole.

    A class in which nobody has a value of a sensitive variable passes what is asked of that variable: there is nothing
    to learn in it.

    What a search may leave out follows from two properties, which each criterion claims only where they are proven:
    """

    variable: int | None = None
    """Number of the sensitive variable that is judged, or None where sizes are."""

    any_union: ClassVar[bool] = False
    """A safe class stays safe whichever classes join it, safe or not. Then a record that is suppressed at a node is
    suppressed at every finer one, and a node with too many finds every finer one out. (Of criteria on a sensitive
    variable this is used only where every record has a value.)"""

    safe_union: ClassVar[bool] = False
    """Safe classes together are safe. Then a class that fails at a node has a failing one within it at every finer
    node, which rules those out where nothing may be suppressed."""

    least_size: int = 1
    """No class with fewer records passes."""

    def fails(self, block: Block) -> Bools:
        """Tell which classes fail, shape (C,)."""
        raise NotImplementedError


class Overall:
    """A judge of all classes that are kept, together."""

    falls: ClassVar[bool] = False
    """Where nothing is suppressed, no node fails of which a finer one passes."""

    def fails_all(self, sizes: Ints) -> bool:
        """Tell whether a release of classes of these sizes, each with 1 record or more, fails."""
        raise NotImplementedError
