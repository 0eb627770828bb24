"""Noise for counts: a transition table, looked up by a cell's count and key."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.transition import Infeasible, Row, most_even, reach, support

__all__ = ["count_noise", "transitions"]

Floats = NDArray[np.float64]
_MOST = 200
"""Largest change, and largest forbidden count, of a transition table."""


def transitions(
    largest: int = 5,
    variance: float = 3.0,
    forbidden: int = 2,
    *,
    exact: bool = False,
    stay: float = 0.0,
    monotone: bool = True,
) -> tuple[Row, ...]:
    """The transition table of largest entropy: how likely each count becomes each other.

    Parameters
    ----------
    largest
        Largest change D of a count.
    variance
        Largest variance V of the change; with `exact`, the variance.
    forbidden
        Counts from 1 up to this are never published.
    exact
        Whether every row has just this variance.
    stay
        Least probability that a count stays as it is, where it may.
    monotone
        Whether a larger change downwards is never more likely than a smaller one.

    Returns
    -------
    tuple of Row
        For counts 0, 1, ...; the last one, symmetric, serves all larger counts.

    Raises
    ------
    DataError
        Where rows have no such distribution: it names them, and the variances that they can have.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, doi:10.1002/9781118348239. The same tables are made by the
    R package ptable of Enderle.

    Examples
    --------
    >>> [row.probability.round(3).tolist() for row in transitions(1, 0.5, 0)]
    [[1.0], [0.25, 0.5, 0.25]]
    """
    if not 1 <= largest <= _MOST or not 0 <= forbidden <= _MOST:
        raise DataError(f"The largest change lies between 1 and {_MOST}, the forbidden counts between 0 and {_MOST}.")
    if not (0 < variance < np.inf) or not 0 <= stay <= 1:
        raise DataError("The variance is above 0, and the probability to stay between 0 and 1.")
    rows: list[Row] = []
    wrong: list[str] = []
    for count in range(largest + (forbidden + 1 if forbidden else 0) + 1):
        change = support(count, largest, forbidden)
        try:
            own = stay if np.any(change == 0) else 0.0
            rows.append(
                most_even(change, 0.0 if count == 0 else variance, exact=exact and count > 0, stay=own, rising=monotone)
            )
        except Infeasible:
            wrong.append(_told(count, *reach(change)))
    if wrong:
        raise DataError(
            f"No transition table has a change of {largest} at most, the variance {variance:g} and no counts of 1 to "
            f"{forbidden}: {'; '.join(wrong)}. Take another variance, a larger change or fewer forbidden counts"
            + (", or leave out the other conditions (stay, exact, monotone)." if stay or exact else ".")
        )
    return tuple(rows)


def _told(count: int, least: float, largest: float) -> str:
    if np.isnan(least):
        return f"row {count} has no distribution with mean 0"
    return f"row {count} can have variances from {least:g} to {largest:g}"


def count_noise(count: Floats, key: Floats, rows: tuple[Row, ...]) -> Floats:
    """The change of each count: looked up in its row by its key.

    Examples
    --------
    >>> count_noise(np.array([0.0, 7.0]), np.array([0.1, 0.1]), transitions(1, 0.5, 0)).tolist()
    [0.0, -1.0]
    """
    out = np.zeros(len(count))
    row = np.minimum(count, len(rows) - 1).astype(np.int64)
    for number in np.unique(row):
        here = row == number
        out[here] = rows[number].look_up(key[here])
    return out
