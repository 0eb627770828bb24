"""Draw values anew between those that lie some ranks below and above."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["near_ranks"]

Floats = NDArray[np.float64]


def near_ranks(
    x: Floats, share: float, u: Floats, *, among: Floats | None = None, ties: Floats | None = None
) -> Floats:
    """Draw each value anew, evenly between those that a share of all ranks lie below and above it.

    Equal values have the bounds of all of them, or, with `ties`, of one of them; at the ends the range is cut off at
    the least and the largest value.

    Parameters
    ----------
    x
        Values, shape (n,), no NaN.
    share
        Share of the ranks on either side, above 0; at least one rank.
    u
        Uniform draws in (0, 1), shape (n,).
    among
        The values that ranks are of, where these are not `x` themselves, shape (m,), sorted; each of `x` is there.
    ties
        Uniform draws in (0, 1), shape (n,): which of equal values' ranks each has, so that of many equal ones few move.

    Examples
    --------
    >>> near_ranks(np.array([1.0, 2.0, 4.0, 8.0]), 0.25, np.full(4, 0.5)).tolist()
    [1.5, 2.5, 5.0, 6.0]
    """
    if not len(x):
        return x
    ordered = np.sort(x) if among is None else among
    ranks = max(1, int(share * len(ordered) + 1e-9))
    first, last = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right") - 1
    if ties is not None:
        first = last = first + (ties * (last - first + 1)).astype(np.int64)
    low = ordered[np.maximum(first - ranks, 0)]
    high = ordered[np.minimum(last + ranks, len(ordered) - 1)]
    return np.asarray(low + u * (high - low))
