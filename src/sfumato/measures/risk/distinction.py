"""Distinction and separation: how well a set of columns tells records apart."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.patterns import Patterns, class_findings, patterns
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "distinction", "separation"]


def distinction(data: Dataset, by: Sequence[str]) -> float | None:
    """Number of different combinations of the columns over the number of records.

    1 where the columns identify every record; near 0 where they tell hardly anybody apart. A set of columns with a
    high figure is a quasi-identifier, whatever roles were given. It does not tell where the records stand that are told
    apart (`below_k`). A missing value is one of its own.

    Source: Motwani & Xu (2008), Efficient algorithms for masking and finding quasi-identifiers.

    Parameters
    ----------
    data, by
        As in `sfumato.measures.patterns.patterns`.

    Returns
    -------
    float or None
        None where there is no record or no column.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> distinction(sf.read(pl.DataFrame({"sex": ["f", "m", "m", "m"]})), ["sex"])
    0.5
    """
    found = patterns(data, by)
    return None if found is None else _distinct(found)


def separation(data: Dataset, by: Sequence[str]) -> float | None:
    """Share of the pairs of records that differ in at least one of the columns.

    What `distinction` says, in pairs: near 1 already where classes are small beside the file, so that it tells columns
    that hardly separate from those that do, and not a safe file from an unsafe one.

    Source: Motwani & Xu (2008), Efficient algorithms for masking and finding quasi-identifiers.

    Parameters
    ----------
    data, by
        As in `sfumato.measures.patterns.patterns`.

    Returns
    -------
    float or None
        None with fewer than two records, or without columns.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> separation(sf.read(pl.DataFrame({"sex": ["f", "m", "m", "m"]})), ["sex"])
    0.5
    """
    found = patterns(data, by)
    return None if found is None else _separated(found)


def _distinct(found: Patterns) -> float:
    return len(found.records) / found.total


def _separated(found: Patterns) -> float | None:
    n = found.total
    alike = int((found.records * (found.records - 1)).sum())
    return 1 - alike / (n * (n - 1)) if n > 1 else None


def _compute(subject: Subject) -> Findings:
    return class_findings(subject, [("distinction", None, _distinct), ("separation", None, _separated)])


MEASURE = Measure(
    family="groups",
    place=16,
    doing="how well columns tell records apart",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "distinction",
            title="Different combinations (distinction)",
            what="Different combinations of values over the number of records: 1 where every record has its own.",
            form="share",
            published="rate",
            baseline="Original",
            whole="all combinations",
            aim=Aim.ALIKE,
            detail=True,
        ),
        Figure(
            "separation",
            title="Pairs told apart (separation)",
            what="Share of the pairs of records that differ in at least one of these columns.",
            form="share",
            published="rate",
            baseline="Original",
            whole="all pairs",
            aim=Aim.ALIKE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
