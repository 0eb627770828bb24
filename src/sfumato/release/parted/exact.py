"""How far values moved, and what became of columns: told of all records by sums, wherever the rows are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.disclosure import Disclosure, Exchanged, Misclassified, Shuffled, Swapped
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import numbers
from sfumato.data.query import Folded, Moments
from sfumato.data.remembered import Remembered
from sfumato.data.sides import Sides
from sfumato.measures.risk.interval_disclosure import INCOMPLETE, NO_RECORD, RELATIVE
from sfumato.measures.subject import Subject
from sfumato.measures.utility import moments, quantiles
from sfumato.measures.utility.il1s import CONSTANT, NOTHING
from sfumato.release.parted.reading import (
    Place,
    compared,
    is_number,
    reader,
    rebuilt,
    released,
    sums_of,
)

__all__ = ["exact"]

Floats = NDArray[np.float64]
_NO_SPREAD = 1e-13  # of a column in its standard deviations: rounding alone
_PLACES = 12  # of what is added up in any order of batches
_EXCHANGING = (Exchanged, Misclassified, Shuffled, Swapped)


def exact(subject: Subject) -> Findings:
    """Means, spreads, quantiles, correlations, `delta`, `il1s`, `unchanged` and `interval_disclosure` of all records.

    They equal what the measures of these names give of the same rows in memory, to 1e-9.

    Parameters
    ----------
    subject
        What a plan did to columns, and all records.
    """
    sides, disclosure = subject.everybody, subject.disclosure
    aligned = not ((told := disclosure.synthetic) is not None and told.kind == "full")
    columns = compared(subject.traces, sides) if aligned else ()
    if not columns:
        return _unchanged(sides, disclosure, ()) if aligned else Findings()
    before, after = Remembered(sides.before), Remembered(sides.after)
    found = [each.findings(before, after, columns) for each in (moments, quantiles)]
    found += [_correlations(sides, before, after, columns), _moves(sides, before, columns)]
    found += [_unchanged(sides, disclosure, columns), _within(sides, columns, subject.how.interval)]
    return Findings.together(found)


def _correlations(sides: Sides, before: Dataset, after: Dataset, columns: Sequence[str]) -> Findings:
    """As `sfumato.measures.utility.correlations.findings`."""
    if len(columns) < 2:
        return Findings()
    new, old = (_pearson(data, columns, sides.codebook) for data in (after, before))
    names = [f"{a} × {b}" for a, b in itertools.combinations(columns, 2)]
    lines = [Finding("correlation", variable=n, value=z, baseline=x) for n, z, x in zip(names, new, old, strict=True)]
    notes = tuple(
        f"{n}: a column that does not vary has no correlation."
        for n, z, x in zip(names, new, old, strict=True)
        if z is None or x is None
    )
    return Findings(tuple(lines), notes)


def _pearson(data: Dataset, columns: Sequence[str], book: Codebook) -> list[float | None]:
    """Correlations of every two columns, over the rows that have both values."""
    middle, sd = _scales(data, columns)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x = (numbers(batch, columns, book) - middle) / sd  # about 0 and of size 1: nothing cancels below
        there = (~np.isnan(x)).astype(np.float64)
        x = np.nan_to_num(x)
        sums = {"n": there.T @ there, "x": x.T @ there, "xx": np.square(x).T @ there, "xy": x.T @ x}
        pair = pl.Series("pair", np.arange(len(columns) ** 2))
        return pl.DataFrame([pair, *(pl.Series(n, table.ravel()) for n, table in sums.items())])

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by("pair").agg(pl.all().sum()).sort("pair")

    told = data.ask(Folded(tuple(columns), f, merge))
    n, x, xx, xy = (told[name].to_numpy().reshape(len(columns), -1) for name in ("n", "x", "xx", "xy"))
    return [_r(n[i, j], x[i, j], x[j, i], xx[i, j], xx[j, i], xy[i, j]) for i, j in _pairs(len(columns))]


def _scales(data: Dataset, columns: Sequence[str]) -> tuple[Floats, Floats]:
    """Means, and standard deviations that are not 0."""
    found = data.ask(Moments(tuple(columns))).select("variable", "mean", "variance").iter_rows()
    scales = {str(n): (mean or 0.0, math.sqrt(variance) if variance else 1.0) for n, mean, variance in found}
    return np.array([scales[n][0] for n in columns]), np.array([scales[n][1] for n in columns])


def _pairs(p: int) -> Iterator[tuple[int, int]]:
    return itertools.combinations(range(p), 2)


def _r(n: float, a: float, b: float, aa: float, bb: float, ab: float) -> float | None:
    """A correlation of sums of two columns, both about 0 and of size 1; None where one does not vary."""
    if n < 2:
        return None
    first, second = aa / n - (a / n) ** 2, bb / n - (b / n) ** 2
    if min(first, second) <= _NO_SPREAD:
        return None
    r = (ab / n - a * b / n**2) / math.sqrt(first * second)
    return round(float(np.clip(r, -1.0, 1.0)), _PLACES)


def _moves(sides: Sides, before: Dataset, columns: Sequence[str]) -> Findings:
    """As the measures `delta` and `il1s`."""
    was, now = reader(sides, columns, sides.true), reader(sides, columns, released)
    middle, sd = _scales(before, columns)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x, z = (was(batch) - middle) / sd, (now(batch) - middle) / sd  # about 0 and of size 1: nothing cancels below
        apart = x - z
        both = np.where(np.isnan(apart), np.nan, x)
        kinds = {"true": x, "square true": x * x, "both": both, "square both": both * both}
        kinds |= {"move": np.abs(apart), "square move": apart * apart}
        sums = {kind: np.nansum(table, axis=0) for kind, table in kinds.items()}
        sums |= {f"n {kind}": np.count_nonzero(~np.isnan(table), axis=0) for kind, table in kinds.items()}
        return pl.DataFrame([pl.Series("column", range(len(columns))), *(pl.Series(n, sums[n]) for n in sums)])

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by("column").agg(pl.all().sum()).sort("column")

    needed = tuple(dict.fromkeys(x for n in columns for x in (sides.true(n), n)))
    told = sides.after.ask(Folded(needed, f, merge))
    lines, notes = [], []
    total, cells, constant = 0.0, 0, False
    for name, row in zip(columns, told.iter_rows(named=True), strict=True):
        n, spread = row["n move"], _spread(row, "both")
        value = _rounded(row["square move"] / n / spread) if spread else None
        lines.append(Finding("delta", variable=name, value=value))
        if value is None:
            notes.append(f"Column {name!r} does not vary, or has too few values in both tables, so it has no delta.")
        spread = _spread(row, "true")
        constant |= bool(n) and not spread
        if n and spread:
            total, cells = total + row["move"] / math.sqrt(2 * spread), cells + n
    notes += [note for note, there in ((CONSTANT, constant), (NOTHING, not cells)) if there]
    return Findings((*lines, Finding("il1s", value=_rounded(total / cells) if cells else None)), tuple(notes))


def _spread(row: Mapping[str, Any], kind: str) -> float | None:
    """The variance of a column about 0 and of size 1; None where it does not vary."""
    n, x, xx = int(row[f"n {kind}"]), float(row[kind]), float(row[f"square {kind}"])
    if n < 2 or xx / n - (x / n) ** 2 <= _NO_SPREAD:
        return None
    return (xx - x * x / n) / (n - 1)


def _rounded(value: float) -> float:
    return float(f"{value:.{_PLACES}g}")


def _unchanged(sides: Sides, disclosure: Disclosure, columns: Sequence[str]) -> Findings:
    """As `sfumato.measures.risk.unchanged.findings`, of numbers and of columns whose values were exchanged."""
    exchanged = (n for part in disclosure if isinstance(part, _EXCHANGING) for n in part.columns)
    both = [n for n in dict.fromkeys((*columns, *exchanged)) if n in sides.before.schema and n in sides.after.schema]
    if not both:
        return Findings()
    book = sides.codebook
    named = [pl.col(sides.true(n)).alias(f"was {i}") for i, n in enumerate(both)]
    named += [pl.col(n).alias(f"now {i}") for i, n in enumerate(both)]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        frame = batch.select(named)
        return frame.select(x for i, n in enumerate(both) for x in _same(i, n, frame.schema, book))

    needed = tuple(dict.fromkeys(x for n in both for x in (sides.true(n), n)))
    told = sides.after.ask(Folded(needed, f, lambda frames: frames.sum())).row(0, named=True)
    lines, notes = [], []
    for i, n in enumerate(both):
        had = told[f"had {i}"]
        share = told[f"same {i}"] / had if had else None
        lines.append(Finding("unchanged", variable=n, value=share, baseline=None if share is None else 1.0))
        if share is None:
            notes.append(f"Column {n!r} held no value, so there are no unchanged cells to count.")
    return Findings(tuple(lines), tuple(notes))


def _same(i: int, name: str, schema: pl.Schema, book: Codebook) -> Iterator[pl.Expr]:
    """How many cells had a value, and how many of them have it still."""
    was, now = f"was {i}", f"now {i}"
    known = Codebook({was: book[name]})
    had = ~known.missing(was, schema[was])
    old, new = pl.col(was), pl.col(now)
    if schema[was] != schema[now] or schema[was] == pl.Categorical:
        common = pl.Float64() if is_number(schema[was]) and is_number(schema[now]) else pl.String()
        old, new = old.cast(common), new.cast(common)
    yield had.sum().cast(pl.Int64).alias(f"had {i}")
    yield (had & (old == new).fill_null(False)).sum().cast(pl.Int64).alias(f"same {i}")


def _within(sides: Sides, columns: Sequence[str], k: float) -> Findings:
    """As `sfumato.measures.risk.interval_disclosure.findings`."""
    views = [("", released)]
    if rebuilt(sides, columns):
        views.append(("unscaled", sides.rebuilt))
    lines = []
    complete, records = 0, 0  # of the released values, as they stand in every view
    for suffix, where in views:
        shares, counted = _shares(sides, columns, where, k)
        complete, records = (complete, records) if suffix else counted
        groups = (suffix or None, *(f"relative {suffix}".strip() for _ in RELATIVE))
        lines += [
            Finding("interval_disclosure", None, group, at, value=share, baseline=None if share is None else 1.0)
            for group, at, share in zip(groups, (k, *RELATIVE), shares, strict=True)
        ]
    if lines[0].value is None:
        return Findings(tuple(lines), (NO_RECORD,))
    return Findings(tuple(lines), (INCOMPLETE,) if complete < records else ())


def _shares(sides: Sides, columns: Sequence[str], where: Place, k: float) -> tuple[list[float | None], tuple[int, int]]:
    """Shares of the complete records within k sd, and each relative width; how many are complete, of how many."""
    was, now = reader(sides, columns, sides.true), reader(sides, columns, where)

    def complete(batch: pl.DataFrame) -> dict[str, Floats]:
        x, z = was(batch), now(batch)
        there = ~(np.isnan(x).any(axis=1) | np.isnan(z).any(axis=1))
        return {n: np.where(there, z[:, j], np.nan) for j, n in enumerate(columns)}

    told = sums_of(sides.after, complete, columns)
    half = np.array([k * math.sqrt(told[n].variance or 0.0) for n in columns])

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x, z = was(batch), now(batch)
        there = ~(np.isnan(x).any(axis=1) | np.isnan(z).any(axis=1))
        apart = np.abs(x[there] - z[there])
        near = [apart <= half, *(apart <= at * np.abs(x[there]) for at in RELATIVE)]
        counts = [len(x), int(there.sum()), *(int(each.all(axis=1).sum()) for each in near)]
        return pl.DataFrame({str(i): [count] for i, count in enumerate(counts)})

    needed = tuple(dict.fromkeys(x for n in columns for x in (sides.true(n), where(n))))
    rows, there, *inside = sides.after.ask(Folded(needed, f, lambda frames: frames.sum())).row(0)
    return [count / there if there else None for count in inside], (there, rows)
