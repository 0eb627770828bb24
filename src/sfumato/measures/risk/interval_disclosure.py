"""Interval disclosure: whose original values can be read off within a narrow interval of the released ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.data.query import Folded
from sfumato.kernels.rows import complete_rows
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.reading import (
    Place,
    as_released,
    compared,
    reader,
    rebuilt,
    sums_asked,
    sums_told,
)
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "RELATIVE", "findings", "interval_disclosure", "relative_disclosure"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

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


def _folded(subject: Subject) -> Asking:
    """Of all records, by sums over parts: first how widely values are spread, then how many are near."""
    if not (columns := compared(subject)):
        return Findings()
    sides, k = subject.everybody, subject.how.interval
    views: list[tuple[str, Place]] = [("", as_released)]
    if rebuilt(sides, columns):
        views.append(("unscaled", sides.rebuilt))
    whole = [_Whole(reader(sides, columns, sides.true), reader(sides, columns, where)) for _, where in views]
    spreads = yield [sums_asked(sides.after, _released_of(each, columns), columns) for each in whole]
    sums = [sums_told(answer) for answer in spreads]
    half = [np.array([k * math.sqrt(of[n].variance or 0.0) for n in columns]) for of in sums]
    counts = yield [
        Question(sides.after, _near(each, apart, [x for n in columns for x in (sides.true(n), where(n))]))
        for each, apart, (_, where) in zip(whole, half, views, strict=True)
    ]
    lines = []
    for (suffix, _), answer in zip(views, counts, strict=True):
        _, there, *inside = answer.row(0)
        groups = (suffix or None, *(f"relative {suffix}".strip() for _ in RELATIVE))
        for group, at, count in zip(groups, (k, *RELATIVE), inside, strict=True):
            share = count / there if there else None
            base = None if share is None else 1.0
            lines.append(Finding("interval_disclosure", None, group, at, value=share, baseline=base))
    if lines[0].value is None:
        return Findings(tuple(lines), (NO_RECORD,))
    records, complete = counts[0].row(0)[:2]  # of the released values, as they stand in every view
    return Findings(tuple(lines), (INCOMPLETE,) if complete < records else ())


class _Whole(NamedTuple):
    """Reads true and released values of a batch."""

    was: Callable[[pl.DataFrame], Floats]
    now: Callable[[pl.DataFrame], Floats]

    def __call__(self, batch: pl.DataFrame) -> tuple[Floats, Floats, Bools]:
        """True and released values, and which records have all of them."""
        x, z = self.was(batch), self.now(batch)
        return x, z, complete_rows(x, z)


def _released_of(whole: _Whole, columns: Sequence[str]) -> Callable[[pl.DataFrame], dict[str, Floats]]:
    """The released values of complete records, by column."""

    def made(batch: pl.DataFrame) -> dict[str, Floats]:
        _, z, there = whole(batch)
        return {n: np.where(there, z[:, j], np.nan) for j, n in enumerate(columns)}

    return made


def _near(whole: _Whole, half: Floats, needed: Sequence[str]) -> Folded:
    """Counts records, complete ones, and those within an interval and within each share of their values."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x, z, there = whole(batch)
        apart = np.abs(x[there] - z[there])
        near = [apart <= half, *(apart <= at * np.abs(x[there]) for at in RELATIVE)]
        counts = [len(x), int(there.sum()), *(int(each.all(axis=1).sum()) for each in near)]
        return pl.DataFrame({str(i): [count] for i, count in enumerate(counts)})

    return Folded(tuple(dict.fromkeys(needed)), f, lambda frames: frames.sum())


MEASURE = Measure(
    family="closeness",
    place=30,
    doing="interval disclosure",
    needs=frozenset({"pair", "columns"}),
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
    forms={"folded": _folded},
)
