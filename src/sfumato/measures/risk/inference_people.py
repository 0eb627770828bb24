"""Guessing a value of some people from the records nearest to each of them among all: `inference` of large tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.hidden import DONORS, OWN, VIEW
from sfumato.data.pair import Pair, numbers
from sfumato.data.query import Folded
from sfumato.kernels.neighbours.classmates import Known
from sfumato.kernels.neighbours.votes import nearest_among, right_votes
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.people import people_of
from sfumato.measures.guessing import Guessed
from sfumato.measures.risk.inference_released import Drawn, asked_of, drawn_of, lines_of
from sfumato.measures.risk.linkage_released import is_amount, scale_of
from sfumato.measures.subject import RELEASED, Subject

__all__ = ["guessed_among_all"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST = 300
"""People who are guessed: each is held against all records."""
_PERSON, _DISTANCE, _TOLD, _DONOR, _WORD = (f"sfumato:{n}" for n in ("person", "distance", "told", "donor", "own"))
_OWN = f"{VIEW}{DONORS}:{OWN}"
_ELSEWHERE = -2  # a value that none of the people has


def guessed_among_all(subject: Subject) -> Asking:
    """The lines `inference`, attack `released`, as `released_guesses` gives them, of some people.

    Parameters
    ----------
    subject
        All records, and a sample of them, of whom some are guessed.
    """
    drawn = drawn_of(subject)
    outsider = next((each for each in subject.knowing if each.group == RELEASED), None)
    if drawn is None or outsider is None:
        return Findings()
    pair, sides = subject.two, subject.everybody
    rows = people_of(pair, _MOST)
    searches = []
    for name in subject.guessed:
        by, compared = asked_of(pair, outsider, drawn, name)
        if name in pair.before.columns and name in pair.after.columns and (by or compared):
            searches.append(_Search.of(pair, rows, name, by, compared, drawn))
    answers = yield [Question(sides.after, Folded(each.needed, each, each.merged)) for each in searches]
    lines: list[Finding] = []
    for search, answer in zip(searches, answers, strict=True):
        lines += search.lines(pair, rows, drawn, answer)
    return Findings(tuple(lines))


@dataclass(frozen=True, eq=False)
class _Search:
    """Looks for the records nearest to each person, batch by batch."""

    name: str
    by: tuple[str, ...]
    amounts: tuple[str, ...]
    categories: tuple[str, ...]
    codebook: Codebook
    people: pl.DataFrame
    scale: Floats
    middle: Floats
    x: Floats
    donor: str
    k: int

    @classmethod
    def of(cls, pair: Pair, rows: Ints, name: str, by: Sequence[str], compared: Sequence[str], drawn: Drawn) -> _Search:
        """What is known of the people."""
        amounts = tuple(n for n in compared if is_amount(pair, n))
        categories = tuple(n for n in compared if n not in amounts)
        x, scale, middle = scale_of(pair, list(amounts))
        first = drawn.set_of(name)[0]
        donor = first if first in drawn.of else OWN
        known = pair.before[rows]
        told = f"{VIEW}{DONORS}:{donor}"
        return cls(
            name, tuple(by), amounts, categories, pair.codebook, known, scale, middle, x[rows], told, 2 * drawn.group
        )

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of a batch that are looked at."""
        return tuple(dict.fromkeys((self.name, *self.by, *self.amounts, *self.categories, self.donor, _OWN)))

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        batch = batch.sort(_OWN)  # of records as near none is preferred for where it stands
        z = (numbers(batch, list(self.amounts), self.codebook) - self.middle) / self.scale
        pairs = [self._codes(n, batch) for n in self.categories]
        m, n = self.people.height, batch.height
        a = np.column_stack([each[0] for each in pairs]) if pairs else np.zeros((m, 0), dtype=np.int64)
        b = np.column_stack([each[1] for each in pairs]) if pairs else np.zeros((n, 0), dtype=np.int64)
        mine, theirs = self._labels(batch)
        near = nearest_among(Known(z, z, b, b, theirs), self.x, a, mine, self.k)
        person, place = np.nonzero(near.rows >= 0)
        found = near.rows[person, place]
        return pl.DataFrame(
            {
                _PERSON: pl.Series(person, dtype=pl.Int64),
                _DISTANCE: pl.Series(near.distance[person, place], dtype=pl.Float64),
                _TOLD: self._texts(self.name, batch)[found],
                _DONOR: batch[self.donor][found],
                _WORD: batch[_OWN][found],
            }
        )

    def merged(self, frames: pl.DataFrame) -> pl.DataFrame:
        """The nearest of each person."""
        return frames.sort(_PERSON, _DISTANCE, _WORD).group_by(_PERSON, maintain_order=True).head(self.k)

    def lines(self, pair: Pair, rows: Ints, drawn: Drawn, answer: pl.DataFrame) -> Iterator[Finding]:
        """The lines of the variable."""
        truths = self._texts(self.name, pair.before)
        values = {v: i + 1 for i, v in enumerate(pl.concat([truths, answer[_TOLD]]).drop_nulls().unique().sort())}
        truth = np.array([values.get(v, 0) for v in truths[rows]], dtype=np.int64)
        distance, told = np.full((len(rows), self.k), np.inf), np.zeros((len(rows), self.k), dtype=np.int64)
        others = np.zeros((len(rows), self.k), dtype=bool)
        own = drawn.own[rows]
        for (person,), each in answer.group_by(_PERSON, maintain_order=True):
            i, m = int(str(person)), each.height
            distance[i, :m] = each[_DISTANCE].to_numpy()
            told[i, :m] = [values.get(v, 0) for v in each[_TOLD]]
            others[i, :m] = each[_DONOR].to_numpy() != own[i]
        there = truth > 0
        if not there.any():
            return
        usual = values[str(truths.drop_nulls().mode().sort()[0])]
        right = right_votes(distance[there], told[there], truth[there], usual)
        without = right_votes(distance[there], told[there], truth[there], usual, others[there])
        m = int(there.sum())
        yield from lines_of(self.name, Guessed(float(right.sum()), float(without.sum()), m, m), None, sampled=True)

    def _texts(self, name: str, frame: pl.DataFrame) -> pl.Series:
        gap = self.codebook.missing(name, frame.schema[name])
        return frame.select(pl.when(~gap).then(pl.col(name).cast(pl.String)).alias("v")).to_series()

    def _codes(self, name: str, batch: pl.DataFrame) -> tuple[Ints, Ints]:
        """Numbers of a category of the people and of a batch: −1 for a gap, another one for what no person has."""
        mine, theirs = self._texts(name, self.people), self._texts(name, batch)
        values = mine.drop_nulls().unique().sort()
        both = []
        for side in (mine, theirs):
            codes = side.replace_strict(values, range(len(values)), default=_ELSEWHERE, return_dtype=pl.Int64)
            both.append(pl.select(pl.when(side.is_null()).then(-1).otherwise(codes)).to_series().to_numpy())
        return both[0], np.where(both[1] == _ELSEWHERE, len(values) + 1, both[1])

    def _labels(self, batch: pl.DataFrame) -> tuple[Ints, Ints]:
        """Classes of the people, and of the records: one that is nobody's has a class of its own."""
        if not self.by:
            return np.zeros(self.people.height, dtype=np.int64), np.zeros(batch.height, dtype=np.int64)
        mine = self.people.select(self.by)
        known = mine.unique(maintain_order=True).with_row_index("sfumato:class")
        found = [
            side.join(known, on=list(self.by), how="left", nulls_equal=True, maintain_order="left")["sfumato:class"]
            for side in (mine, batch.select(self.by))
        ]
        label = [each.cast(pl.Int64).fill_null(-1).to_numpy() for each in found]
        return label[0], label[1]
