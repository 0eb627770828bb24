"""The pass of `synthesise`: from a table to its copies, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import COPY, Synthetic
from sfumato.data.expression import Expression
from sfumato.data.hidden import CARRIED, HIDDEN, ROW
from sfumato.data.query import COUNT, Counts, Folded, Moments
from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.drawn_grid import column_steps
from sfumato.methods.synthesise.copies import Ruled, Synthesis
from sfumato.methods.synthesise.lookup import Lookup
from sfumato.methods.synthesise.ordered import Order

__all__ = ["MISSING", "Making", "Replaces", "shared_out"]

Words = NDArray[np.uint64]

MISSING = "missing"
"""The condition of missing cells."""
Replaces = Literal["full", "partial", "missing"]
"""Whether all columns are synthetic, some of true people, or missing cells alone."""

NONE_THERE = "No record meets `where`, so there is nothing to draw."
TOO_FEW_ROWS = "`rows` leaves a combination of `by` without any row: take more, or fewer strata."


@dataclass(frozen=True)
class Making:
    """What the step does, with its columns resolved.

    Parameters
    ----------
    synthesis
        What is drawn from what.
    kind
        What is replaced.
    by
        Strata.
    rows
        Rows of a copy; None for as many as there are records.
    where
        The records that are drawn for; None for all.
    derived
        Columns that are computed, in an order in which they can be.
    record
        The column of record ids, if there is one.
    codebook
        Of the table.
    """

    synthesis: Synthesis
    kind: Replaces
    by: tuple[str, ...]
    rows: int | None
    where: Expression | None
    derived: tuple[tuple[str, Expression], ...]
    record: str | None
    codebook: Codebook

    def stage(self) -> Stage:
        """One pass over the whole table."""
        rules = [self._breaking()] if self._told_apart else []
        lookups = [self._exceptions(lookup) for lookup in self.synthesis.lookups]
        amounts = [Moments(self._between)] if self._between else []
        return Stage(self.transform, (Counts(()), *rules, *lookups, *amounts), self.fit, by=())

    @property
    def _between(self) -> tuple[str, ...]:
        """The columns of numbers that are drawn between true ones."""
        return tuple(n for n in self.synthesis.columns if self.synthesis.smooth and self.codebook[n].numeric)

    @property
    def _told_apart(self) -> tuple[Ruled | Order, ...]:
        """What each record keeps or breaks by itself."""
        return (*self.synthesis.rules, *self.synthesis.orders)

    def _breaking(self) -> Folded:
        """The question how many records of the original break each rule, and each order."""
        rules, book, where = self._told_apart, self.codebook, self.where
        names = (*(n for rule in rules for n in rule.names), *(where.names if where else ()))

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            if where is not None:
                batch = batch.filter(where.polars(book, batch.schema).fill_null(False).cast(pl.Boolean))
            return pl.DataFrame({str(i): [rule.broken(batch, book)] for i, rule in enumerate(rules)})

        return Folded(tuple(dict.fromkeys(names)), f, lambda frames: frames.sum())

    def _exceptions(self, lookup: Lookup) -> Folded:
        """The question how many records of the original have each pair of values of which one tells the other."""
        return Folded(lookup.names, lookup.counted, lambda frames: frames.group_by("y", "x").agg(pl.col("many").sum()))

    def fit(self, answers: Sequence[pl.DataFrame]) -> dict[str, Any]:
        """What is disclosed, and how often the original breaks rules."""
        records = int(answers[0].item(0, COUNT))
        ratio = (self.rows or records) / records if records and self.kind == "full" else 1.0
        structure = self.synthesis.structure
        steps = column_steps(answers[-1].iter_rows(named=True)) if self._between else {}
        told = Synthetic(
            columns=(*self.synthesis.columns, *(name for name, _ in self.derived)),
            kind=self.kind,
            copies=self.synthesis.copies,
            ratio=1.0 if structure else float(f"{ratio:.3g}"),  # which would tell how many records there are
            proper=self.synthesis.proper,
            by=self.by,
            structure=structure,
            rounded=steps,
        )
        broken: Counter[str] = Counter()
        for i, rule in enumerate(self._told_apart):
            broken[rule.text] += int(answers[1].item(0, str(i)))
        first = len(answers) - len(self.synthesis.lookups) - bool(self._between)
        for lookup, counts in zip(self.synthesis.lookups, answers[first:], strict=False):
            broken[lookup.text] += lookup.broken(counts)
        kept = [*(order.text for order in self.synthesis.orders), *(one.text for one in self.synthesis.lookups)]
        return {"told": told, "broken": broken, "kept": kept}

    def transform(self, batch: pl.DataFrame, state: dict[str, Any], draws: StepDraws) -> pl.DataFrame:
        """The copies, each whole, one after the other."""
        synthesis = replace(self.synthesis, steps=state["told"].rounded)
        return replace(self, synthesis=synthesis.learnt(batch) if batch.height else synthesis)._made(batch, draws)

    def _made(self, batch: pl.DataFrame, draws: StepDraws) -> pl.DataFrame:
        unit = self._units(batch, draws)
        if batch.is_empty():  # of no records only the columns are wanted
            copies = [self._like_copies(batch)] * self.synthesis.copies
        elif self.kind == "full":
            copies = self._anew(batch, draws.draws, unit)
        else:
            rows = self._chosen(batch)
            copies = list(self._replaced(batch, rows, draws.draws, unit))
        copies = [self._computed(copy) for copy in copies]
        several = len(copies) > 1
        numbers = [pl.lit(i + 1, dtype=pl.Int64).alias(COPY) for i in range(len(copies))]
        told = [
            copy.select(number, pl.all()) if several else copy for copy, number in zip(copies, numbers, strict=True)
        ]
        return self._numbered(pl.concat(told), batch)

    def _like_copies(self, batch: pl.DataFrame) -> pl.DataFrame:
        """A copy without rows."""
        if self.kind != "full":
            return batch
        made = {*self.synthesis.given, *self.synthesis.columns, *self.by, *self._new_ids}
        ids = [pl.col(n).cast(pl.Int64) for n in self._new_ids]
        out = batch.select(n for n in batch.columns if n in made).with_columns(ids)
        return self.synthesis.like(out, self.codebook)

    @property
    def _new_ids(self) -> tuple[str, ...]:
        """The columns of ids of people who are nobody."""
        return () if self.record is None else (self.record,)

    def _units(self, batch: pl.DataFrame, draws: StepDraws) -> Words:
        """The unit of each record; nobody's where rows are nobody's and no weights are drawn."""
        if self.kind == "full" and not self.synthesis.proper:
            return np.zeros(batch.height, dtype=np.uint64)
        return draws.units(batch)

    def _chosen(self, batch: pl.DataFrame) -> NDArray[np.bool_]:
        if self.where is None:
            return np.ones(batch.height, dtype=bool)
        held = batch.select(self.where.polars(self.codebook, batch.schema).fill_null(False).alias("held"))["held"]
        rows = held.cast(pl.Boolean).to_numpy()
        if not rows.any():
            raise DataError(NONE_THERE)
        return rows

    def _anew(self, batch: pl.DataFrame, draws: Draws, unit: Words) -> list[pl.DataFrame]:
        """Rows that are nobody's, stratum by stratum, with new ids."""
        strata = list(self._strata(batch))
        sizes = shared_out(self.rows or batch.height, [len(rows) for rows in strata])
        parts: list[list[pl.DataFrame]] = []
        start = 0
        for rows, size in zip(strata, sizes, strict=True):
            units = np.arange(start + 1, start + size + 1, dtype=np.uint64)
            own = batch[rows]
            made = self.synthesis.copied(own, self.codebook, draws, unit[rows], units)
            same = [pl.lit(own[name][0], dtype=own.schema[name]).alias(name) for name in self.by]
            parts.append([copy.with_columns(same) for copy in made])
            start += size
        copies = [pl.concat([part[i] for part in parts]) for i in range(self.synthesis.copies)]
        if self.record is not None:
            ids = pl.Series(self.record, np.arange(1, start + 1))
            copies = [copy.with_columns(ids) for copy in copies]
        return [copy.select(n for n in batch.columns if n in copy.columns) for copy in copies]

    def _replaced(
        self, batch: pl.DataFrame, chosen: NDArray[np.bool_], draws: Draws, unit: Words
    ) -> Iterator[pl.DataFrame]:
        """The same people, with some of their values drawn."""
        copies = [batch] * self.synthesis.copies
        own = batch.filter(pl.Series(chosen))
        places = np.flatnonzero(chosen)
        for rows in self._strata(own):
            part = own[rows]
            own_unit = unit[places[rows]]
            for i, copy in enumerate(self._drawn_anew(part, draws, own_unit)):
                new = [
                    copies[i][name].scatter(places[rows], copy[name])
                    if not chosen.all() or self.by
                    else copy[name].alias(name)
                    for name in self.synthesis.columns
                ]
                copies[i] = copies[i].with_columns(new)
        yield from copies

    def _drawn_anew(self, own: pl.DataFrame, draws: Draws, unit: Words) -> list[pl.DataFrame]:
        """The columns of true people, in the order of the rows."""
        if self.kind == "missing":
            return self.synthesis.filled(own, self.codebook, draws, unit)
        return self.synthesis.copied(own, self.codebook, draws, unit, None)

    def _strata(self, frame: pl.DataFrame) -> Iterator[NDArray[np.int64]]:
        """Rows of each stratum; strata in the order of their values."""
        if not self.by:
            yield np.arange(frame.height)
            return
        codes = frame.select(pl.struct(pl.col(n).cast(pl.String) for n in self.by).rank("dense").alias("s"))["s"]
        number = codes.to_numpy()
        order = np.argsort(number, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(number[order])) + 1)

    def _computed(self, copy: pl.DataFrame) -> pl.DataFrame:
        for name, formula in self.derived:
            copy = copy.with_columns(formula.polars(self.codebook, copy.schema).alias(name))
        return copy

    def _numbered(self, copies: pl.DataFrame, batch: pl.DataFrame) -> pl.DataFrame:
        """With the run's own numbers: rows that are nobody's have none of the original's."""
        start = batch.height if self.kind == "full" else 0
        if self.kind == "full":
            batch = batch.drop(n for n in batch.columns if n.startswith(CARRIED))  # nobody's rows were nothing
        for name in (n for n in batch.columns if n.startswith(HIDDEN) and not n.startswith(CARRIED)):
            if name != ROW or self.kind == "full":
                new = pl.Series(name, np.arange(start, start + copies.height), dtype=batch.schema[name])
                copies = copies.with_columns(new)
        order = dict.fromkeys((COPY, *batch.columns, *copies.columns))
        return copies.select(n for n in order if n in copies.columns)


def shared_out(rows: int, sizes: Sequence[int]) -> list[int]:
    """Rows for each stratum in proportion to its records: whole ones, then the largest remainders."""
    free = np.array(sizes) * (rows / sum(sizes))
    out = np.floor(free).astype(int)
    for i in np.argsort(-(free - out), kind="stable")[: rows - int(out.sum())]:
        out[i] += 1
    if (out == 0).any():
        raise DataError(TOO_FEW_ROWS)
    return [int(size) for size in out]
