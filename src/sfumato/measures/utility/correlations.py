"""Correlations before and after."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "correlation", "findings"]

Floats = NDArray[np.float64]


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's correlation of two columns over the rows that have both values, −1 to 1.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        NaN where missing.

    Returns
    -------
    float or None
        None where a column does not vary over these rows. The same to 1e-15 whatever the order of the rows.

    Examples
    --------
    >>> round(correlation(np.array([1.0, 2.0, 3.0]), np.array([6.0, 4.0, 2.0])), 9)
    -1.0
    """
    both = ~(np.isnan(x) | np.isnan(y))
    a, b = _unit(x[both]), _unit(y[both])
    if a is None or b is None:
        return None
    return float(np.clip(a @ b, -1.0, 1.0))


def _unit(x: Floats) -> Floats | None:
    """`x` centred and brought to length 1; None where it does not vary."""
    if len(x) < 2 or x.min() == x.max():
        return None
    centred = x - x.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.linalg.norm(centred))


def findings(pair: Pair) -> Findings:
    """Give `correlation` of every two of the pair's columns: the release's, with the original's as baseline.

    The variable is written `Age × Fare`.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    lines, notes = [], []
    for i, j in itertools.combinations(range(len(pair.columns)), 2):
        old, new = correlation(pair.x[:, i], pair.x[:, j]), correlation(pair.z[:, i], pair.z[:, j])
        variable = f"{pair.columns[i]} × {pair.columns[j]}"
        lines.append(Finding("correlation", variable=variable, value=new, baseline=old))
        if old is None or new is None:
            notes.append(f"{variable}: a column that does not vary has no correlation.")
    return Findings(tuple(lines), tuple(notes))


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables)


MEASURE = Measure(
    family="summaries",
    place=20,
    doing="correlations",
    needs=frozenset({"pair"}),
    forms=("memory", "folded", "sample"),
    figures=(
        Figure(
            "correlation",
            title="Correlation",
            what="How two columns go together, from −1 to 1.",
            better="near",
            published="change",
            baseline="Original",
            of="pair",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
)
