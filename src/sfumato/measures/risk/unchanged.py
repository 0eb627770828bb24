"""Unchanged cells: how much of a column came through the protection as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Exchanged, Misclassified, Shuffled, Swapped
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.data.query import Folded
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.reading import compared, synthetic_throughout
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import percent, value_of, with_value, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "unchanged"]

NO_VALUE = "Column {column!r} held no value, so there are no unchanged cells to count."
NOT_ALIGNED = "The tables are not joined record by record, so unchanged cells were not counted."


def unchanged(before: pl.DataFrame, after: pl.DataFrame, column: str, codebook: Codebook | None = None) -> float | None:
    """Share of a column's cells that are the same before and after.

    An unchanged cell has no protection of its own: whoever knows the value can still look it up. A changed cell may
    yet be close to the truth; see `interval_disclosure` for that.

    Parameters
    ----------
    before, after
        Original and released table of equal heights; row i of both is the same record.
    column
        A column of both, of any type. Numbers are compared as numbers, anything else as text where the types differ.
    codebook
        Says which codes stand for missing.

    Returns
    -------
    float or None
        Between 0 and 1, of the cells that had a value before; None where there is none.

    Examples
    --------
    >>> unchanged(pl.DataFrame({"a": [1, 2, None]}), pl.DataFrame({"a": [1.0, 2.5, 3.0]}), "a")
    0.5
    """
    had = before.select(column).select(~(codebook or Codebook()).missing(column, before[column].dtype)).to_series()
    old, new = before[column].filter(had), after[column].filter(had)
    if not old.len():
        return None
    if old.dtype != new.dtype or old.dtype == pl.Categorical:
        common = pl.Float64() if _number(old.dtype) and _number(new.dtype) else pl.String()
        old, new = old.cast(common), new.cast(common)
    return float((old == new).fill_null(False).sum()) / old.len()


def _number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def findings(pair: Pair, columns: Sequence[str] | None = None) -> Findings:
    """Give one line `unchanged` for each column; an unprotected table would have 1.

    Parameters
    ----------
    pair
        Original and protected table.
    columns
        Columns of any type; the pair's numeric columns if not given. Those that the release lacks are passed over.
    """
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    lines, notes = [], []
    for name in pair.columns if columns is None else columns:
        if name not in pair.before.columns or name not in pair.after.columns:
            continue
        value = unchanged(pair.before, pair.after, name, pair.codebook)
        lines.append(Finding("unchanged", variable=name, value=value, baseline=None if value is None else 1.0))
        if value is None:
            notes.append(NO_VALUE.format(column=name))
    return Findings(tuple(lines), tuple(notes))


_EXCHANGING = (Exchanged, Misclassified, Shuffled, Swapped)


def _compute(subject: Subject) -> Findings:
    """Of numbers that were masked, and of columns whose values were exchanged, numbers or not."""
    return findings(subject.two, tuple(dict.fromkeys((*subject.two.columns, *_exchanged(subject)))))


def _exchanged(subject: Subject) -> Iterator[str]:
    """Columns whose values were exchanged."""
    for part in subject.disclosure:
        if isinstance(part, _EXCHANGING):
            yield from part.columns


def _folded(subject: Subject) -> Asking:
    """Of all records, by counts over parts."""
    if synthetic_throughout(subject):
        return Findings()
    sides = subject.everybody
    asked = dict.fromkeys((*compared(subject), *_exchanged(subject)))
    both = [n for n in asked if n in sides.before.schema and n in sides.after.schema]
    if not both:
        return Findings()
    book = sides.codebook
    named = [pl.col(sides.true(n)).alias(f"was {i}") for i, n in enumerate(both)]
    named += [pl.col(n).alias(f"now {i}") for i, n in enumerate(both)]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        frame = batch.select(named)
        return frame.select(x for i, n in enumerate(both) for x in _same(i, n, frame.schema, book))

    needed = tuple(dict.fromkeys(x for n in both for x in (sides.true(n), n)))
    (told,) = yield [Question(sides.after, Folded(needed, f, lambda frames: frames.sum()))]
    counts = told.row(0, named=True)
    shares = [counts[f"same {i}"] / had if (had := counts[f"had {i}"]) else None for i in range(len(both))]
    lines = [
        Finding("unchanged", variable=n, value=share, baseline=None if share is None else 1.0)
        for n, share in zip(both, shares, strict=True)
    ]
    return Findings(tuple(lines), tuple(NO_VALUE.format(column=f.variable) for f in lines if f.value is None))


def _same(i: int, name: str, schema: pl.Schema, book: Codebook) -> Iterator[pl.Expr]:
    """How many cells had a value, and how many of them have it still."""
    was, now = f"was {i}", f"now {i}"
    known = Codebook({was: book[name]})
    had = ~known.missing(was, schema[was])
    old, new = pl.col(was), pl.col(now)
    if schema[was] != schema[now] or schema[was] == pl.Categorical:
        common = pl.Float64() if _number(schema[was]) and _number(schema[now]) else pl.String()
        old, new = old.cast(common), new.cast(common)
    yield had.sum().cast(pl.Int64).alias(f"had {i}")
    yield (had & (old == new).fill_null(False)).sum().cast(pl.Int64).alias(f"same {i}")


def _say(findings: Findings, fraction: float) -> str | None:
    lines = [f for f in with_value(findings, "unchanged") if value_of(f) > 0]
    if not lines:
        return None
    line = worst(lines)
    return f"Of the values of {line.variable or 'the columns'}, {percent(value_of(line))} are exactly what they were."


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    return tuple(
        Complaint(f"Many values of {f.variable or 'the columns'} are exactly what they were", Aim.KEPT, f.variable)
        for f in with_value(findings, "unchanged")
        if value_of(f) > 0.1
    )


MEASURE = Measure(
    family="closeness",
    place=40,
    doing="unchanged values",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "unchanged",
            title="Values that are exactly as they were",
            what="Share of a column's values that protection left alone.",
            form="share",
            published="rate",
            baseline="Without protection",
            aim=Aim.KEPT,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
    faces=("risk", "compare"),
    say=_say,
    complain=_complain,
)
