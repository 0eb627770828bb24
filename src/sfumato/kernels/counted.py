"""Figures of values that are given once each, with how often they occur."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["counted_quantile"]


def counted_quantile(values: NDArray[np.float64], count: NDArray[np.int64], prob: float) -> float:
    """A quantile by linear interpolation (type 7).

    Parameters
    ----------
    values
        Different values in rising order, at least one, shape (n,).
    count
        How often each occurs, shape (n,).
    prob
        From 0 to 1.

    Examples
    --------
    >>> counted_quantile(np.array([1.0, 2.0]), np.array([1, 3]), 0.25)
    1.75
    """
    total = np.cumsum(count)
    place = (int(total[-1]) - 1) * prob
    low, high = (float(values[np.argmax(total > at)]) for at in (math.floor(place), math.ceil(place)))
    return low + (high - low) * (place - math.floor(place))
