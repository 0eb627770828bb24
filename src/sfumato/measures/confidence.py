"""Confidence intervals of estimated risks."""

from __future__ import annotations

import math

__all__ = ["wilson"]


def wilson(hits: float, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Give Wilson's interval for a share: it stays within 0 and 1 and holds at both ends.

    Source: Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Parameters
    ----------
    hits
        Number of successes, 0 … n; an expected number need not be whole.
    n
        Number of trials, at least 1.
    z
        Normal quantile; the default gives 95%.

    Returns
    -------
    tuple of float
        Lower and upper limit.

    Examples
    --------
    >>> low, high = wilson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.2775)
    """
    share = hits / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    below, above = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return (0.0 if hits == 0 else max(below, 0.0)), (1.0 if hits == n else min(above, 1.0))
