"""What the distribution of hidden numbers given the other covariates is taken for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_PARTS", "Shape"]

Floats = NDArray[np.float64]

MOST_PARTS = 5
"""Most normals that the distribution of hidden numbers is a mixture of."""


@dataclass(frozen=True)
class Shape:
    """A mixture of normals, each with a mean linear in the exact covariates and a covariance of its own.

    Parameters
    ----------
    parts
        How many normals.
    size : ndarray, shape (c, c), or None
        The covariance that those of the parts are drawn to, with the weight of one record each.
    bends
        Squares and products of exact covariates that the means hang on as well, each shape (n,), by name.
    theta : ndarray or None
        Parameters of the covariates' model to begin at, as `GaussianMixture` has them after coefficients and further
        parameters of the response.
    told
        Which shape was taken, and why.
    notes
        What a reader should be warned of.

    Examples
    --------
    >>> Shape().parts
    1
    """

    parts: int = 1
    size: Floats | None = None
    bends: dict[str, Floats] = field(default_factory=dict)
    theta: Floats | None = None
    told: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
