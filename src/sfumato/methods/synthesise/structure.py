"""Copies that have the structure of a table alone: names, kinds and ranges, and nothing of what is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.draws import Draws, bits
from sfumato.errors import DataError
from sfumato.methods.synthesise.bounded import Bounding
from sfumato.methods.synthesise.coding import Coded, Coding
from sfumato.methods.synthesise.copies import Synthesis
from sfumato.methods.synthesise.keys import StepKeys
from sfumato.methods.synthesise.model import Drawing, Limits, Model, Told
from sfumato.methods.synthesise.ordered import Order, bounding_of
from sfumato.methods.synthesise.outline import Outline, outline_of, type_of
from sfumato.methods.synthesise.sequence import Target, drawn

__all__ = ["Structure"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

NO_ROOM = (
    "`keep` says {text!r}, and the ranges that the plan gives leave no room for it: every {low} is more than every "
    "{high}. Correct one of both."
)
CONTRADICTION = (
    "No record of independent columns keeps all rules: two of them settle a column under conditions that hold "
    "together. Narrow the condition of one."
)
_PLACES = np.uint64(54)
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""Brings the bits of numbers to one of 1,024 places (Knuth's multiplicative hashing)."""


@dataclass(frozen=True)
class Structure(Synthesis):
    """Draws columns by what is outlined of them, each by itself; parameters as of `Synthesis`.

    Draws are keyed on the plan and the row alone: of two tables that are outlined alike the copies are the same.
    """

    structure: ClassVar[bool] = True

    def copied(
        self, frame: pl.DataFrame, codebook: Codebook, draws: Draws, records: Words, units: Words | None
    ) -> list[pl.DataFrame]:
        """Draw the copies; parameters as of `Synthesis.copied`, the rows are nobody's.

        Raises
        ------
        DataError
            Ranges that leave no room for what is kept, rules that contradict each other.
        """
        outlines = self._outlined(frame, codebook)
        codings = {name: one.coding for name, one in outlines.items()}
        nobody = np.zeros(0, dtype=np.uint64)
        unseen = {name: Coded(np.zeros(0, dtype=np.int64), np.zeros(0)) for name in codings}
        rows = nobody if units is None else units
        keys = StepKeys(draws, self.method, self.strength, rows, nobody)
        empty = pl.DataFrame([codings[name].series(column) for name, column in unseen.items()])
        targets = list(self._targets(empty, codebook, outlines))
        made = drawn(targets, codings, unseen, {}, len(rows), self.copies, keys)
        tables = [pl.DataFrame([codings[name].series(own[name]) for name in self.columns]) for own in made]
        return [self._lawful(table, codebook, keys, copy) for copy, table in enumerate(tables)]

    def learnt(self, frame: pl.DataFrame) -> Structure:
        """The same: what is looked up comes from no table."""
        return self

    def like(self, frame: pl.DataFrame, codebook: Codebook) -> pl.DataFrame:
        """See `Synthesis.like`: in the types in which columns leave."""
        types = {name: type_of(frame.schema[name], codebook[name]) for name in self.columns if name in frame.columns}
        return frame.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in types.items()).clear()

    def _outlined(self, frame: pl.DataFrame, codebook: Codebook) -> dict[str, Outline]:
        """The columns, with ranges in which there is room for what is kept."""
        found = {
            name: outline_of(frame[name], codebook, [r.value for r in self.rules if r.column == name])
            for name in self.columns
        }
        for _ in self.orders:  # what is moved may move others
            for order in self.orders:
                _with_room(found, order)
        return found

    def _targets(self, empty: pl.DataFrame, codebook: Codebook, outlines: Mapping[str, Outline]) -> list[Target]:
        codings = {name: one.coding for name, one in outlines.items()}
        told = {lookup.told: lookup.by for lookup in self.lookups}
        before: list[str] = []
        found: list[Target] = []
        for name in self.columns:
            forced = tuple(self._forced(rule, empty, codebook, codings) for rule in self.rules if rule.column == name)
            bounding = bounding_of(name, before, self.orders, codings, 1)
            by = (told[name],) if name in told else ()
            model = _Free(outlines[name], bounding, bool(by))
            found.append(_Drawn(name, by, model.fit, forced=forced, bounding=bounding))
            before.append(name)
        return found

    def _lawful(self, table: pl.DataFrame, codebook: Codebook, keys: StepKeys, copy: int) -> pl.DataFrame:
        """A copy in which rows that break a rule, as two rules contradict each other in them, are like others."""
        broken = np.zeros(table.height, dtype=np.bool_)
        for rule in self.rules:
            broken |= rule.breaking(table, codebook)
        if not broken.any():
            return table
        good = np.flatnonzero(~broken)
        if not len(good):
            raise DataError(CONTRADICTION)
        place = np.arange(table.height)
        u = keys.uniform("", "in place", copy)[broken]
        place[broken] = good[np.minimum((u * len(good)).astype(np.int64), len(good) - 1)]
        return table[place]


def _with_room(outlines: dict[str, Outline], order: Order) -> None:
    """Widen ranges that are learnt where no value of one column would be as low as the other's."""
    low, high = outlines[order.low], outlines[order.high]
    if low.coding.ends is None or high.coding.ends is None or low.coding.ends[0] < high.coding.ends[1]:
        return
    if low.coding.ends[0] == high.coding.ends[1] and not order.strict:
        return
    if high.learnt[1]:
        outlines[order.high] = high.between(high.coding.ends[0], max(low.coding.ends[1], high.coding.ends[1] + 1))
    elif low.learnt[0]:
        outlines[order.low] = low.between(min(high.coding.ends[0], low.coding.ends[0] - 1), low.coding.ends[1])
    else:
        raise DataError(NO_ROOM.format(text=order.text, low=order.low, high=order.high))


class _Drawn(Target):
    """A column whose model looks at its bounds by itself."""

    def model(self, column: Coded, seen: Sequence[Told], coding: Coding, weights: Floats | None) -> Model:
        """Nothing is fitted."""
        return self.fit(column, seen, coding, weights)


@dataclass(frozen=True)
class _Free:
    """A column that is drawn uniformly.

    Parameters
    ----------
    outline
        What is drawn.
    bounding
        The columns between which it lies.
    told
        Whether it hangs on the value of its first predictor alone.
    """

    outline: Outline
    bounding: Bounding | None
    told: bool

    def fit(self, column: Coded, predictors: Sequence[Told], coding: Coding, weights: Floats | None) -> Model:
        """Nothing is fitted."""
        return self

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """Draw the column, in the bounds of the columns that are told behind all others."""
        out, coding = self.outline, self.outline.coding
        gap = self._uniform("gap", predictors, draws) < out.share
        state = np.zeros(draws.rows, dtype=np.int64)
        u = self._uniform("value", predictors, draws)
        number = np.zeros(draws.rows)
        if out.categories:
            state = 1 + _placed(u, out.categories)
        else:
            low, high = self._between(predictors, draws.rows)
            none = low > high
            number = _on_grid(coding, u, np.where(none, high, low), high)
            gap |= none & bool(coding.special)  # of which the first is one
        state[gap] = 1 + out.categories + _placed(self._uniform("which gap", predictors, draws), max(out.gaps, 1))[gap]
        return Coded(state, np.where(gap, 0.0, number))

    def _uniform(self, part: str, predictors: Sequence[Told], draws: Drawing) -> Floats:
        """A draw for each row; of a column that another tells, one for each of that one's values, in every copy."""
        if not self.told:
            return draws.uniform(part)
        by = predictors[0].column
        many = int(by.state.max(initial=0)) + 1
        place = ((bits(by.number) * _MIX) >> _PLACES).astype(np.int64)
        all_of = draws.keys.numbered(draws.column, part, 0, many + 1024)
        return np.asarray(all_of[np.where(by.state > 0, 1023 + by.state, place)])

    def _between(self, predictors: Sequence[Told], rows: int) -> tuple[Floats, Floats]:
        """Least and largest number of each row; a bound, where it lies beyond the range."""
        coding = self.outline.coding
        ends = coding.ends or (0.0, 0.0)
        if self.bounding is None:
            return np.full(rows, ends[0]), np.full(rows, ends[1])
        _, told = self.bounding.parted(predictors)
        low, high, _ = self.bounding.interval(told, coding, rows)
        least, most = np.maximum(low, self.bounding.ends[0]), np.minimum(high, self.bounding.ends[1])
        beyond = (least > most) & (low <= high)  # within the bounds there is room, and none of it in the range
        if not coding.special:
            one = np.where(low > ends[1], low, high)
            least, most = np.where(beyond, one, least), np.where(beyond, one, most)
        return least, most


def _placed(u: Floats, many: int) -> NDArray[np.int64]:
    return np.minimum((u * many).astype(np.int64), many - 1)


def _on_grid(coding: Coding, u: Floats, low: Floats, high: Floats) -> Floats:
    """Numbers between two, each of a grid as likely as any other."""
    unit = coding.unit or 1.0
    first, last = np.ceil(low / unit - 1e-9), np.floor(high / unit + 1e-9)
    number = coding.rounded((first + np.floor(u * (last - first + 1))) * unit)
    return np.asarray(np.where(last < first, low, np.clip(number, low, high)))
