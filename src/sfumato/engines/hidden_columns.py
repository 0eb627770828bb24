"""Both sides of records whose rows are not in memory: true values travel beside released ones, in hidden columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.disclosure import COPY, Disclosure
from sfumato.data.hidden import HIDDEN, ROW, VIEW, WAS, leaving
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.data.roles import Role
from sfumato.data.sides import Rows
from sfumato.draws import PUBLIC, Purpose, public_places, sortable, units, units_of, written

__all__ = ["HiddenColumns"]

T = TypeVar("T")
_WORD, _UNIT = f"{HIDDEN}sample:word", f"{HIDDEN}sample:unit"
_STRATA = Purpose("measured strata")
_SPARE = 1.2
"""Records that are kept of each batch, beside those that are needed in the mean: that too few are is all but never."""
_REBUILT = f"{VIEW}unscaled:"
"""Before the names of columns that hold what an attacker could rebuild."""


@dataclass(frozen=True)
class HiddenColumns:
    """What a run left behind, as measures ask for it: `sfumato.data.sides.Sides`.

    Parameters
    ----------
    given, before, after
        The table before anything in it was coarsened or masked; as it entered the first step that masks; the result,
        with hidden columns.
    disclosure
        What the release tells, which says whether its records are somebody's.
    number
        Which copy this is, of several synthetic ones.
    entering
        The table as it was read.
    """

    given: Parted
    before: Parted
    after: Parted
    disclosure: Disclosure
    number: int = 0
    entering: Parted = field(kw_only=True)
    _known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def codebook(self) -> Codebook:
        """What is known of the columns before and after."""
        return Codebook({**self.before.codebook, **self.after.codebook})

    @property
    def record(self) -> str | None:
        """The column of the result that holds the id which a record had before it was masked."""
        record = self.before.codebook.the(Role.RECORD)
        if record is None:
            return None
        return next((n for n in (f"{WAS}{record}", record) if n in self.after.schema), None)

    def copies(self) -> Sequence[HiddenColumns]:
        """As if each synthetic copy were the result; itself where there is one. Copies know one another."""
        return self.once("copies", self._copies)

    def _copies(self) -> list[HiddenColumns]:
        synthetic = self.disclosure.synthetic
        if synthetic is None or synthetic.copies == 1 or COPY not in self.after.schema:
            return [self] * (synthetic.copies if synthetic is not None else 1)
        tables = (self.given, self.before, self.after)

        def copy(i: int) -> HiddenColumns:
            given, before, after = (_copy(data, i + 1) if COPY in data.schema else data for data in tables)
            return HiddenColumns(given, before, after, self.disclosure, i, self._known, entering=self.entering)

        return [copy(i) for i in range(synthetic.copies)]

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """What is worked out of these records, worked out once, for all copies."""
        if what not in self._known:
            self._known[what] = make()
        known: T = self._known[what]
        return known

    def true(self, name: str) -> str:
        """The column of the result that holds what `name` was."""
        return f"{WAS}{name}" if f"{WAS}{name}" in self.after.schema else name

    def rebuilt(self, name: str) -> str:
        """The column of the result that holds what an attacker could rebuild of `name`; itself where there is none."""
        return f"{_REBUILT}{name}" if f"{_REBUILT}{name}" in self.after.schema else name

    def whole(self) -> Rows | None:
        """All records, of a small table; None where these cannot be told by their ids."""
        synthetic = self.disclosure.synthetic
        given, before, after = (_collected(each) for each in (self.given, self.before, self.after))
        read, whole = _collected(self.entering), after
        if synthetic is not None and synthetic.kind == "full":
            after = after.select(leaving(self.after.codebook))
            return Rows(_numbered(given), _numbered(before), _numbered(after), entering=read, gaps=whole)
        true, record = self.record, self.before.codebook.the(Role.RECORD)
        if true is None or record is None or record not in before.columns:
            return None
        rows = before.select(record).sort(record).unique(maintain_order=True).with_row_index(ROW)
        after = after.join(rows, left_on=true, right_on=record, how="inner", validate="m:1")
        before = before.join(rows, on=record, how="inner", validate="m:1")
        return replace(self._in_order(_numbered(given), before, after), entering=read, gaps=whole)

    def sample(self, most: int) -> Rows | None:
        """A sample of the records; None where they cannot be told by their ids.

        They are those with the smallest public draws of their ids: the same on every engine and in any order of rows.
        `given` is as `before`; records that steps left out are in none of the tables.
        """
        true = self.record
        if true is None or self.disclosure.synthetic is not None:
            return None
        n = int(self.after.ask(Counts(())).item(0, COUNT))
        after = _smallest(self.after, true, most, min(1.0, _SPARE * most / n))
        if after.height < min(most, n):
            after = _smallest(self.after, true, most, 1.0)
        return replace(self._beside(after.drop(_WORD, _UNIT), true), entering=self._read(after[true]))

    def strata(self, by: Sequence[str], most: int) -> Rows | None:
        """A sample of whole strata: whoever looks for a record in its stratum finds as often there as among all.

        They are those with the smallest public draws of their labels, as many as have `most` records together; one that
        is larger by itself is passed over. None where there are none, or as in `sample`.

        Raises
        ------
        TooManyGroups
            Where there are more strata than can be held.
        """
        true = self.record
        if true is None or not by or self.disclosure.synthetic is not None:
            return None
        sizes = self.after.ask(Counts(tuple(by))).filter(pl.col(COUNT) <= most)
        words = PUBLIC.words(units(_labels(sizes, by)), _STRATA)[:, 0]
        drawn = sizes.with_columns(pl.Series(_WORD, sortable(words))).sort(_WORD, *by)
        chosen = drawn.filter(pl.col(COUNT).cum_sum() <= most).select(by)
        if chosen.is_empty():
            return None

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            return batch.join(chosen, on=list(by), how="semi", nulls_equal=True)

        return self._beside(self.after.ask(Folded(tuple(self.after.schema), f, lambda frames: frames)), true)

    def _read(self, ids: pl.Series) -> pl.DataFrame | None:
        """Some records as they were read; None where steps replaced the ids before they were masked."""
        record = self.entering.codebook.the(Role.RECORD)
        if record is None or self.entering.schema[record] != ids.dtype:
            return None
        wanted = ids.alias(record).to_frame()

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            return batch.join(wanted, on=record, how="semi")

        found = self.entering.ask(Folded(tuple(self.entering.schema), f, lambda frames: frames))
        return found.sort(record) if found.height == ids.len() else None

    def _beside(self, after: pl.DataFrame, true: str) -> Rows:
        """Records of the result with what they were, as a run in memory has them, in the order of their ids."""
        after = after.sort(true).with_row_index(ROW)
        names = [n for n in self.before.schema if f"{WAS}{n}" in after.columns or n in after.columns]
        was = [(pl.col(f"{WAS}{n}") if f"{WAS}{n}" in after.columns else pl.col(n)).alias(n) for n in names]
        before = after.select(ROW, *was)
        return self._in_order(before, before, after)

    def _in_order(self, given: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame) -> Rows:
        """The tables in the order of the records' numbers, with what an attacker could compute by name."""
        after = after.sort(ROW, maintain_order=True)
        views: dict[str, dict[str, str]] = {}
        for n in after.columns:
            if n.startswith(VIEW):
                view, _, column = n.removeprefix(VIEW).partition(":")
                views.setdefault(view, {})[n] = column
        found = {view: after.select(ROW, *names).rename(names) for view, names in views.items()}
        return Rows(given, before.sort(ROW), after.select(ROW, *leaving(self.after.codebook)), found)


def _labels(strata: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """A text for each stratum, the same on every engine; a missing value is unlike any text."""
    texts = [written(strata[n]).alias(str(i)) for i, n in enumerate(by)]
    lengths = [pl.col(t.name).str.len_chars().cast(pl.String) for t in texts]
    parts = [pl.concat_str(n, pl.lit(":"), t.name).fill_null("-") for n, t in zip(lengths, texts, strict=True)]
    return pl.DataFrame(texts).select(pl.concat_str(parts, separator=",").alias("label")).to_series()


def _collected(data: Parted) -> pl.DataFrame:
    return pl.concat(list(data.batches()))


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_row_index(ROW)


def _copy(data: Parted, number: int) -> Parted:
    """One copy of a table that holds several."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.filter(pl.col(COPY) == number).drop(COPY)

    return data.map(f, codebook=data.codebook.without(COPY))


def _smallest(data: Parted, record: str, most: int, share: float) -> pl.DataFrame:
    """The records with the smallest draws, among those whose draws are in the lowest share of all draws."""
    below = min(int(share * 2**64) - 2**63, 2**63 - 1)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        unit = units_of(batch[record])
        places = (pl.Series(_WORD, public_places(batch[record])), pl.Series(_UNIT, sortable(unit)))
        return least(batch.with_columns(*places).filter(pl.col(_WORD) <= below))

    def least(frames: pl.DataFrame) -> pl.DataFrame:
        return frames if frames.height <= most else frames.sort(_WORD, _UNIT).head(most)

    return data.ask(Folded(tuple(data.schema), f, least))
