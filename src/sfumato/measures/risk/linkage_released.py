"""Linkage by somebody who knows all that leaves: who shares it exactly, and of these the nearest by what was masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.data.roles import NUMERIC_KINDS, Kind
from sfumato.kernels.neighbours.classmates import Known, chosen, own_shares
from sfumato.measures.confidence import wilson
from sfumato.measures.subject import Outsider, Subject

__all__ = ["found_by", "is_amount", "known_to", "released_findings", "scale_of", "split", "undone"]

Floats = NDArray[np.float64]
SOME_LOOKED_FOR = (
    "Those who know all that leaves looked for some of the people, chosen by a fixed public rule, among all records."
)


def released_findings(subject: Subject) -> Findings:
    """Give a line `linkage_nearest` for each outsider of a subject who knows true values of something masked.

    Parameters
    ----------
    subject
        With a pair of tables that are joined record by record.
    """
    pair = subject.two
    if not pair.aligned or not pair.before.height:
        return Findings()
    lines, notes = [], []
    for outsider in subject.knowing:
        found = found_by(pair, outsider, subject.unscaled)
        if found is not None:
            lines.append(found)
            notes += [SOME_LOOKED_FOR] if found.interval is not None else []
    return Findings(tuple(lines), tuple(dict.fromkeys(notes)))


def found_by(pair: Pair, outsider: Outsider, unscaled: Floats | None = None) -> Finding | None:
    """The share of people whom an outsider finds by all that leaves and the true values of what was masked.

    He takes the nearest record among those who are like the person in all that leaves as it was, by the more often
    right of two distances (`sfumato.kernels.neighbours.classmates`); where records tie he guesses. What was emptied
    here and there is a gap, which is near to every value. The baseline is the same had true values been released.

    Parameters
    ----------
    pair
        The tables before and after masking, joined record by record.
    outsider
        What he looks up, and of what he knows true values.
    unscaled : ndarray, shape (n, p), optional
        The pair's columns before they were rescaled, which can often be undone: if that finds more people, it counts.

    Returns
    -------
    Finding or None
        None where he knows nothing beyond what leaves as it was.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> true = pl.DataFrame({"town": ["a", "a", "b"], "age": [30.0, 40.0, 50.0]})
    >>> book = Codebook({"town": Variable(kind="categorical"), "age": Variable(kind="continuous")})
    >>> pair = Pair(true, true.with_columns(age=pl.Series([36.0, 34.0, 9.0])), book, ("age",), aligned=True)
    >>> found_by(pair, Outsider("released", ("town",), ("age",))).value
    0.3333333333333333
    """
    by, compared = split(pair, outsider)
    if not compared:
        return None
    amounts = [n for n in compared if is_amount(pair, n)]
    seen = known_to(pair, by, compared)
    versions = [seen]
    if unscaled is not None and set(amounts) & set(pair.columns):
        versions.append(replace(seen, z=undone(pair, compared, unscaled)))
    best: tuple[float, int] | None = None
    for known in versions:
        people = chosen(known)
        for capped in (False, True):
            share = float(own_shares(known, people, capped=capped).mean())
            best = max(best or (share, len(people)), (share, len(people)))
    assert best is not None, "there is at least one version"
    value, looked_for = best
    interval = None if looked_for == len(seen.label) else wilson(value * looked_for, looked_for)
    return Finding("linkage_nearest", None, outsider.group, None, "nearest", value, interval, _baseline(seen))


def known_to(pair: Pair, by: Sequence[str], compared: Sequence[str]) -> Known:
    """What is looked up of people, and by what is told how near records are, as arrays.

    Parameters
    ----------
    pair
        The tables before and after masking, joined record by record.
    by
        Columns that a record must share.
    compared
        Columns of which the true values are known, numbers in their standard deviations.
    """
    amounts = [n for n in compared if is_amount(pair, n)]
    x, scale, middle = scale_of(pair, amounts)
    z = (numbers(pair.after, amounts, pair.codebook) - middle) / scale
    a, b = _categories(pair, [n for n in compared if n not in amounts])
    return Known(x, z, a, b, _labels(pair.after, by))


def split(pair: Pair, outsider: Outsider) -> tuple[list[str], list[str]]:
    """Columns in which he looks a person up, and those by which he tells how near a record is.

    Parameters
    ----------
    pair
        The tables before and after masking, joined record by record.
    outsider
        What he looks up, and of what he knows true values.
    """
    both = [n for n in dict.fromkeys((*outsider.by, *outsider.masked)) if n in pair.before.columns]
    compared = [n for n in both if n in pair.after.columns and (n in outsider.masked or _has_new_gaps(pair, n))]
    return [n for n in outsider.by if n in pair.after.columns and n not in compared], compared


def _has_new_gaps(pair: Pair, column: str) -> bool:
    """Whether a column is as it was but for cells that were emptied."""
    true, released = pair.before[column], pair.after[column]
    if true.dtype != released.dtype or released.null_count() == true.null_count():
        return False
    return bool((true == released).fill_null(True).all())


def is_amount(pair: Pair, column: str) -> bool:
    """Whether values are compared by their size: numbers that are no codes."""
    kind = pair.codebook[column].kind if column in pair.codebook else None
    if kind is not None and kind not in (*NUMERIC_KINDS, Kind.DATE):
        return False
    types = (pair.before[column].dtype, pair.after[column].dtype)
    return all(dtype.is_numeric() or dtype == pl.Boolean for dtype in types)


def _labels(frame: pl.DataFrame, by: Iterable[str]) -> NDArray[np.int64]:
    """The class of each record, numbered from 0 on."""
    names = list(by)
    if not names:
        return np.zeros(frame.height, dtype=np.int64)
    return np.asarray(frame.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(np.int64) - 1)


def scale_of(pair: Pair, amounts: list[str]) -> tuple[Floats, Floats, Floats]:
    """True numbers in their standard deviations, with these and their means; what does not vary has 1.

    Parameters
    ----------
    pair
        With the table before.
    amounts
        The columns.
    """
    x = numbers(pair.before, amounts, pair.codebook)
    there = ~np.isnan(x)
    count = np.maximum(there.sum(axis=0), 1)
    middle = np.where(there, x, 0).sum(axis=0) / count
    sd = np.sqrt(np.where(there, (x - middle) ** 2, 0).sum(axis=0) / count)
    scale = np.where(sd > 0, sd, 1.0)
    return (x - middle) / scale, scale, middle


def _categories(pair: Pair, names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """True and released categories, numbered alike; −1 for a gap."""
    n = pair.before.height
    a, b = np.empty((n, len(names)), dtype=np.int64), np.empty((n, len(names)), dtype=np.int64)
    for j, name in enumerate(names):
        texts = [side[name].cast(pl.String) for side in (pair.before, pair.after)]
        codes = pl.concat([text.alias("t") for text in texts]).rank("dense").cast(pl.Int64).fill_null(0) - 1
        a[:, j], b[:, j] = codes[:n].to_numpy(), codes[n:].to_numpy()
    return a, b


def undone(pair: Pair, compared: Sequence[str], unscaled: Floats) -> Floats:
    """Released numbers as `known_to` has them, with those that were rescaled as they were before.

    Parameters
    ----------
    pair
        The tables before and after masking, joined record by record.
    compared
        Columns of which the true values are known.
    unscaled : ndarray, shape (n, p)
        The pair's columns before they were rescaled.
    """
    amounts = [n for n in compared if is_amount(pair, n)]
    _, scale, middle = scale_of(pair, amounts)
    out = numbers(pair.after, amounts, pair.codebook)
    for j, name in enumerate(amounts):
        if name in pair.columns:
            out[:, j] = unscaled[:, pair.columns.index(name)]
    return np.asarray((out - middle) / scale)


def _baseline(seen: Known) -> float:
    """Had true values been released: the mean of 1 / number of twins, which is distinct records over their number."""
    columns: Iterator[pl.Series] = (pl.Series(str(i), c) for i, c in enumerate((seen.label, *seen.x.T, *seen.a.T)))
    frame = pl.DataFrame(list(columns))
    return frame.n_unique() / frame.height
