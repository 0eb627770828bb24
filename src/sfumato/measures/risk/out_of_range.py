"""Impossible values: what lies outside the range that a variable can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset, rows
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import numbers
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import listed, value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "out_of_range"]


def out_of_range(values: NDArray[np.float64], low: float | None, high: float | None) -> float | None:
    """Share of values below `low` or above `high`.

    A negative age tells every reader that the value is not a true one, and breaks analyses that take logarithms or
    roots. It is a matter of quality more than of secrecy.

    Parameters
    ----------
    values : ndarray, shape (n,)
        NaN where missing; missing values do not count.
    low, high
        Lowest and highest possible value; None where there is no bound.

    Returns
    -------
    float or None
        Between 0 and 1; None where there is no value.

    Examples
    --------
    >>> out_of_range(np.array([-1.0, 30.0, 40.0, np.nan, 130.0]), 0, 120)
    0.5
    """
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    outside = np.zeros(values.shape, dtype=bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    return float(outside.mean())


def findings(data: Dataset, *, given: Dataset | None = None) -> Findings:
    """Give one line `out_of_range` for each numeric column with a `range` in the codebook.

    Parameters
    ----------
    data
        The table as it is, or as it is to be released; its codebook holds the ranges and the codes for missing.
    given
        The original table; its share is the baseline. The two need not be joined.
    """
    codebook = data.codebook
    names = [n for n in codebook if codebook[n].range is not None]
    frame = rows(data, names)
    before = None if given is None else rows(given, [n for n in names if n in given.codebook])
    lines, notes = [], []
    for name, variable in codebook.items():
        if variable.range is None or name not in frame.columns:
            continue
        if not frame.schema[name].is_numeric():
            notes.append(f"Column {name!r} has a range but is not numeric: values out of range were not counted.")
            continue
        value = out_of_range(numbers(frame, [name], codebook)[:, 0], *variable.range)
        baseline = None
        if before is not None and name in before.columns and before.schema[name].is_numeric():
            baseline = out_of_range(numbers(before, [name], codebook)[:, 0], *variable.range)
        if value is None:
            notes.append(f"Column {name!r} holds no value to compare with its range.")
        lines.append(Finding("out_of_range", variable=name, value=value, baseline=baseline))
    return Findings(tuple(lines), tuple(notes))


def _compute(subject: Subject) -> Findings:
    ranged = [n for n, v in subject.after.codebook.items() if v.range is not None]
    return findings(subject.after, given=subject.before) if ranged else Findings()


def _more_impossible(findings: Findings) -> list[str]:
    lines = [f for f in with_value(findings, "out_of_range") if value_of(f) > (f.baseline or 0.0)]
    return [f.variable or "a column" for f in lines]


def _say(findings: Findings, fraction: float) -> str | None:
    names = _more_impossible(findings)
    if not names:
        return None
    return f"Some released values of {listed(names)} are impossible ones, outside the range that was given."


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    names = _more_impossible(findings)
    return (Complaint(f"Some values of {listed(names)} are impossible", Aim.BOUNDS),) if names else ()


MEASURE = Measure(
    family="values",
    place=30,
    doing="impossible values",
    needs=frozenset({"table"}),
    figures=(
        Figure(
            "out_of_range",
            title="Impossible values",
            what="Share of values outside the range that the plan gives.",
            form="share",
            published="rate",
            baseline="Original",
            aim=Aim.BOUNDS,
        ),
    ),
    compute=_compute,
    faces=("risk",),
    say=_say,
    complain=_complain,
)
