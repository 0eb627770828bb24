"""Synthetic copies one by one: what is measured of each, and of all together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sfumato.data.disclosure import COPY, Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.registry import figures
from sfumato.progress import Progress, split

__all__ = ["NOBODYS", "apart", "over_copies"]

NOBODYS = (
    "All columns are synthetic, so that no row is a person's: nothing was measured that counts people alike (class "
    "measures), joins records with people (linkage and its like) or compares two releases (differencing). What the "
    "copies tell of people is measured by replicated_uniques, disclosive_correct, inference and membership."
)
MEANS = "Figures are means over {copies} copies."
WORST = "The worst copy: {told}."


def apart(data: PolarsDataset, disclosure: Disclosure) -> list[PolarsDataset]:
    """Give each copy as a data set of its own; the one that there is where nothing tells of copies.

    Parameters
    ----------
    data
        A table; one without the column `copy` is of all copies.
    disclosure
        What its release discloses.

    Raises
    ------
    DataError
        Where the column holds other numbers than those of the disclosed copies.
    """
    told = disclosure.synthetic
    if told is None or told.copies == 1 or COPY not in data.columns:
        return [data] * (told.copies if told else 1)
    if set(data.frame[COPY].unique()) != set(range(1, told.copies + 1)):
        raise DataError(f"The release discloses {told.copies} copies, and its column {COPY!r} does not hold as many.")
    return [
        replace(data, frame=data.frame.filter(pl.col(COPY) == i + 1).drop(COPY), codebook=data.codebook.without(COPY))
        for i in range(told.copies)
    ]


def over_copies(
    measured: Sequence[Callable[[Progress], Findings]],
    disclosure: Disclosure,
    progress: Progress,
    *,
    only_loss: bool = False,
) -> Findings:
    """Measure copy by copy, and give the means; of several copies a note tells the worst one's figures of risk.

    Parameters
    ----------
    measured
        Measures one copy, for each.
    disclosure
        Of the release.
    progress
        Told how far the work is.
    only_loss
        Whether no risk is measured, so that nothing need be said of it.
    """
    told = disclosure.synthetic
    found = [each(part) for each, part in zip(measured, split(progress, [1.0] * len(measured)), strict=True)]
    notes = (NOBODYS,) if told is not None and told.kind == "full" and not only_loss else ()
    if len(found) == 1:
        return Findings(found[0].lines, (*notes, *found[0].notes))
    lines: dict[tuple[object, ...], list[Finding]] = {}
    for findings in found:
        for line in findings:
            lines.setdefault((line.measure, line.variable, line.group, line.at, line.attack), []).append(line)
    together = Findings.together(found)
    means = tuple(_mean(own) for own in lines.values())
    return Findings(means, (*notes, MEANS.format(copies=len(found)), *_worst(lines.values()), *together.notes))


def _mean(lines: Sequence[Finding]) -> Finding:
    """One figure of all copies; an interval is as wide as those of single copies are in the mean."""
    ends = [line.interval for line in lines if line.interval is not None]
    interval = (float(np.mean([a for a, _ in ends])), float(np.mean([b for _, b in ends]))) if ends else None
    return replace(
        lines[0],
        value=_of([line.value for line in lines]),
        baseline=_of([line.baseline for line in lines]),
        interval=interval,
    )


def _of(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


def _worst(lines: Iterable[Sequence[Finding]]) -> list[str]:
    """The figures of risk of the copy that is worst in each, where copies differ, in the order of reports."""
    known = figures()
    place = {name: i for i, name in enumerate(known)}
    told = []
    for own in sorted(lines, key=lambda own: place.get(own[0].measure, len(place))):
        figure = known.get(own[0].measure)
        there = [line.value for line in own if line.value is not None]
        if figure is None or figure.detail or figure.better != "low" or own[0].variable or len(set(there)) < 2:
            continue
        where = f" ({own[0].group})" if own[0].group else ""
        told.append(f"{own[0].measure}{where} {max(there):.3g}")
    return [WORST.format(told=", ".join(told))] if told else []
