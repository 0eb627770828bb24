"""Impossible values: what lies outside the range that a variable can have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import numbers
from sfumato.data.query import Folded
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import listed, value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "out_of_range"]

_COUNTS = {"name": pl.String, "numeric": pl.Boolean, "outside": pl.Int64, "there": pl.Int64}


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
    return _share(*_counted(values, low, high))


def _counted(values: NDArray[np.float64], low: float | None, high: float | None) -> tuple[int, int]:
    """How many values are outside, and how many there are: counts of parts of a table add up to the table's."""
    values = values[~np.isnan(values)]
    outside = np.zeros(values.shape, dtype=bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    return int(outside.sum()), values.size


def _share(outside: int, there: int) -> float | None:
    return outside / there if there else None


def _counts(data: Dataset, names: Sequence[str], book: Codebook) -> dict[str, tuple[int, int] | None]:
    """The counts of each column by one fold over all rows; None for a column that holds something else than numbers."""
    names = tuple(n for n in names if n in data.codebook)
    if not names:
        return {}
    bounds = {n: book[n].range or (None, None) for n in names}

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        told: list[tuple[str, bool, int, int]] = []
        for name in names:
            numeric = batch.schema[name].is_numeric()
            values = numbers(batch, [name], book)[:, 0] if numeric else np.empty(0)
            told.append((name, numeric, *_counted(values, *bounds[name])))
        return pl.DataFrame(told, schema=_COUNTS, orient="row")

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        added = pl.all().exclude("name", "numeric").sum()
        return frames.group_by("name", maintain_order=True).agg(pl.col("numeric").all(), added)

    told = data.ask(Folded(names, f, merge))
    return {name: (outside, there) if numeric else None for name, numeric, outside, there in told.iter_rows()}


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
    released = _counts(data, names, codebook)
    before = {} if given is None else _counts(given, names, codebook)
    lines, notes = [], []
    for name, counted in released.items():
        if counted is None:
            notes.append(f"Column {name!r} has a range but is not numeric: values out of range were not counted.")
            continue
        old = before.get(name)
        value, baseline = _share(*counted), None if old is None else _share(*old)
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
    forms={"folded": _compute},
    faces=("risk",),
    say=_say,
    complain=_complain,
)
