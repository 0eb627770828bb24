"""Quantiles of each column before and after."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Quantiles
from sfumato.measures.folds.asking import Asking
from sfumato.measures.folds.reading import compared, learnt, remembered
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "PROBS", "findings", "quantiles"]

PROBS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Probabilities that reports give quantiles at."""


def quantiles(data: Dataset, column: str, probs: Sequence[float] = PROBS) -> tuple[float | None, ...]:
    """Quantiles of one column by linear interpolation (type 7 of Hyndman & Fan).

    Parameters
    ----------
    data
        The table; its codebook says which codes stand for missing.
    column
        A numeric or boolean column.
    probs
        Probabilities, 0 to 1.

    Returns
    -------
    tuple of float or None
        One for each probability; all None where there is no value.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> quantiles(sf.read(pl.DataFrame({"age": [1.0, 2.0, None, 4.0]})), "age", (0.25, 0.5))
    (1.5, 2.0)

    References
    ----------
    Hyndman & Fan (1996), doi:10.1080/00031305.1996.10473566.
    """
    return tuple(data.ask(Quantiles(column, tuple(probs)))["value"].to_list())


def findings(before: Dataset, after: Dataset, columns: Sequence[str]) -> Findings:
    """Give `quantile` of each column at each of `PROBS`: the release's, with the original's as baseline.

    Parameters
    ----------
    before, after
        Original and released table; they need not be joined.
    columns
        Numeric columns of both.
    """
    lines, notes = [], []
    for name in columns:
        old, new = quantiles(before, name), quantiles(after, name)
        lines += [
            Finding("quantile", variable=name, at=prob, value=b, baseline=a)
            for prob, a, b in zip(PROBS, old, new, strict=True)
        ]
        if old[0] is None or new[0] is None:
            notes.append(f"Column {name!r} has no value in one of the tables, so it has no quantiles there.")
    return Findings(tuple(lines), tuple(notes))


def _compute(subject: Subject) -> Findings:
    if subject.before is None:
        return Findings()
    return findings(subject.before, subject.after, subject.two.columns)


def _folded(subject: Subject) -> Asking:
    """Of all records, digit by digit over parts."""
    columns = compared(subject)
    yield from learnt(subject.everybody, *(Quantiles(name, PROBS) for name in columns))
    return findings(*remembered(subject.everybody), columns)


MEASURE = Measure(
    family="summaries",
    place=30,
    doing="quantiles",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "quantile",
            title="Quantiles",
            what="The value that the stated share of records lies below.",
            better="near",
            # not published: the released one, the sd and a rounded change would give back some record's value
            published="no",
            baseline="Original",
            at="{1}% quantile",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
)
