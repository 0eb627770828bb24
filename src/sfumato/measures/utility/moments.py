"""Means and standard deviations before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Moments
from sfumato.measures.folds.asking import Asking
from sfumato.measures.folds.reading import compared, learnt, remembered
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "mean_and_sd"]


def mean_and_sd(data: Dataset, columns: Sequence[str]) -> dict[str, tuple[float | None, float | None]]:
    """Mean and standard deviation (divisor n − 1) of each column, the same whatever the order of the rows.

    Parameters
    ----------
    data
        The table; its codebook says which codes stand for missing.
    columns
        Names of numeric or boolean columns.

    Returns
    -------
    dict of str to (mean, sd)
        None where there is no value, or fewer than two.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> mean_and_sd(sf.read(pl.DataFrame({"age": [1.0, 2.0, None, 3.0]})), ["age"])
    {'age': (2.0, 1.0)}
    """
    answer = data.ask(Moments(tuple(columns)))
    return {
        str(row["variable"]): (row["mean"], None if row["variance"] is None else math.sqrt(row["variance"]))
        for row in answer.iter_rows(named=True)
    }


def findings(before: Dataset, after: Dataset, columns: Sequence[str]) -> Findings:
    """Give `mean` and `sd` of each column: the value is the release's, the baseline the original's.

    Parameters
    ----------
    before, after
        Original and released table; they need not be joined.
    columns
        Numeric columns of both.
    """
    old, new = mean_and_sd(before, columns), mean_and_sd(after, columns)
    lines = [
        Finding(measure, variable=name, value=new[name][i], baseline=old[name][i])
        for i, measure in enumerate(("mean", "sd"))
        for name in columns
    ]
    notes = tuple(
        f"Column {name!r} has too few values in one of the tables for a mean or a standard deviation."
        for name in columns
        if old[name][1] is None or new[name][1] is None
    )
    return Findings(tuple(lines), notes)


def _compute(subject: Subject) -> Findings:
    if subject.before is None:
        return Findings()
    return findings(subject.before, subject.after, subject.two.columns)


def _folded(subject: Subject) -> Asking:
    """Of all records, by sums over parts."""
    if columns := compared(subject):
        yield from learnt(subject.everybody, Moments(columns))
    return findings(*remembered(subject.everybody), columns)


MEASURE = Measure(
    family="summaries",
    place=10,
    doing="means and spreads",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "mean",
            title="Mean",
            what="The mean of each column.",
            better="near",
            published="change",
            baseline="Original",
            aim=Aim.MEANS,
        ),
        Figure(
            "sd",
            title="Standard deviation",
            what="The spread of each column.",
            better="near",
            published="change",
            baseline="Original",
            aim=Aim.SPREAD,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
)
