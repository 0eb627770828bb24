"""What a batch of a run's result holds of true and released values, and sums of what is made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset, Parted
from sfumato.data.pair import numbers
from sfumato.data.query import Moments, Query
from sfumato.data.remembered import Remembered
from sfumato.data.sides import Sides
from sfumato.measures.folds.asking import Question
from sfumato.measures.subject import Subject

__all__ = [
    "Place",
    "Scale",
    "Sums",
    "as_released",
    "compared",
    "is_number",
    "learnt",
    "reader",
    "rebuilt",
    "remembered",
    "scales",
    "sums_asked",
    "sums_of",
    "sums_told",
    "synthetic_throughout",
]

Floats = NDArray[np.float64]
Place = Callable[[str], str]
"""The column of a run's result that holds a value of a named column."""


class Sums(NamedTuple):
    """What is told of a column; None where there are too few values."""

    n: int
    mean: float | None
    variance: float | None
    low: float | None
    high: float | None

    @property
    def average(self) -> float:
        """The mean, 0 where there is no value."""
        return self.mean or 0.0


@dataclass(frozen=True)
class Scale:
    """What some columns are measured from, and in."""

    used: list[int]
    middle: Floats
    sd: Floats

    @classmethod
    def of(cls, sums: Sequence[Sums], used: Sequence[int], population: bool) -> Scale:
        """Means and standard deviations; of the records as a `population`, or as a sample of one."""
        of = [sums[j] for j in used]
        variance = np.array([(s.variance or 0.0) * ((s.n - 1) / s.n if population else 1.0) for s in of])
        return cls([*used], np.array([s.average for s in of]), np.sqrt(variance))

    def __call__(self, values: Floats) -> Floats:
        """The columns that are used, so measured, shape (n, len(used))."""
        return np.ascontiguousarray((values[:, self.used] - self.middle) / self.sd)


def is_number(dtype: pl.DataType) -> bool:
    """Whether values of a type are compared as numbers."""
    return dtype.is_numeric() or dtype == pl.Boolean


def as_released(name: str) -> str:
    """The column of a run's result that holds what is released of `name`."""
    return name


def rebuilt(sides: Sides, columns: Sequence[str]) -> bool:
    """Whether an attacker could rebuild any of the columns."""
    return any(sides.rebuilt(n) != n for n in columns)


def synthetic_throughout(subject: Subject) -> bool:
    """Whether the released records are no person's: all columns are synthetic."""
    return (synthetic := subject.disclosure.synthetic) is not None and synthetic.kind == "full"


def compared(subject: Subject) -> tuple[str, ...]:
    """Numbers that masking changed, and that are numbers still, of people: as a pair in memory has them."""
    if synthetic_throughout(subject):
        return ()
    before, after = subject.everybody.before, subject.everybody.after
    there = [n for n in subject.traces.compared if n in before.schema and n in after.schema]
    masked = [n for n in there if before.codebook[n].numeric or after.codebook[n].numeric]
    return tuple(n for n in masked if is_number(before.schema[n]) and after.schema[n].is_numeric())


def remembered(sides: Sides) -> tuple[Remembered, Remembered]:
    """All records before and after, which answer a question once."""
    return sides.once(("remembered", id(sides.after)), lambda: (Remembered(sides.before), Remembered(sides.after)))


def learnt(sides: Sides, *queries: Query) -> Generator[Sequence[Question], Sequence[pl.DataFrame], None]:
    """Have both sides know the answers to these questions, which are asked together with those of others."""
    both = zip((sides.before, sides.after), remembered(sides), strict=True)
    asked = [(data, known, query) for data, known in both for query in queries if not known.knows(query)]
    if asked:
        answers = yield [Question(data, query) for data, _, query in asked]
        for (_, known, query), answer in zip(asked, answers, strict=True):
            known.learn(query, answer)


def scales(data: Dataset, columns: Sequence[str]) -> tuple[Floats, Floats]:
    """Means, and standard deviations that are not 0."""
    found = data.ask(Moments(tuple(columns))).select("variable", "mean", "variance").iter_rows()
    told = {str(n): (mean or 0.0, math.sqrt(variance) if variance else 1.0) for n, mean, variance in found}
    return np.array([told[n][0] for n in columns]), np.array([told[n][1] for n in columns])


def reader(sides: Sides, columns: Sequence[str], where: Place) -> Callable[[pl.DataFrame], Floats]:
    """Gives the numbers of a batch that `where` names, as floats with NaN for missing, in the order of `columns`."""
    named, book = [pl.col(where(n)).alias(n) for n in columns], sides.codebook

    def values(batch: pl.DataFrame) -> Floats:
        return numbers(batch.select(named), columns, book)

    return values


def sums_asked(data: Parted, made: Callable[[pl.DataFrame], dict[str, Floats]], names: Sequence[str]) -> Question:
    """The question for number, mean, variance and ends of each column that is made of the rows; NaN is no value."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        found = made(batch)
        return pl.DataFrame({n: pl.Series(found[n], dtype=pl.Float64, nan_to_null=True) for n in names})

    return Question(data.map(f, codebook=Codebook({}).only(names)), Moments(tuple(names)))


def sums_told(answer: pl.DataFrame) -> dict[str, Sums]:
    """What the answer says of each column."""
    return {str(row[0]): Sums(*row[1:]) for row in answer.select("variable", *Sums._fields).iter_rows()}


def sums_of(data: Parted, made: Callable[[pl.DataFrame], dict[str, Floats]], names: Sequence[str]) -> dict[str, Sums]:
    """The same, asked at once."""
    question = sums_asked(data, made, names)
    return sums_told(question.of.ask(question.query))
