"""Steps to a maximum whose curvature is mended by what gradients did along the steps before (L-BFGS)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["mended"]

Floats = NDArray[np.float64]


def mended(gradient: Floats, solved: Callable[[Floats], Floats], past: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The step that a curvature asks for, mended by earlier steps.

    Parameters
    ----------
    gradient
        Of the function that is climbed, of any shape.
    solved
        Gives the step that the curvature, as far as it is known, asks for at a gradient.
    past
        Of each earlier step, oldest first: how far it went, and by how much the gradient fell along it.

    References
    ----------
    Liu and Nocedal (1989), doi:10.1007/BF01589116.

    Examples
    --------
    >>> moved, fell = np.array([1.0]), np.array([4.0])  # a curvature of 4, where 1 was thought
    >>> mended(np.array([2.0]), lambda g: g, [(moved, fell)]).tolist()
    [0.5]
    """
    left, taken = gradient, []
    for moved, fell in reversed(past):
        along = float(np.vdot(moved, left)) / float(np.vdot(moved, fell))
        left = left - along * fell
        taken.append(along)
    step = solved(left)
    for (moved, fell), along in zip(past, reversed(taken), strict=True):
        step = step + (along - float(np.vdot(fell, step)) / float(np.vdot(moved, fell))) * moved
    return step
