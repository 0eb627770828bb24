"""Interval disclosure: whose original values can be read off within a narrow interval of the released ones."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.rows import complete_rows
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "RELATIVE", "findings", "interval_disclosure", "relative_disclosure"]

Floats = NDArray[np.float64]

RELATIVE = (0.01, 0.05)
"""Shares of a value within which it counts as told."""
NOT_ALIGNED = "The tables are not joined record by record, so no interval disclosure was measured."
NO_RECORD = "No record has a value in every numeric column, so there is no interval disclosure."
INCOMPLETE = "Interval disclosure: records with a missing value in a numeric column were left out."


def interval_disclosure(
    before: Floats, after: Floats, *, k: float = 0.05, inside: Literal["all", "any"] = "all"
) -> float | None:
    """Share of records whose original values lie within ± k standard deviations of the released ones.

    It asks whether a released value is as good as the original one for whoever has found the record. It says nothing
    of how easily the record is found.

    Source: Mateo-Sanz, Sebé & Domingo-Ferrer (2004), doi:10.1007/978-3-540-25955-8_16.

    Parameters
    ----------
    before, after : ndarray, shape (n, p)
        Original and released values; row i of both is the same record. Rows with a missing value are left out.
    k
        Half-width in standard deviations of the released column, ≥ 0.
    inside
        Whether `all` variables must lie in their intervals, or `any`.

    Returns
    -------
    float or None
        Between 0 and 1; None where there is no record or no column.

    Examples
    --------
    >>> x = np.array([[0.0], [10.0], [20.0]])
    >>> interval_disclosure(x, x + np.array([[0.1], [0.1], [5.0]]))
    0.6666666666666666
    """
    whole = complete_rows(before, after)
    if not whole.any() or not before.shape[1]:
        return None
    x, z = before[whole], after[whole]
    half = k * (z.std(axis=0, ddof=1) if len(z) > 1 else np.zeros(z.shape[1]))
    within = np.abs(x - z) <= half
    return float((within.all(axis=1) if inside == "all" else within.any(axis=1)).mean())


def relative_disclosure(before: Floats, after: Floats, at: float) -> float | None:
    """Share of records whose original values are all told within a share of the values themselves.

    Parameters
    ----------
    before, after : ndarray, shape (n, p)
        As in `interval_disclosure`.
    at
        The share, ≥ 0. A value of 0 is told by 0 alone.

    Examples
    --------
    >>> x = np.array([[10.0], [1000.0]])
    >>> relative_disclosure(x, x + 5.0, 0.01)
    0.5
    """
    whole = complete_rows(before, after)
    if not whole.any() or not before.shape[1]:
        return None
    x, z = before[whole], after[whole]
    return float((np.abs(x - z) <= at * np.abs(x)).all(axis=1).mean())


def findings(
    pair: Pair, *, k: float = 0.05, inside: Literal["all", "any"] = "all", unscaled: Floats | None = None
) -> Findings:
    """Give the lines `interval_disclosure`; an unprotected table would have 1 in each.

    Without a group the interval is in standard deviations, with `at` = k; in the group `relative` it is a share `at` of
    each value. Skewed columns need the second: most of their values lie within few of their standard deviations.

    Parameters
    ----------
    pair
        Original and protected table.
    k, inside
        As in `interval_disclosure`.
    unscaled : ndarray, shape (n, p), optional
        Released values before they were rescaled, row by row as in the pair. Gives the groups `unscaled` and
        `relative unscaled`, for rescaling can often be undone.
    """
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    lines = []
    for suffix, released in (("", pair.z), ("unscaled", unscaled)):
        if released is not None:
            lines.append((suffix or None, k, interval_disclosure(pair.x, released, k=k, inside=inside)))
            group = f"relative {suffix}".strip()
            lines += [(group, at, relative_disclosure(pair.x, released, at)) for at in RELATIVE]
    found = tuple(
        Finding("interval_disclosure", None, group, at, value=value, baseline=None if value is None else 1.0)
        for group, at, value in lines
    )
    if found[0].value is None:
        return Findings(found, (NO_RECORD,))
    return Findings(found, () if pair.whole.all() else (INCOMPLETE,))


def _compute(subject: Subject) -> Findings:
    return findings(subject.two, k=subject.how.interval, unscaled=subject.unscaled)


MEASURE = Measure(
    family="closeness",
    place=30,
    doing="interval disclosure",
    needs=frozenset({"pair", "columns"}),
    forms=("memory", "folded", "sample"),
    figures=(
        Figure(
            "interval_disclosure",
            title="Original within an interval",
            what="Share of records whose original values all lie within a small interval around the released ones: in "
            "standard deviations of the column, or as a share of the value itself.",
            form="share",
            published="rate",
            baseline="Without protection",
            at="± {0:g}",
            aim=Aim.FURTHER,
        ),
    ),
    compute=_compute,
)
