"""How far the relations among the columns that are left moved: correlations in the input and in the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Folded
from sfumato.data.roles import Kind
from sfumato.measures.folds.asking import Asking, Question, at_once
from sfumato.measures.folds.coded import (
    MOST_VALUES,
    Categories,
    Reading,
    categories,
    coder,
    in_order,
    readings,
    told_categories,
)
from sfumato.measures.folds.input import columns_released, released, schema_of
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.saying import value_of, with_value
from sfumato.measures.subject import Subject
from sfumato.measures.utility.correlations import pearson, products

__all__ = ["MEASURE", "MOST_COLUMNS"]

Floats = NDArray[np.float64]
Coder = Callable[[pl.DataFrame], Floats]

MOST_COLUMNS = 60
"""Most columns whose correlations are looked at: of more the first in the order of the table."""
NONE = "relations_shift has no value: no two columns that are left vary together."
MANY = "relations_shift is of the first {most} columns that are left."
TOO_MANY = "{columns}: more than {most:,} categories, so left out of relations_shift."
_DIGITS = 12
_ROWS = 1 << 16


def _asks(subject: Subject) -> Asking:
    """Of all records, in two looks: at the values that there are, and at how they go together."""
    tables = (subject.read, released(subject))
    names, notes = _columns(subject)
    known = [(schema_of(data), data.codebook) for data in tables]
    read = {name: readings(name, known) for name in names}
    each: list[dict[str, Reading]] = [{name: of[i] for name, of in read.items()} for i in range(2)]
    asking = [[Question(d, query) for query in categories(of, d.codebook)] for d, of in zip(tables, each, strict=True)]
    answers = list((yield [*asking[0], *asking[1]]))
    told_of = (answers[: len(asking[0])], answers[len(asking[0]) :])
    found = _together([told_categories(told, of) for told, of in zip(told_of, each, strict=True)])
    if wide := [name for name in names if any(len(of.get(name, ())) > MOST_VALUES for of in found)]:
        notes += (TOO_MANY.format(columns=", ".join(wide), most=MOST_VALUES),)
        names = [name for name in names if name not in wide]
    if len(names) < 2:
        return Findings((Finding("relations_shift"),), (*notes, NONE))
    each = [{name: of[name] for name in names} for of in each]
    made = [coder(of, own, d.codebook) for d, of, own in zip(tables, each, found, strict=True)]
    spans = yield [Question(d, _spans(names, code)) for d, code in zip(tables, made, strict=True)]
    sums = yield [
        Question(data, products(names, code, *_scale(span)))
        for data, code, span in zip(tables, made, spans, strict=True)
    ]
    old, new = (pearson(answer, len(names)) for answer in sums)
    moves = [abs(b - a) for a, b in zip(old, new, strict=True) if a is not None and b is not None]
    if not moves:
        return Findings((Finding("relations_shift"),), (*notes, NONE))
    return Findings((Finding("relations_shift", value=round(math.fsum(moves) / len(moves), _DIGITS)),), notes)


def _columns(subject: Subject) -> tuple[list[str], tuple[str, ...]]:
    """The columns whose relations are looked at, and a note where there are more."""
    books = (subject.read.codebook, released(subject).codebook)
    names = [n for n in columns_released(subject) if not any(book[n].kind == Kind.TEXT for book in books)]
    notes = (MANY.format(most=MOST_COLUMNS),) if len(names) > MOST_COLUMNS else ()
    return names[:MOST_COLUMNS], notes


def _together(found: Sequence[Mapping[str, Categories]]) -> list[dict[str, Categories]]:
    """The categories of each table: of both where both have them, else each its own in their order."""
    shared = {n for n in found[0] if n in found[1]}
    union = {n: tuple(sorted({*found[0][n], *found[1][n]}, key=_key)) for n in shared}
    return [{n: union[n] if n in shared else in_order(of[n]) for n in of} for of in found]


def _key(category: str | float) -> tuple[float, str]:
    return (0.0, category) if isinstance(category, str) else (category, "")


def _spans(names: list[str], code: Coder) -> Folded:
    """The question how many values each column has, what they add up to, and the ends."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        parts = []
        for rows in batch.iter_slices(_ROWS) if batch.height else [batch]:
            x = code(rows)
            there = ~np.isnan(x)
            parts.append(
                pl.DataFrame(
                    {
                        "column": np.arange(len(names)),
                        "n": there.sum(axis=0).astype(np.int64),
                        "sum": np.where(there, x, 0.0).sum(axis=0),
                        "low": np.where(there, x, np.inf).min(axis=0, initial=np.inf),
                        "high": np.where(there, x, -np.inf).max(axis=0, initial=-np.inf),
                    }
                )
            )
        return merge(pl.concat(parts))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        total = frames.group_by("column").agg(pl.col("n", "sum").sum(), pl.col("low").min(), pl.col("high").max())
        return total.sort("column")

    return Folded(tuple(names), f, merge)


def _scale(span: pl.DataFrame) -> tuple[Floats, Floats]:
    """The mean of each column, and how far its values are from it at most."""
    n, total, low, high = (span[name].to_numpy() for name in ("n", "sum", "low", "high"))
    middle = np.where(n > 0, total / np.maximum(n, 1), 0.0)
    far = np.where(n > 0, np.maximum(high - middle, middle - low), 0.0)
    return middle, np.where(far > 0, far, 1.0)


def _compute(subject: Subject) -> Findings:
    return at_once(_asks(subject))


def _say(findings: Findings, fraction: float) -> str | None:
    moved = with_value(findings, "coefficients_moved")
    parts = [_of_relations(value_of(line)) for line in with_value(findings, "relations_shift")[:1]]
    if moved:
        many = round(moved[0].at or 0)
        parts.append(
            f"{round(value_of(moved[0]) * many)} of {many} coefficients {'' if parts else 'move '}by over 1 SE"
        )
    return f"{'; '.join(parts)}." if parts else None


def _of_relations(shift: float) -> str:
    by = "less than .01" if shift < 0.005 else f"{shift:.2f}".lstrip("0")
    return f"Correlations move by {by} on average"


MEASURE = Measure(
    family="lost",
    place=30,
    doing="relations among columns",
    needs=frozenset({"input"}),
    figures=(
        Figure(
            "relations_shift",
            title="Moved correlations",
            what="The mean absolute change of the correlation of every two columns that are left, over the records "
            "that have both values. Dates count by day, categories by the places of their sorted values; texts, "
            "identifiers and ids are left out. Of more than 60 columns the first 60 are looked at.",
            published="hundredth",  # of two columns a finer figure would tell the original's correlation
            whole="all columns that are left",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"folded": _asks},
    effort=2,
    say=_say,
)
