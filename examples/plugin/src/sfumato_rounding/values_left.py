"""Values left: how many different values a column still has."""

from __future__ import annotations

import polars as pl
from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "values_left"]


def values_left(pair: Pair) -> Findings:
    """The different values of each column after protection, over those before.

    Parameters
    ----------
    pair
        The original and the released table.

    Returns
    -------
    Findings
        One line for each column, between 0 and 1; none for a column without values.
    """
    lines = []
    for name in pair.columns:
        before, after = (_different(frame, name, pair.codebook) for frame in (pair.before, pair.after))
        if before:
            lines.append(Finding("values_left", variable=name, value=min(1.0, after / before)))
    return Findings(tuple(lines))


def _different(frame: pl.DataFrame, name: str, codebook: Codebook) -> int:
    """How many different values there are, without missing codes."""
    return frame.filter(~codebook.missing(name, frame.schema[name]))[name].n_unique()


def _compute(subject: Subject) -> Findings:
    return values_left(subject.two)


MEASURE = Measure(
    family="values",
    place=90,
    doing="different values that are left",
    needs=frozenset({"pair", "columns"}),
    figures=(
        Figure(
            "values_left",
            title="Different values left",
            what="Different values of a column after protection, over those before. Says nothing of how far they moved.",
            form="share",
            better="high",
            published="rate",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
)
