"""The stages of `swap` within groups: each value becomes that of a donor among similar records, then what stands out
is moved, then the custodian is told what that did.

In between hidden columns travel with the rows: whose value each set of columns bears, and columns before and after as
numbers, by which correlations are compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.hidden import HIDDEN, OWN
from sfumato.data.query import COUNT, Counts, Moments
from sfumato.data.roles import Role
from sfumato.errors import DataError
from sfumato.kernels.grid import round_to_multiple
from sfumato.kernels.masking.near_ranks import Ranked
from sfumato.kernels.masking.survivors import Near, combined, move_survivors
from sfumato.kernels.neighbours.similar import similar_groups
from sfumato.kernels.rows import scatter
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.drawn_grid import column_steps, time_unit
from sfumato.methods.swap.coding import coded, coordinates, own_units
from sfumato.methods.swap.relations import MOST, Numbering, counts_of, hidden, products, shift
from sfumato.methods.swap.stages import Telling, compared
from sfumato.methods.swap.values import value_bits

__all__ = ["Done", "Exchanging", "Learned", "Summing", "donor"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

MOVED = f"{HIDDEN}survivor"
_FEWEST_GROUPS = 3


def donor(first: str) -> str:
    """Hidden column with the words of the records whose values a set of columns bears, by the set's first column."""
    return f"{HIDDEN}donor:{first}"


@dataclass(frozen=True)
class Learned:
    """Multiples of the numbers that are drawn anew, by column; how columns are told as numbers, their means and sds."""

    steps: Mapping[str, float] = field(default_factory=dict)
    numbering: Numbering = field(default_factory=Numbering)
    scale: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Exchanging:
    """Exchange values within groups of one stratum; see `Swap` for the parameters."""

    codebook: Codebook
    columns: tuple[str, ...]
    group: int
    by: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    perturb: float | None = None

    def stage(self) -> Stage:
        """Count the strata and look at numbers that are drawn anew; then the pass."""
        counted = counts_of(Numbering.asked(self.columns, self.codebook))
        moments = (Moments(self._numeric),) if self._numeric else ()
        return Stage(self.transform, (Counts((*self.by, *self._person)), *counted, *moments), self.fit, by=self.by)

    @property
    def _person(self) -> tuple[str, ...]:
        """The column that says whom several records are about, where there is one: groups are of persons then."""
        return self.codebook.with_role(Role.PERSON)

    @property
    def _numeric(self) -> tuple[str, ...]:
        return tuple(n for n in self.columns if self.codebook[n].numeric)

    def _drawn(self, column: str) -> bool:
        """Whether a column's numbers are drawn anew: weights are not."""
        return self.perturb is not None and self.codebook[column].role != Role.WEIGHT

    def fit(self, answers: Sequence[pl.DataFrame]) -> Learned:
        """Refuse strata that are too small; learn multiples, and the values of categories."""
        size = pl.len() if self._person else pl.col(COUNT).sum()
        sizes = (answers[0].group_by(self.by).agg(size) if self.by else answers[0].select(size))[:, -1].to_numpy()
        if sizes.sum():
            self._refuse_few(sizes)
        asked = Numbering.asked(self.columns, self.codebook)
        numbering = Numbering.of(asked, answers[1 : len(asked) + 1])
        rows = [row for answer in answers[len(asked) + 1 :] for row in answer.iter_rows(named=True)]
        steps = column_steps(row for row in rows if self._drawn(row["variable"]))
        scale = {row["variable"]: (row["mean"] or 0.0, float(np.sqrt(row["variance"] or 0.0)) or 1.0) for row in rows}
        return Learned(steps, numbering, scale)

    def _refuse_few(self, sizes: Ints) -> None:
        if (sizes < self.group).any():
            where = f"some combinations of {', '.join(self.by)} have" if self.by else "this table has"
            raise DataError(
                f"swap: {where} fewer than {self.group} records, so that no group can be formed. "
                f"Use {'fewer or broader columns in `by`, or ' if self.by else ''}a smaller `group`."
            )
        if int((sizes // self.group).sum()) < _FEWEST_GROUPS:
            raise DataError(
                f"swap: there are fewer than {_FEWEST_GROUPS} groups of {self.group} records, so that exchanged values "
                "would be like any others. Use a smaller `group`."
            )

    def transform(self, batch: pl.DataFrame, state: Learned, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a stratum."""
        if batch.is_empty():
            return self._with_hidden(batch, batch, state, np.zeros((0, len(self.sets) + 1), dtype=np.uint64), [])
        unit = own_units(batch, draws)
        keyed = draws.draws.words(unit, draws.purpose("", f"group {self.group} by {self.by!r}"))
        order = np.lexsort((keyed[:, 1], keyed[:, 0]))
        there = batch[order]
        one = _Stratum(self, there, unit[order], keyed[order, 0], draws, state.steps)
        source, moved = one.exchanged()
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        new = there.with_columns(one.released(n, source) for n in self.columns)[back]
        words = np.column_stack([one.words[source], one.words])[back]
        return self._with_hidden(batch, new, state, words, moved[back].astype(np.float64))

    def _with_hidden(
        self, batch: pl.DataFrame, new: pl.DataFrame, state: Learned, words: Words, moved: Any
    ) -> pl.DataFrame:
        """The new rows, with what the custodian is told of, and who gave which set."""
        told = [s for n in self.columns for s in compared(self.codebook, batch[n], new[n])]
        told.append(pl.Series(MOVED, moved, dtype=pl.Float64))
        names = [*(donor(each[0]) for each in self.sets), OWN]
        told += [pl.Series(n, words[:, j], dtype=pl.UInt64) for j, n in enumerate(names)]
        for side, frame in (("was", batch), ("is", new)):
            told += state.numbering.numbers(frame, self.columns, self.codebook, side)
        return batch.with_columns(*(new[n] for n in self.columns), *told)


@dataclass(frozen=True)
class Done:
    """What the exchange came to."""

    notes: tuple[str, ...]
    moved: float
    relations_shift: float | None


@dataclass(frozen=True)
class Summing:
    """Tell what the exchange did to columns and to their correlations, and take the hidden columns out."""

    codebook: Codebook
    columns: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    learned: Learned

    def stage(self) -> Stage:
        """The look and the pass."""
        told = Telling(self.codebook, self.columns).stage()
        levels = self.learned.numbering.levels
        scale = {**self.learned.scale} | {n: ((len(v) - 1) / 2, max(len(v) - 1, 1) / 2) for n, v in levels.items()}
        related = [
            products([hidden(side, n) for n in self._related], {hidden(side, n): of for n, of in scale.items()})
            for side in ("was", "is")
        ]
        return Stage(self.transform, (*told.queries, Moments((MOVED,)), *related), self.fit)

    @property
    def _related(self) -> list[str]:
        levels = self.learned.numbering.levels
        return [n for n in self.columns[:MOST] if n in levels or n in self.learned.scale]

    def fit(self, answers: Sequence[pl.DataFrame]) -> Done:
        """What is said of each column, and the shares that are disclosed."""
        looked, moved, before, after = answers
        notes = Telling(self.codebook, self.columns).fit([looked])
        return Done(notes, moved["mean"].item() or 0.0, shift(before, after, len(self._related)))

    def transform(self, batch: pl.DataFrame, state: Done, draws: StepDraws) -> pl.DataFrame:
        """The rows without hidden columns of this method."""
        own = {MOVED, OWN, *(donor(each[0]) for each in self.sets)}
        own |= {hidden(side, n) for side in ("was", "is") for n in self.columns}
        return Telling(self.codebook, self.columns).transform(batch.drop(own, strict=False), state.notes, draws)


class _Stratum:
    """One stratum, its rows in an order that draws chose."""

    def __init__(
        self,
        step: Exchanging,
        rows: pl.DataFrame,
        unit: Words,
        words: Words,
        draws: StepDraws,
        steps: Mapping[str, float],
    ) -> None:
        self.step, self.rows, self.unit, self.words, self.draws, self.steps = step, rows, unit, words, draws, steps
        self.known = coded(rows, step.columns, step.codebook)
        self.points = coordinates(self.known, step.codebook)
        self.group, self.block, self.person = self._groups()
        self.at = {n: s for s, each in enumerate(step.sets) for n in each}
        self.anew = {n: _Anew(self, n) for n in self.known.numbers if step._drawn(n)}

    def _groups(self) -> tuple[Ints, Ints, Ints]:
        """Group and block of each row, and whose row it is, from 0 on; persons are alike by their mean."""
        if not self.step._person:
            return *similar_groups(self.points, self.step.group), np.arange(len(self.points))
        ids = self.rows[self.step._person[0]]
        numbered = ids.to_frame("id").with_row_index("row")
        first = numbered.select(pl.col("row").first().over("id")).to_series().to_numpy()
        person = np.unique(first, return_inverse=True)[1]  # in the order of rows, which draws chose
        means = np.column_stack([np.bincount(person, x) for x in self.points.T]) / np.bincount(person)[:, None]
        group, block = similar_groups(means, self.step.group)
        return group[person], block[person], person

    def exchanged(self) -> tuple[Ints, NDArray[np.bool_]]:
        """The row whose values each row takes, by set, and the rows whose combination had survived."""
        columns = self.step.columns
        categories = [j for j, n in enumerate(columns) if n in self.known.codes]
        views = [categories, range(len(columns))] if 0 < len(categories) < len(columns) else [range(len(columns))]
        sets = [[columns.index(n) for n in each] for each in self.step.sets]
        original = self._numbered(columns, self.known.codes, self.known.numbers)
        near = Near(self.points, self.group, self.block, self.words)
        return move_survivors(self._donors(), original, self._told, sets, views, near)

    def _donors(self) -> Ints:
        """For each row and set a row of a member of the row's group, each member as likely, shape (n, sets)."""
        own = scatter(self.words ^ value_bits([self.rows[n] for n in self.step.columns]))
        signature = np.zeros(self.group.max() + 1, dtype=np.uint64)
        np.add.at(signature, self.group, scatter(own))  # who is in a group, and with which values
        out = np.empty((len(own), len(self.step.sets)), dtype=np.int64)
        for s, each in enumerate(self.step.sets):
            purpose = self.draws.purpose(repr(each), f"group {self.step.group} by {self.step.by!r}")
            u = self.draws.draws.uniform(self.unit, purpose, signature[self.group])
            out[:, s] = self._picked(u)
        return out

    def _picked(self, u: Floats) -> Ints:
        """A row of the group of each: first whose, then which of theirs, by one draw."""
        of_person = np.zeros(self.person.max() + 1, dtype=np.int64)
        of_person[self.person] = self.group
        people, first, size = _listed(of_person)
        rows, start, records = _listed(self.person)
        place = u * size[self.group]
        which = np.minimum(place.astype(np.int64), size[self.group] - 1)
        donor = people[first[self.group] + which]
        own = np.minimum(((place - which) * records[donor]).astype(np.int64), records[donor] - 1)
        return np.asarray(rows[start[donor] + own])

    def _told(self, s: int, rows: Ints, donors: Ints) -> Ints:
        """Numbers of the values that rows would have of a set from these donors, shape (m, columns of the set)."""
        columns = self.step.sets[s]
        codes = {n: self.known.codes[n][donors] for n in columns if n in self.known.codes}
        numbers = {n: self._number(n, rows, donors) for n in columns if n in self.known.numbers}
        return self._numbered(columns, codes, numbers)

    @staticmethod
    def _numbered(columns: Sequence[str], codes: Mapping[str, Ints], numbers: Mapping[str, Floats]) -> Ints:
        """Numbers of values, equal for equal ones, shape (n, p)."""
        bits = {n: np.where(np.isnan(x), np.nan, x + 0.0).view(np.int64) for n, x in numbers.items()}
        return np.column_stack([codes[n] if n in codes else bits[n] for n in columns])

    def _number(self, column: str, rows: Ints, donors: Ints) -> Floats:
        """The numbers that rows would have from these donors."""
        return self.anew[column](rows, donors) if column in self.anew else self.known.numbers[column][donors]

    def released(self, column: str, source: Ints) -> pl.Series:
        """The new values of a column."""
        value = self.rows[column].gather(source[:, self.at[column]])
        if column not in self.anew:
            return value
        number = self._number(column, np.arange(len(source)), source[:, self.at[column]])
        rows = np.flatnonzero(~np.isnan(number))  # gaps stay the gaps that they were
        known = pl.Series(number[rows]).cast(value.to_physical().dtype).cast(value.dtype)
        return value.scatter(pl.Series(rows), known) if len(rows) else value


def _listed(of: Ints) -> tuple[Ints, Ints, Ints]:
    """Places by what they belong to; where those of each begin, and how many they are."""
    sizes = np.bincount(of)
    return np.argsort(of, kind="stable"), np.cumsum(sizes) - sizes, sizes


class _Anew:
    """Draws the numbers of a column anew, between those some ranks below and above among the same categories.

    Keyed on the row that gets them, for several may have one donor; and on all values, so that no two releases of
    nearly the same people can be put side by side.
    """

    def __init__(self, stratum: _Stratum, column: str) -> None:
        step, draws = stratum.step, stratum.draws
        self.x = stratum.known.numbers[column]
        beside = [n for n in step.sets[stratum.at[column]] if n in stratum.known.codes]
        label = combined(np.column_stack([stratum.known.codes[n] for n in beside])) if beside else None
        labels = np.zeros(len(self.x), dtype=np.int64) if label is None else np.unique(label, return_inverse=True)[1]
        self.ranked = Ranked.of(self.x, labels)
        dtype = stratum.rows[column].dtype
        self.step = time_unit(dtype) if dtype.is_temporal() else stratum.steps.get(column)
        self.share = step.perturb or 0.0
        among = hashlib.sha256(np.sort(self.x).tobytes()).hexdigest()
        purpose = draws.purpose(
            column, f"perturb {self.share!r} in groups of {step.group} by {step.by!r} among {among}"
        )
        word = draws.draws.words(stratum.unit, purpose)
        self.u, self.ties = (((word[:, j] >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52 for j in (0, 1))

    def __call__(self, rows: Ints, donors: Ints) -> Floats:
        """The new numbers of rows that have their values from these donors, shape (m,)."""
        out = self.x[donors]
        there = np.flatnonzero(~np.isnan(out))
        mine, theirs = rows[there], donors[there]
        new = self.ranked.anew(theirs, self.share, self.ties[mine], self.u[mine])
        out[there] = new if self.step is None else self._on_grid(new, self.step, *self.ranked.bounds(theirs))
        return out

    @staticmethod
    def _on_grid(new: Floats, step: float, low: Floats, high: Floats) -> Floats:
        """Multiples of a step; where one lies beyond all values of its categories, the next one within."""
        there = round_to_multiple(new, step)
        there = np.where(there > high, round_to_multiple(there - step, step), there)
        return np.asarray(np.where(there < low, round_to_multiple(there + step, step), there))
