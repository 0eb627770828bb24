"""Linkage by somebody who knows all rows of a person or household: the nearest unit of as many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.data.publishable import Publishable
from sfumato.data.traces import keys_of
from sfumato.kernels.neighbours.classmates import Known
from sfumato.kernels.neighbours.units import MOST_UNITS, chosen_units, profiles, unit_shares
from sfumato.measures.confidence import wilson
from sfumato.measures.risk.linkage_released import known_to, split, undone
from sfumato.measures.subject import KEYS, Outsider, Subject
from sfumato.measures.units import TOO_MANY, alike, labels, released_units

__all__ = ["unit_linkage", "units_found", "units_not_looked_for"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SOME_UNITS = Publishable(
    f"Those who know all rows of a person or household looked for {MOST_UNITS} of these, chosen by a fixed public "
    "rule, among all of as many rows."
)


def unit_linkage(subject: Subject) -> Findings:
    """Give the lines `linkage_nearest` of those who know all rows of a person or household.

    Parameters
    ----------
    subject
        With a pair of tables that are joined record by record.
    """
    pair = subject.two
    if not pair.aligned or not pair.before.height:
        return Findings()
    lines = [
        found
        for attack, unit in released_units(subject)
        for outsider in _knowing(subject)
        if (found := units_found(pair, outsider, attack, unit, subject.unscaled)) is not None
    ]
    return Findings(tuple(lines), (SOME_UNITS,) if any(f.interval is not None for f in lines) else ())


def units_not_looked_for(subject: Subject) -> Findings:
    """The same lines without a value, of a table of which a sample alone is here: it breaks units apart."""
    groups = [each.group for each in _knowing(subject)]
    lines = [Finding("linkage_nearest", None, g, None, attack) for attack, _ in released_units(subject) for g in groups]
    return Findings(tuple(lines), (TOO_MANY,) if lines else ())


def _knowing(subject: Subject) -> Iterator[Outsider]:
    """Who knows true values of something masked: of keys, and of all that leaves."""
    exact = next((c.by for c in subject.classes if c.group == KEYS), ())
    moved = {*subject.traces.masked, *(n for each in subject.knowing for n in each.masked)}
    masked = tuple(n for n in keys_of(subject.traces, subject.after.codebook) if n in moved and n not in exact)
    if masked:
        yield Outsider(KEYS, exact, masked)
    yield from (each for each in subject.knowing if each.masked)


def units_found(
    pair: Pair, outsider: Outsider, attack: str, unit: str, unscaled: Floats | None = None
) -> Finding | None:
    """The share of people, in units of two rows or more, whom somebody finds who knows all rows of a unit.

    He takes the unit of as many rows whose rows, assigned in the best way, are nearest; of units that tie he guesses
    (`sfumato.kernels.neighbours.units`). Of households the people are their rows, of persons themselves. The baseline
    is the same had true values been released.

    Parameters
    ----------
    pair
        The tables before and after masking, joined record by record.
    outsider
        What leaves as it was, and of what true values are known.
    attack, unit
        `person` or `household`, and the released column that says which rows are of one.
    unscaled : ndarray, shape (n, p), optional
        The pair's columns before they were rescaled, which can often be undone: if that finds more people, it counts.

    Returns
    -------
    Finding or None
        None where no unit has two rows, or nothing is known beyond what leaves as it was.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> true = pl.DataFrame({"home": [1, 1, 2, 2], "age": [30.0, 8.0, 33.0, 60.0]})
    >>> book = Codebook({"home": Variable(role="household"), "age": Variable(kind="continuous")})
    >>> pair = Pair(true, true.with_columns(age=pl.Series([9.0, 31.0, 31.0, 61.0])), book, ("age",), aligned=True)
    >>> units_found(pair, Outsider("keys", (), ("age",)), "household", "home").value
    1.0
    """
    if unit not in pair.after.columns:
        return None
    by, compared = split(pair, outsider)
    by, compared = ([n for n in names if n != unit] for names in (by, compared))
    if not compared:
        return None
    ids = pair.after.select(pl.col(unit), pair.codebook.missing(unit, pair.after.schema[unit]).alias("sfumato:gone"))
    label = labels(ids["sfumato:gone"], ids[unit])
    seen = _whole_rows(pair, known_to(pair, [], compared), by, label)
    units = chosen_units(seen)
    if not len(units):
        return None
    people = np.bincount(label)[units] if attack == "household" else np.ones(len(units))
    versions = [seen, *([replace(seen, z=undone(pair, compared, unscaled))] if unscaled is not None else [])]
    value = max(float(np.average(unit_shares(each, units), weights=people)) for each in versions)
    looked_for = round(float(people.sum() ** 2 / (people**2).sum()))  # as many as tell as much, were all of one size
    interval = None
    if len(units) < np.count_nonzero(np.bincount(label) > 1):
        interval = wilson(value * looked_for, looked_for)
    return Finding(
        "linkage_nearest", None, outsider.group, None, attack, value, interval, _baseline(seen, people, units)
    )


def _whole_rows(pair: Pair, compared: Known, by: Sequence[str], label: Ints) -> Known:
    """What is known of rows, with what leaves as it was as categories, which are the same before and after."""
    exact = [pair.after.select(pl.struct(n).rank("dense")).to_series().to_numpy().astype(np.int64) for n in by]
    a, b = (np.column_stack([part, *exact]).astype(np.int64) for part in (compared.a, compared.b))
    return Known(compared.x, compared.z, a, b, label)


def _baseline(seen: Known, people: NDArray[np.float64] | Ints, units: Ints) -> float:
    """Had true values been released: 1 / number of units of equal rows."""
    columns = [pl.Series(str(i), c) for i, c in enumerate((*seen.x.T, *seen.a.T))]
    code = pl.DataFrame(columns).select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64)
    return float(np.average(1 / alike(profiles(seen.label, code))[units], weights=people))
