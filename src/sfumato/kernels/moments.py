"""Number, mean and variance without cancellation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["moments"]


def moments(x: NDArray[np.float64]) -> tuple[int, float, float]:
    """Give number, mean and variance (divisor n − 1) of values in two passes over their sorted copy.

    Sorting first makes the result the same to the last bit whatever the order of the values.

    Parameters
    ----------
    x
        Values, shape (n,), no NaN.

    Returns
    -------
    n, mean, variance
        Mean is NaN for n = 0, variance for n < 2.

    Examples
    --------
    >>> moments(np.array([1e9, 1e9 + 1, 1e9 + 2]))
    (3, 1000000001.0, 1.0)
    """
    n = len(x)
    if n == 0:
        return 0, float("nan"), float("nan")
    ordered = x if bool((x[1:] >= x[:-1]).all()) else np.sort(x)  # engines give sorted values
    middle = ordered[n // 2]
    mean = float(middle + (ordered - middle).mean())
    if n < 2:
        return n, mean, float("nan")
    return n, mean, float(((ordered - mean) ** 2).sum() / (n - 1))
