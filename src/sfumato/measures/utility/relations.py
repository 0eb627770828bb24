"""How far the relations among the columns that are left moved: correlations in the input and in the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
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
    names, notes = _columns(subject)
    sides = _sides(subject, names)
    looking = [side.looking() for side in sides]
    answers = list((yield [question for asked in looking for question in asked]))
    looked = [side.looked(answers.pop(0) for _ in asked) for side, asked in zip(sides, looking, strict=True)]
    found = _together([each for each, _ in looked])
    if wide := [name for name in names if any(len(of.get(name, ())) > MOST_VALUES for of in found)]:
        notes += (TOO_MANY.format(columns=", ".join(wide), most=MOST_VALUES),)
        names = [name for name in names if name not in wide]
    moves: list[float] = []
    if len(names) > 1:
        old, new = yield [
            side.relating(names, of, scale) for side, of, (_, scale) in zip(sides, found, looked, strict=True)
        ]
        both = zip(pearson(old, len(names)), pearson(new, len(names)), strict=True)
        moves = [abs(b - a) for a, b in both if a is not None and b is not None]
    if not moves:
        return Findings((Finding("relations_shift"),), (*notes, NONE))
    return Findings((Finding("relations_shift", value=round(math.fsum(moves) / len(moves), _DIGITS)),), notes)


Scale = Mapping[str, tuple[float, float]]
"""Of columns of numbers their mean, and how far values are from it at most."""


@dataclass(frozen=True)
class _Side:
    """A table, and how each column is read."""

    data: Dataset
    read: Mapping[str, Reading]

    def looking(self) -> list[Question]:
        """The questions for its categories, and for the means and ends of its numbers."""
        amounts, book = self._amounts, self.data.codebook
        spans = [_spans([*amounts], coder(amounts, {}, book))] if amounts else []
        return [Question(self.data, query) for query in (*categories(self.read, book), *spans)]

    def looked(self, answers: Iterable[pl.DataFrame]) -> tuple[dict[str, Categories], Scale]:
        """What the answers say."""
        told = list(answers)
        scale = _scale([*self._amounts], told.pop()) if self._amounts else {}
        return told_categories(told, self.read), scale

    def relating(self, names: Sequence[str], found: Mapping[str, Categories], scale: Scale) -> Question:
        """The question for sums and products of every two columns."""
        code = coder({name: self.read[name] for name in names}, found, self.data.codebook)
        each = [scale[name] if name in scale else _middle(len(found[name])) for name in names]
        middle, far = np.array(each).T
        return Question(self.data, products(names, code, middle, far))

    @property
    def _amounts(self) -> dict[str, Reading]:
        return {name: reading for name, reading in self.read.items() if reading in ("number", "day")}


def _middle(count: int) -> tuple[float, float]:
    """Where so many places, from 0 on, have their middle, and how far they are from it."""
    return (count - 1) / 2, max(count - 1, 1) / 2


def _sides(subject: Subject, names: Sequence[str]) -> list[_Side]:
    tables = (subject.read, released(subject))
    known = [(schema_of(data), data.codebook) for data in tables]
    read = {name: readings(name, known) for name in names}
    return [_Side(data, {name: of[i] for name, of in read.items()}) for i, data in enumerate(tables)]


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


def _scale(names: Sequence[str], span: pl.DataFrame) -> Scale:
    found = {}
    for name, (n, total, low, high) in zip(names, span.select("n", "sum", "low", "high").iter_rows(), strict=True):
        middle = total / n if n else 0.0
        found[name] = middle, (max(high - middle, middle - low) if n else 0.0) or 1.0
    return found


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
