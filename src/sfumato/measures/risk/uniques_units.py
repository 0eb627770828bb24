"""Units alone by all their rows: people and households of whom somebody knows the keys of every row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import COUNT, Counts
from sfumato.errors import TooManyGroups
from sfumato.kernels.neighbours.units import profiles
from sfumato.measures.patterns import has_columns
from sfumato.measures.subject import KEYS, WIDE, Subject
from sfumato.measures.taking_part import with_key
from sfumato.measures.units import TOO_MANY, alike, labels, released_units

__all__ = ["unit_uniques", "units_alone"]


def units_alone(data: Dataset, by: Sequence[str], unit: str) -> float | None:
    """Share of people or households that are alone by the keys of all their rows.

    Whoever knows the keys of all rows of such a unit, and that it is in the file, has found it, if an id that leaves
    shows which rows belong together. A missing key is a value of its own; a row without any key is not looked at.

    Parameters
    ----------
    data
        The table.
    by
        The keys.
    unit
        Column with the id. A row without one is a unit of its own.

    Returns
    -------
    float or None
        None where there is no row with a key.

    Examples
    --------
    >>> import sfumato as sf
    >>> rows = pl.DataFrame({"home": [1, 1, 2, 2, 3], "sex": ["f", "m", "m", "f", "m"]})
    >>> round(units_alone(sf.read(rows), ["sex"], "home"), 3)
    0.333
    """
    if not by:
        return None
    counts = data.ask(Counts((*by, *(n for n in [unit] if n not in by)))).filter(with_key(by))
    if not counts.height:
        return None
    gone = data.codebook.missing(unit, counts.schema[unit])
    told = counts.select(
        gone.alias("gone"), pl.col(unit).rank("dense").alias("unit"), pl.struct(by).rank("dense").alias("code"), COUNT
    )
    repeated = told[np.repeat(np.arange(told.height), told[COUNT].to_numpy())]
    code = repeated["code"].to_numpy().astype(np.int64)
    label = labels(repeated["gone"], repeated["unit"])
    return float(np.mean(alike(profiles(label, code)) == 1))


def unit_uniques(subject: Subject) -> Findings:
    """Give the lines `uniques_sample` of those who know all rows of a person or household.

    Parameters
    ----------
    subject
        Lines are given for each role of `UNITS` that a released column has, and each group but the strata.
    """
    lines, notes = [], []
    for attack, unit in released_units(subject):
        for classes in subject.classes:
            if classes.group != KEYS and classes.group not in WIDE:
                continue
            given = subject.given
            was = given if given is not None and has_columns(given, (*classes.by, unit)) else None
            try:
                value = units_alone(subject.after, classes.by, unit)
                baseline = None if was is None else units_alone(was, classes.by, unit)
            except TooManyGroups:
                value, baseline = None, None
                notes.append(TOO_MANY)
            lines.append(Finding("uniques_sample", None, classes.group, None, attack, value, None, baseline))
    return Findings(tuple(lines), tuple(dict.fromkeys(notes)))
