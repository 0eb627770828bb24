"""Hidden numbers that vary between groups: what the others of its group say of a record's value.

Let x_ij = w_ij'γ + u_j + e_ij with u_j ~ N(0, τ²) for group j, and r = z − w'γ. Given the r of the other m − 1 records
of its group, a record's u has the mean

    û_ij = τ² / (τ² + s² / (m − 1)) · mean of the others' r,

s² being the variance of r within groups, noise included. With û as one more exact covariate of the model of x, what is
known of x_ij given all that was released in its group is as it is under the random intercept. What u still varies
around û is common to the group; where it goes into the response, the response's own random intercept takes it up.

Source: Searle, Casella and McCulloch (1992), Variance Components, doi:10.1002/9780470316856.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

__all__ = ["expected_between"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEVEL = 0.01
"""Level of the test that a number varies between groups."""


def expected_between(r: Floats, group: Ints) -> Floats | None:
    """Expect each record's group effect from the other records of its group.

    Parameters
    ----------
    r : ndarray, shape (n,)
        What was released, less what exact covariates explain; NaN where missing.
    group : ndarray, shape (n,)
        Group of each record, numbered from 0.

    Returns
    -------
    ndarray, shape (n,), or None
        û; 0 for records without others in their group. None where the number does not vary between groups beyond
        chance.

    Examples
    --------
    >>> r = np.array([2.0, 2.2, -2.0, -2.2, 0.1, -0.1])
    >>> expected_between(r, np.array([0, 0, 1, 1, 2, 2])).round(1).tolist()
    [2.2, 2.0, -2.2, -2.0, -0.1, 0.1]
    """
    known = ~np.isnan(r)
    value, own = np.where(known, r, 0.0), group
    count = np.bincount(own, weights=known)
    total = np.bincount(own, weights=value)
    filled = count > 0
    groups, n = int(filled.sum()), int(known.sum())
    if groups < 2 or n <= groups:
        return None
    mean = np.divide(total, count, out=np.zeros_like(total), where=filled)
    grand = float(total.sum()) / n
    within = float(((value - mean[own]) ** 2)[known].sum()) / (n - groups)
    between = float(count @ (mean - grand) ** 2) / (groups - 1)
    if within <= 0 or fdtrc(groups - 1, n - groups, between / within) > _LEVEL:
        return None
    size = (n - float(count @ count) / n) / (groups - 1)
    variance = (between - within) / size
    others = count[own] - known
    rest = np.divide(total[own] - value, others, out=np.full(len(r), grand), where=others > 0) - grand
    share = variance / (variance + within / np.maximum(others, 1))
    return np.asarray(np.where(others > 0, share * rest, 0.0))
