"""Quantiles of each column before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair

__all__ = ["PROBS", "findings", "quantiles"]

PROBS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Probabilities that reports give quantiles at."""


def quantiles(values: NDArray[np.float64], probs: Sequence[float] = PROBS) -> tuple[float | None, ...]:
    """Quantiles of one column by linear interpolation (type 7 of Hyndman & Fan).

    Parameters
    ----------
    values : ndarray, shape (n,)
        NaN where missing.
    probs
        Probabilities, 0 to 1.

    Returns
    -------
    tuple of float or None
        One for each probability; all None where there is no value.

    Examples
    --------
    >>> quantiles(np.array([1.0, 2.0, np.nan, 4.0]), (0.25, 0.5))
    (1.5, 2.0)

    References
    ----------
    Hyndman & Fan (1996), doi:10.1080/00031305.1996.10473566.
    """
    present = values[~np.isnan(values)]
    if not len(present):
        return (None,) * len(probs)
    return tuple(float(q) for q in np.quantile(present, probs, method="linear"))


def findings(pair: Pair) -> Findings:
    """Give `quantile` of each of the pair's columns at each of `PROBS`: the release's, with the original's as baseline.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    lines, notes = [], []
    for j, name in enumerate(pair.columns):
        before, after = quantiles(pair.x[:, j]), quantiles(pair.z[:, j])
        lines += [
            Finding("quantile", variable=name, at=prob, value=new, baseline=old)
            for prob, old, new in zip(PROBS, before, after, strict=True)
        ]
        if before[0] is None or after[0] is None:
            notes.append(f"Column {name!r} has no value in one of the tables, so it has no quantiles there.")
    return Findings(tuple(lines), tuple(notes))
