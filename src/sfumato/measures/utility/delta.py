"""Delta: how much of a column's spread comes from the protection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.moments import moments
from sfumato.measures.folds.asking import Asking
from sfumato.measures.folds.moves import moves, rounded, spread
from sfumato.measures.folds.reading import compared
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "delta", "findings"]

Floats = NDArray[np.float64]
NONE = "Column {column!r} does not vary, or has too few values in both tables, so it has no delta."
NOT_ALIGNED = "The tables are not joined record by record, so delta was not measured."


def delta(before: Floats, after: Floats) -> float | None:
    """Mean squared change of a column, divided by the column's variance.

    It compares every record with its own protected value, which `u_main` and moments do not. 0 is no change; 1 is what
    putting the mean in place of every value gives, and 2 what shuffling the column gives.

    Parameters
    ----------
    before, after : ndarray, shape (n,)
        Values of the same records, NaN where missing; records with both values count.

    Returns
    -------
    float or None
        None for fewer than two such records, or where the original does not vary. The variance has divisor n − 1.

    Examples
    --------
    >>> delta(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])).__round__(9)
    0.333333333

    References
    ----------
    Avraam, Jones & Burton (2021), doi:10.21203/rs.3.rs-344334/v1.
    """
    both = ~(np.isnan(before) | np.isnan(after))
    _, _, variance = moments(before[both])
    if not variance > 0:
        return None
    _, mean_square, _ = moments((before[both] - after[both]) ** 2)
    return mean_square / variance


def findings(pair: Pair) -> Findings:
    """Give one line `delta` for each of the pair's columns.

    Parameters
    ----------
    pair
        Original and released table, joined record by record; else there is a note instead.
    """
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    lines, notes = [], []
    for j, name in enumerate(pair.columns):
        value = delta(pair.x[:, j], pair.z[:, j])
        lines.append(Finding("delta", variable=name, value=value))
        if value is None:
            notes.append(NONE.format(column=name))
    return Findings(tuple(lines), tuple(notes))


def _compute(subject: Subject) -> Findings:
    return findings(subject.two)


def _folded(subject: Subject) -> Asking:
    """Of all records, by sums over parts."""
    if not (columns := compared(subject)):
        return Findings()

    def kinds(x: Floats, apart: Floats) -> dict[str, Floats]:
        both = np.where(np.isnan(apart), np.nan, x)
        return {"both": both, "square both": both * both, "square move": apart * apart}

    sums = yield from moves(subject, columns, kinds)
    spreads = [spread(of, "both") for of in sums]
    values = [
        rounded(of["square move"] / of["n square move"] / there) if there else None
        for of, there in zip(sums, spreads, strict=True)
    ]
    lines = tuple(Finding("delta", variable=n, value=value) for n, value in zip(columns, values, strict=True))
    return Findings(lines, tuple(NONE.format(column=f.variable) for f in lines if f.value is None))


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    far = any(value_of(f) > 0.1 for f in with_value(findings, "delta"))
    return (Complaint("Values were moved far", Aim.GENTLER),) if far else ()


MEASURE = Measure(
    family="values",
    place=10,
    doing="delta",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "delta",
            title="Spread that comes from protection (delta)",
            what="Mean squared move of a column's values, divided by the column's variance: the part of the released "
            "spread that protection made. 0 is none.",
            published="rate",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
    complain=_complain,
)
