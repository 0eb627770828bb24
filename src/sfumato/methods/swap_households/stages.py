"""The two stages of `swap_households`: exchange, then weed out and tell.

In between the method keeps two hidden columns: what became of a household, at one of its records, and whether a
record's household should have been exchanged and was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts
from sfumato.errors import DataError
from sfumato.kernels.rows import scatter
from sfumato.methods.base import Stage, StepDraws

if TYPE_CHECKING:
    from sfumato.methods.swap_households.method import SwapHouseholds

__all__ = ["Exchanging", "Told", "Weeding"]

_FATE, _LEFT = f"{HIDDEN}fate", f"{HIDDEN}left"
_AT_RISK, _MOVED, _STAYED, _NOWHERE = 1, 2, 4, 8
"""What became of a household, as bits."""

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Exchanging:
    """Exchange households over the whole table; see `SwapHouseholds` for the parameters."""

    method: SwapHouseholds
    codebook: Codebook
    household: str

    def stage(self) -> Stage:
        """The pass."""
        return Stage(self.transform, by=())

    def transform(self, batch: pl.DataFrame, state: None, draws: StepDraws) -> pl.DataFrame:
        """The new rows of the table."""
        from sfumato.kernels.masking.household_swap import exchange_households

        if batch.is_empty():
            return batch.with_columns(pl.lit(0, pl.Int64).alias(_FATE), pl.lit(False).alias(_LEFT))
        who = _Households.drawn(draws.units(batch, "household"), draws, "/".join(self.method.geography))
        area, nowhere = self._areas(batch, who)
        least = self._least(batch, who, area)
        risk = (least < self.method.k) & ~nowhere
        found = exchange_households(
            area=area,
            risk=risk,
            profile=np.vstack([who.profile(batch.select(p)) for p in self.method.similar]),
            race=np.lexsort((who.unit, -np.log(who.u) * least[-1])),  # the rarest are likeliest to come first
            word=who.word,
            rate=self.method.rate,
            stays=nowhere,
        )
        if self.method.on_unswapped == "error" and found.left.any():
            raise DataError(self._no_partner())
        source = who.first[found.partner][who.whose]
        fate = _AT_RISK * risk.any(axis=0) + _MOVED * (found.partner != np.arange(len(who.first)))
        told = np.full(batch.height, -1)
        told[who.first] = fate + _STAYED * found.left + _NOWHERE * nowhere
        return batch.with_columns(
            *(batch[n].gather(source) for n in self.method.changes),
            pl.Series(_FATE, told),
            pl.Series(_LEFT, found.left[who.whose]),
        )

    def _areas(self, batch: pl.DataFrame, who: _Households) -> tuple[Ints, Bools]:
        """Area of each household by level, shape (levels, m), and who has none."""
        for n in self.method.changes:
            codes = _codes(batch[n])
            if (codes != codes[who.first][who.whose]).any():
                raise DataError(
                    f"swap_households: {n!r} differs within some households ({self.household!r}), so that it cannot "
                    "move with them. Give every member the same value, or leave the column out."
                )
        missing = pl.any_horizontal(self.codebook.missing(n, batch.schema[n]) for n in self.method.geography)
        nowhere = batch.select(missing).to_series().to_numpy()[who.first]
        levels = []
        for level, n in enumerate(self.method.geography):
            levels.append(_labels(batch.select(self.method.geography[: level + 1]))[who.first])
            if len(np.unique(levels[-1][~nowhere])) < 2:
                raise DataError(
                    f"swap_households: {n!r} has fewer than two areas, so that no household can go to another. Leave "
                    "it out of geography, or give the whole table."
                )
        return np.vstack(levels), nowhere

    def _least(self, batch: pl.DataFrame, who: _Households, area: Ints) -> Ints:
        """People of the area who are like the rarest member in the keys, by level and household, shape (levels, m)."""
        person = _labels(batch.select(self.method.keys))
        least = np.full(area.shape, batch.height)
        for level, areas in enumerate(area):
            _, which, count = np.unique(
                person * (int(areas.max()) + 1) + areas[who.whose], return_inverse=True, return_counts=True
            )
            np.minimum.at(least[level], who.whose, count[which])
        return least

    def _no_partner(self) -> str:
        return (
            f"swap_households: for some households with somebody of whom fewer than {self.method.k} in the area have "
            "the same keys, no other area has two households of their profile. Add a profile of fewer columns to "
            "`similar`, recode keys more broadly, take a smaller k, or say what becomes of them: on_unswapped: keep or "
            "suppress."
        )


@dataclass(frozen=True)
class _Households:
    """The households of a table, in an order drawn for their ids.

    Parameters
    ----------
    unit, word, u
        Of each household its unit, a random word, and a uniform draw, shape (m,).
    whose
        Household of each record, shape (n,).
    first
        A record of each household, shape (m,).
    """

    unit: Words
    word: Words
    u: Floats
    whose: Ints
    first: Ints

    @classmethod
    def drawn(cls, units: Words, draws: StepDraws, places: str) -> _Households:
        """Households by their units. Draws hang on what moves alone, so that no other rate or k shows who moved."""
        unit, first, whose = np.unique(units, return_index=True, return_inverse=True)
        word = draws.draws.words(unit, draws.purpose(places, "partner"))
        order = np.lexsort((unit, word[:, 0]))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        u = draws.draws.uniform(unit, draws.purpose(places, "race"))
        return cls(unit[order], word[order, 1], u[order], rank[whose], first[order])

    def profile(self, columns: pl.DataFrame) -> Ints:
        """Labels of households, equal where what their members have in some columns is, shape (m,).

        A column that is the same within all households counts once; of others the members' values together, as a sum of
        scattered words in which the order of members does not matter.
        """
        codes = {n: _codes(columns[n]) for n in columns.columns}
        shared = [n for n, code in codes.items() if (code == code[self.first][self.whose]).all()]
        label = _labels(columns.select(shared))[self.first] if shared else np.zeros(len(self.first), dtype=np.int64)
        if len(shared) == len(codes):
            return _dense(label)
        person = _labels(columns.drop(shared)).astype(np.uint64)
        members = np.zeros(len(self.first), dtype=np.uint64)
        np.add.at(members, self.whose, scatter(scatter(person + np.uint64(1))))
        together = _dense(members)
        return _dense(label * (int(together.max()) + 1) + together)


def _dense(labels: NDArray[np.generic]) -> Ints:
    """Labels as 0, 1, …"""
    _, dense = np.unique(labels, return_inverse=True)
    return np.asarray(dense, dtype=np.int64)


def _codes(column: pl.Series) -> Ints:
    """A number for each value of a column, 0 for missing ones."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    return column.rank("dense").fill_null(0).to_numpy().astype(np.int64)


def _labels(columns: pl.DataFrame) -> Ints:
    """A number for each combination of values, shape (n,)."""
    label = np.zeros(columns.height, dtype=np.int64)
    for n in columns.columns:
        code = _codes(columns[n])
        label = _dense(label * (int(code.max()) + 1) + code)
    return label


@dataclass(frozen=True)
class Told:
    """What became of households. Confidential.

    Parameters
    ----------
    households, at_risk, moved, left, nowhere
        How many there are, were at risk, changed places, should have and did not, and have no area.
    records
        Records of those that should have changed places and did not.
    """

    households: int
    at_risk: int
    moved: int
    left: int
    nowhere: int
    records: int


@dataclass(frozen=True)
class Weeding:
    """Count what became of households; leave out those that should have been exchanged, where that is asked for."""

    suppress: bool

    def stage(self) -> Stage:
        """The look and the pass."""
        return Stage(self.transform, (Counts((_FATE,)), Counts((_LEFT,))), self.fit)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Told:
        """Counts of households by what became of them."""
        fates = [(fate, n) for fate, n in answers[0].select(_FATE, COUNT).iter_rows() if fate >= 0]
        risk, moved, left, nowhere = (
            sum(n for fate, n in fates if fate & bit) for bit in (_AT_RISK, _MOVED, _STAYED, _NOWHERE)
        )
        records = sum(n for stays, n in answers[1].select(_LEFT, COUNT).iter_rows() if stays)
        return Told(sum(n for _, n in fates), risk, moved, left, nowhere, records)

    def transform(self, batch: pl.DataFrame, state: Told, draws: StepDraws) -> pl.DataFrame:
        """The rows without hidden columns of this method."""
        batch = batch.filter(~pl.col(_LEFT)) if self.suppress else batch
        return batch.drop(_FATE, _LEFT)
