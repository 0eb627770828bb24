"""IL1s: the mean absolute change of a cell, in √2 standard deviations of its column."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.moments import moments
from sfumato.measures.folds.asking import Asking
from sfumato.measures.folds.moves import moves, rounded, spread
from sfumato.measures.folds.reading import compared, synthetic_throughout
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "Il1s", "findings", "il1s"]

Floats = NDArray[np.float64]
NOT_ALIGNED = "The tables are not joined record by record, so IL1s was not measured."
CONSTANT = "IL1s: columns that do not vary in the original were left out."
NOTHING = "IL1s: no column has values in both tables and varies in the original."


@dataclass(frozen=True)
class Il1s:
    """Information loss by absolute changes.

    Parameters
    ----------
    mean
        Per cell; comparable between tables. None where there is no cell.
    total
        Over all cells, as the literature prints it; grows with the size of the table.
    constant
        Whether columns were left out because they do not vary.
    """

    mean: float | None
    total: float
    constant: bool = False


def il1s(before: Floats, after: Floats) -> Il1s:
    """Sum up |x − x'| / (√2 sd) over the cells, with the sd of the original column.

    Parameters
    ----------
    before, after : ndarray, shape (n, p)
        Values of the same records, NaN where missing; cells with both values count. The sd is of all values that the
        original has, divisor n − 1.

    Examples
    --------
    >>> round(il1s(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]])).mean, 9)
    0.5

    References
    ----------
    Mateo-Sanz, Sebé & Domingo-Ferrer (2004), Privacy in Statistical Databases, LNCS 3050, 201–215; Templ, Kowarik &
    Meindl (2015), doi:10.18637/jss.v067.i04.
    """
    total, cells, constant = 0.0, 0, False
    for x, z in zip(before.T, after.T, strict=True):
        _, _, variance = moments(x[~np.isnan(x)])
        both = ~(np.isnan(x) | np.isnan(z))
        if not both.any():
            continue
        if not variance > 0:
            constant = True
            continue
        n, mean, _ = moments(np.abs(x[both] - z[both]) / np.sqrt(2 * variance))
        total, cells = total + n * mean, cells + n
    return Il1s(total / cells if cells else None, total, constant)


def findings(pair: Pair) -> Findings:
    """Give one line `il1s`, the mean per cell over the pair's columns.

    Parameters
    ----------
    pair
        Original and released table, joined record by record; else there is a note instead.
    """
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    result = il1s(pair.x, pair.z)
    notes = ((CONSTANT,) if result.constant else ()) + ((NOTHING,) if result.mean is None else ())
    return Findings((Finding("il1s", value=result.mean),), notes)


def _compute(subject: Subject) -> Findings:
    return findings(subject.two)


def _folded(subject: Subject) -> Asking:
    """Of all records, by sums over parts."""
    if synthetic_throughout(subject):
        return Findings()
    if not (columns := compared(subject)):
        return Findings((Finding("il1s"),), (NOTHING,))

    def kinds(x: Floats, apart: Floats) -> dict[str, Floats]:
        return {"true": x, "square true": x * x, "move": np.abs(apart)}

    total, cells, constant = 0.0, 0, False
    for of in (yield from moves(subject, columns, kinds)):
        n, there = of["n move"], spread(of, "true")
        constant |= bool(n) and not there
        if n and there:
            total, cells = total + of["move"] / math.sqrt(2 * there), cells + n
    notes = tuple(note for note, holds in ((CONSTANT, constant), (NOTHING, not cells)) if holds)
    return Findings((Finding("il1s", value=rounded(total / cells) if cells else None),), notes)


MEASURE = Measure(
    family="values",
    place=20,
    doing="information loss per cell",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "il1s",
            title="Mean move of a cell (IL1s)",
            what="Mean absolute move of a value, in √2 standard deviations of the original column.",
            published="rate",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
)
