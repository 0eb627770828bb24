"""What a neighbour finds who has several synthetic copies of the same people: the copies add up for intruders too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.measures.confidence import wilson
from sfumato.measures.intruding import Intruding
from sfumato.measures.known import Known
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.linkers.coding import Coded, coded
from sfumato.measures.risk.linkers.linkers import chosen, nearest_right

__all__ = ["by_all_copies", "nearest_of_all"]

_LINE = {"attack": "neighbour", "group": "nearest"}


def by_all_copies(findings: Findings, copies: Sequence[Known], intruding: Intruding | None, missing: str) -> Findings:
    """Put what a neighbour finds by all copies in the place of what single ones tell in the mean.

    Parameters
    ----------
    findings
        Means over the copies.
    copies
        The same people beside each copy.
    intruding
        Which intruders were tried. Those who err are left as they are: they err alike in every copy.
    missing
        What a missing key is.
    """
    old = findings.select("match_correct", **_LINE)
    if len(copies) < 2 or not old or intruding is None or intruding.knowledge("neighbour").error:
        return findings
    keys = intruding.knowledge("neighbour").keys or copies[0].keys
    new = replace(old[0], **nearest_of_all(copies, keys, free=wildcard(missing) is not None))
    return Findings(tuple(new if line == old[0] else line for line in findings), findings.notes)


def nearest_of_all(copies: Sequence[Known], keys: Sequence[str], *, free: bool = False) -> dict[str, Any]:
    """The share of people who are found by the record that is nearest in the mean of all copies.

    Gower's distance is a sum over keys, so that the mean over copies is the distance over the keys of all copies side
    by side.

    Parameters
    ----------
    copies
        The same people beside each copy, row by row.
    keys
        What the intruder knows.
    free
        Whether a missing value may be anything.

    Returns
    -------
    dict
        `value`, its `interval`, and the `baseline`: the same had the true values been released.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> truth, book = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), Codebook({"x": Variable(kind="continuous")})
    >>> drawn = [pl.DataFrame({"x": x}) for x in ([2.2, 2.1, 2.9, 4.4], [0.1, 2.2, 3.3, 3.8])]
    >>> nearest_of_all([Known(truth, copy, book, ("x",)) for copy in drawn], ["x"])["value"]
    1.0
    """
    there = [n for n in keys if n in copies[0].people.columns and n in copies[0].released.columns]
    names = {n: [f"{n}\0{i}" for i in range(len(copies))] for n in there}
    people = pl.DataFrame([copies[0].people[n].alias(each) for n in there for each in names[n]])
    parts = [(copy.released[n], names[n][i]) for n in there for i, copy in enumerate(copies)]
    released = pl.DataFrame([column.alias(each) for column, each in parts])
    book = Codebook({each: copies[0].codebook[n] for n in there if n in copies[0].codebook for each in names[n]})
    together = Known(people, released.select(people.columns), book, tuple(people.columns), pairs=copies[0].pairs)
    field = coded(together, people.columns, wildcard=free)
    right, tried = _found(field, copies[0].pairs)
    before, of = _found(field.unprotected(), copies[0].pairs)
    return {"value": right / tried, "interval": wilson(right, tried), "baseline": before / of}


def _found(field: Coded, pairs: int) -> tuple[float, int]:
    """How many people are found, ties shared, of how many who were looked for."""
    rows = chosen(field, pairs)
    return float(np.sum(nearest_right(field, rows))), len(rows)
