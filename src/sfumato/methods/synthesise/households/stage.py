"""The passes of `synthesise` with households, or persons: from a table to its copies, then a count of their rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import COPY, Synthetic
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts
from sfumato.draws import Draws, Purpose, units
from sfumato.errors import DataError
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.synthesise.households.members import Drawn, Members, person_units
from sfumato.methods.synthesise.households.original import Original
from sfumato.methods.synthesise.households.table import household_tables
from sfumato.methods.synthesise.stage import Making, shared_out

__all__ = ["MakingHouseholds"]

Words = NDArray[np.uint64]

NO_HOUSEHOLD = (
    "Column {household!r} says of some records no household, so that nobody knows whom to draw them with. Give whoever "
    "lives alone an id of their own, or leave these records out."
)
NO_PERSON = (
    "Column {household!r} says of some rows no person, so that nobody knows which rows to draw them with. Give them "
    "ids, or leave these rows out."
)
APART = (
    "`by` names {column!r}, which differs within some households, so that their members would be drawn apart. Give all "
    "members the same value, or leave the column out of `by`."
)
ROWS_APART = (
    "`by` names {column!r}, which differs between rows of some persons, so that these would be drawn apart. Give all "
    "rows of a person the same value, or leave the column out of `by`."
)


@dataclass(frozen=True)
class MakingHouseholds(Making):
    """What the step does where whole households are drawn, or whole persons; parameters as of `Making`.

    Persons are households whose members are rows in the order of time.

    Parameters
    ----------
    household
        The column of ids of households, or persons.
    head
        The column that says who is head.
    time
        The column in whose order a person's rows are; None where households are drawn.
    """

    household: str = ""
    head: str | None = None
    time: str | None = None

    def fit(self, answers: Sequence[pl.DataFrame]) -> dict[str, Any]:
        """What is disclosed; how many people the copies have is counted afterwards."""
        state = super().fit(answers)
        whole = "households" if self.time is None else "persons"
        told = state["told"].model_copy(update={whole: True})
        return {**state, "told": told, "records": int(answers[0].item(0, COUNT))}

    def transform(self, batch: pl.DataFrame, state: dict[str, Any], draws: StepDraws) -> pl.DataFrame:
        """The copies, each whole, one after the other; rows carry what was drawn once for a household to `counted`."""
        self._refuse(batch)
        shared = json.dumps(self._shared(batch) if batch.height else [])
        return super().transform(batch, state, draws).with_columns(pl.lit(shared, pl.String).alias(_SHARED))

    def _shared(self, batch: pl.DataFrame) -> list[str]:
        """The columns that are drawn once for all of a household: those that its members share in all strata."""
        own = batch if self.kind == "full" else batch.filter(pl.Series(self._chosen(batch)))
        homes = own[self.household].n_unique()
        return [n for n in self.synthesis.columns if own.select(self.household, n).n_unique() == homes]

    def _refuse(self, batch: pl.DataFrame) -> None:
        gone = batch.select(self.codebook.missing(self.household, batch.schema[self.household]).any())
        if gone.item():
            said = NO_HOUSEHOLD if self.time is None else NO_PERSON
            raise DataError(said.format(household=self.household))
        for column in self.by:
            if batch.select(self.household, column).n_unique() > batch[self.household].n_unique():
                raise DataError((APART if self.time is None else ROWS_APART).format(column=column))

    @property
    def _new_ids(self) -> tuple[str, ...]:
        return (*super()._new_ids, self.household)

    def _units(self, batch: pl.DataFrame, draws: StepDraws) -> Words:
        """The unit of each record; nobody's where rows are nobody's: weights are those of households."""
        return np.zeros(batch.height, dtype=np.uint64) if self.kind == "full" else draws.units(batch)

    def _original(self, own: pl.DataFrame, draws: Draws, unit: Words) -> Original:
        home, stays = units(own[self.household]), self.kind != "full"
        return Original(self.synthesis, own, self.codebook, draws, home, unit, self.head, time=self.time, stays=stays)

    def _drawn_anew(self, own: pl.DataFrame, draws: Draws, unit: Words) -> list[pl.DataFrame]:
        """The columns of true people, whose households stay, in the order of the rows."""
        original = self._original(own, draws, unit)
        members = Members(original)
        tables = household_tables(original, None)
        back = np.argsort(original.rows)
        return [members.draw(table, copy, None).frame[back] for copy, table in enumerate(tables)]

    def _anew(self, batch: pl.DataFrame, draws: Draws, unit: Words) -> list[pl.DataFrame]:
        """People who are nobody, stratum by stratum, in households that are nobody's, with new ids of both.

        As many households are drawn as `rows` people have among the original's.
        """
        strata = list(self._strata(batch))
        sizes = shared_out(self.rows or batch.height, [len(rows) for rows in strata])
        parts: list[list[pl.DataFrame]] = []
        start = 0
        for rows, size in zip(strata, sizes, strict=True):
            own = batch[rows]
            original = self._original(own, draws, unit[rows])
            many = max(1, round(size * len(original.units) / len(rows)))
            numbers = np.arange(start + 1, start + many + 1, dtype=np.uint64)
            members = Members(original)
            tables = household_tables(original, numbers)
            same = [pl.lit(own[name][0], dtype=own.schema[name]).alias(name) for name in self.by]
            made = (members.draw(table, copy, numbers) for copy, table in enumerate(tables))
            parts.append([self._with_ids(one, numbers).with_columns(same) for one in made])
            start += many
        copies = [pl.concat([part[i] for part in parts]) for i in range(self.synthesis.copies)]
        return [
            self._mixed(copy, i, draws).select(n for n in batch.columns if n in (*copy.columns, self.record))
            for i, copy in enumerate(copies)
        ]

    def _with_ids(self, drawn: Drawn, numbers: Words) -> pl.DataFrame:
        """People with the number of their household, and their units."""
        homes = pl.Series(self.household, numbers[drawn.layout.whose].astype(np.int64))
        return drawn.frame.with_columns(homes, pl.Series(_UNIT, person_units(drawn.layout, numbers)))

    def _mixed(self, people: pl.DataFrame, copy: int, draws: Draws) -> pl.DataFrame:
        """People in an order that does not tell who lives with whom, nor does their number in it.

        A person's rows stay together, in the order of time: persons are nobody, one drawn as any other.
        """
        if self.time is None:
            what = Purpose(self.synthesis.method, "", f"order|{self.synthesis.strength}", copy)
            people = people[draws.permutation(people[_UNIT].to_numpy(), what)]
        mixed = people.drop(_UNIT)
        return (
            mixed if self.record is None else mixed.with_columns(pl.Series(self.record, np.arange(1, mixed.height + 1)))
        )

    def counted(self, state: dict[str, Any]) -> Stage:
        """A look at the copies, by which their size beside the original's is disclosed, and what was drawn once."""
        several = self.synthesis.copies > 1

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, Any]:
            told: Synthetic = state["told"]
            sizes, shared = answers
            if self.kind == "full":
                ratio = float(np.mean(sizes[COUNT].to_numpy())) / state["records"]
                told = told.model_copy(update={"ratio": float(f"{ratio:.3g}")})
            return {"told": told, "shared": json.loads(shared[_SHARED][0]) if shared.height else []}

        questions = (Counts((COPY,) if several else ()), Counts((_SHARED,)))
        return Stage(lambda batch, state, draws: batch.drop(_SHARED), questions, fit, by=None)


_UNIT = HIDDEN + "unit"
_SHARED = HIDDEN + "shared"
