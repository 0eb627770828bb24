"""Cells of tables of one and of two columns, counted of all records wherever the rows are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.query import COUNT, Counts, Folded, Quantiles, Query
from sfumato.kernels.cells import cells_apart, count_cells
from sfumato.measures.copies import neighbours
from sfumato.measures.folds.asking import each_told
from sfumato.measures.utility.table_ratio import PROBS, Coder, Columns, chosen

__all__ = ["Counted", "Looked", "Margin", "Margins", "look"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Margin = tuple[Ints, Ints]
"""The cells of a table that hold records, rising, and how many each holds."""
Margins = dict[tuple[int, ...], Margin | None]
"""Of tables by the numbers of their columns; None of one that has too many cells."""

_SMALL, _ROOM = 1 << 16, 1 << 21
"""Most cells of a table that is counted while rows are streamed, and of all such tables together."""
_HELD = 10**7
"""Most cells of large tables that are kept of a table's rows; what would be more is not counted."""
_TOGETHER = 8
"""Large tables that are counted in one pass."""
_CELL, _TIMES = "cell", "times"


@dataclass(frozen=True)
class Counted:
    """Tables of an original and a release whose cells were counted: `sfumato.measures.utility.table_ratio.Cells`.

    Parameters
    ----------
    names
        The columns.
    n, m
        Rows of the original and of the release.
    one, two
        By the numbers of its columns the cells of each table, of the original and of the release; None of one that has
        too many.
    still
        Tables that are the same in both, and were not counted: each has more than one cell where a column has.
    """

    names: tuple[str, ...]
    n: int
    m: int
    one: Margins = field(repr=False)
    two: Margins = field(repr=False)
    still: frozenset[tuple[int, ...]] = frozenset()

    @cached_property
    def varies(self) -> tuple[bool, ...]:
        """Whether a column has more than one cell, for each; one that has too many to count does."""
        both = (None if (j,) in self.still else self._both((j,)) for j in range(len(self.names)))
        return tuple(counts is None or len(counts[0]) > 1 for counts in both)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The columns, and pairs of columns, that have too many cells."""
        return tuple(
            " × ".join(self.names[j] for j in of) for of in self.one if of not in self.still and self._both(of) is None
        )

    def spread(self, of: Columns) -> tuple[Floats, Floats]:
        """How far the rows are apart in each table (U of all rows together), and its cells less one."""
        apart, free = np.zeros(len(of)), np.zeros(len(of))
        for t, columns in enumerate(of):
            if columns in self.still:
                free[t] = any(self.varies[j] for j in columns)
            elif (counts := self._both(columns)) is not None:
                apart[t], cells = cells_apart(*counts, self.m / (self.n + self.m))
                free[t] = cells - 1.0
        return apart, free

    def _both(self, columns: tuple[int, ...]) -> tuple[Ints, Ints] | None:
        """How many records of either table are in each cell that holds any."""
        one, two = self.one[columns], self.two[columns]
        if one is None or two is None:
            return None
        cells = np.union1d(one[0], two[0])
        counts = np.zeros((2, len(cells)), dtype=np.int64)
        for own, (at, times) in zip(counts, (one, two), strict=True):
            own[np.searchsorted(cells, at)] = times
        return counts[0], counts[1]


@dataclass(frozen=True)
class Looked:
    """What a first look at an original and its release, or at several copies of it, tells of columns.

    Parameters
    ----------
    names
        The columns.
    coders
        What codes the values of each; None of one with too many categories.
    before, after
        The original and each copy.
    n, m
        Rows of the original, and of each copy: these only where they were counted.
    moved
        Records that each copy does not have as they were, where that was asked.
    fixed
        Numbers of the columns in which every record of a copy has the value that it had.
    """

    names: tuple[str, ...]
    coders: tuple[Coder | None, ...]
    before: Parted
    after: tuple[Parted, ...]
    n: int
    m: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    fixed: frozenset[int] = frozenset()

    @property
    def same(self) -> bool:
        """Whether all copies are known to have every record as it was."""
        return bool(self.moved) and {*self.m} == {self.n} and not any(self.moved)

    def alone(self) -> Counted:
        """Tables of one column of the original, beside themselves."""
        one = self._margins(self.before, [(j,) for j in range(len(self.names))])
        return Counted(self.names, self.n, self.n, one, one)

    def counted(self) -> tuple[list[Counted], list[Counted]]:
        """The tables of one column, and of pairs of those columns that there is time for.

        Returns
        -------
        beside, against
            The original beside each copy; copies beside one another, see `sfumato.measures.copies.neighbours`.
        """
        p = len(self.names)
        looked_at = max((chosen(self.n, m, p) for m in self.m), default=p)
        of = [*((j,) for j in range(p)), *itertools.combinations(range(looked_at), 2)]
        first = [columns for columns in of if not self.fixed.issuperset(columns)]
        rest = [columns for columns in of if self.fixed.issuperset(columns)]
        each = [self._margins(data, first) for data in self.after]
        m = self.m or [_rows(cells, data) for cells, data in zip(each, self.after, strict=True)]
        still: list[tuple[int, ...]] = []
        if {*m} == {self.n}:  # whoever is there is there as before
            still = [columns for columns in rest if len(columns) > 1 or self._wide(columns) > _SMALL]
            away = {*still}
            one = self._margins(self.before, [columns for columns in of if columns not in away])
            unmoved = dict.fromkeys(still) | {columns: one[columns] for columns in rest if columns in one}
            one, each = one | unmoved, [cells | unmoved for cells in each]
        else:
            one = self._margins(self.before, of)
            each = [cells | self._margins(data, rest) for cells, data in zip(each, self.after, strict=True)]

        def beside(n: int, m: int, one: Margins, two: Margins) -> Counted:
            return Counted(self.names, n, m, one, two, frozenset(still))

        pairs = neighbours(len(each))
        return (
            [beside(self.n, rows, one, two) for rows, two in zip(m, each, strict=True)],
            [beside(m[i], m[j], each[i], each[j]) for i, j in pairs],
        )

    def _margins(self, data: Parted, of: Columns) -> Margins:
        """Cells of tables: small ones in one pass, larger ones as groups of codes."""
        found: Margins = dict.fromkeys(of)
        small: dict[tuple[int, ...], int] = {}
        large: list[tuple[int, ...]] = []
        room = _ROOM
        for columns in of:
            if any(self.coders[j] is None for j in columns):
                continue
            wide = self._wide(columns)
            if wide <= min(_SMALL, room):
                small[columns] = wide
                room -= wide
            else:
                large.append(columns)
        if small:
            counts = data.ask(self._counting([*small]))
            found |= zip(small, _split(counts, [*small.values()]), strict=True)
        if large:
            found |= self._groups(data, large)
        return found

    def _wide(self, columns: Sequence[int]) -> int:
        """How many cells a table may have; more than any that is counted where a column has too many categories."""
        levels = [_HELD + 1 if (coder := self.coders[j]) is None else coder.levels for j in columns]
        return math.prod(levels)

    def _counting(self, of: Columns) -> Folded:
        """Counts the cells of small tables, put one after the other."""
        places = sorted({j for columns in of for j in columns})
        coders = [coder for j in places if (coder := self.coders[j]) is not None]
        levels = np.array([coder.levels for coder in coders], dtype=np.int64)
        place = {j: k for k, j in enumerate(places)}
        tables = np.array([[*(place[j] for j in columns), -1][:2] for columns in of], dtype=np.int64)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            counts = count_cells(_codes(coders, batch), levels, tables)
            there = np.flatnonzero(counts)
            return pl.DataFrame({_CELL: there.astype(np.int64), _TIMES: counts[there]})

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            return frames.group_by(_CELL).agg(pl.col(_TIMES).sum())

        return Folded(tuple(coder.name for coder in coders), f, merge)

    def _groups(self, data: Parted, of: Columns) -> Iterator[tuple[tuple[int, ...], Margin]]:
        """Counts the cells of large tables; without those that have too many."""
        coders = {j: coder for columns in of for j in columns if (coder := self.coders[j]) is not None}

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            codes = _codes(list(coders.values()), batch)
            return pl.DataFrame({str(j): own for j, own in zip(coders, codes, strict=True)})

        coded = data.map(f, codebook=Codebook())
        held = 0
        for start in range(0, len(of), _TOGETHER):
            some = of[start : start + _TOGETHER]
            for columns, answer in zip(some, each_told(coded, [Counts(tuple(map(str, c))) for c in some]), strict=True):
                held += 0 if answer is None else answer.height
                if answer is None or held > _HELD:
                    continue
                cell = answer[str(columns[0])].cast(pl.Int64)
                if len(columns) > 1:
                    cell = cell * coders[columns[1]].levels + answer[str(columns[1])].cast(pl.Int64)
                found = pl.DataFrame({_CELL: cell, _TIMES: answer[COUNT]}).sort(_CELL)
                yield columns, (found[_CELL].to_numpy(), found[_TIMES].cast(pl.Int64).to_numpy())
            if held > _HELD:
                return


def look(
    names: Sequence[str],
    before: Parted,
    after: Sequence[Parted],
    codebook: Codebook,
    changed: Collection[str] | None = None,
    moved: Folded | None = None,
) -> Looked:
    """Find out how the values of columns are coded: the categories of all tables, and the original's fifths.

    Parameters
    ----------
    names
        Columns that all tables have.
    before, after
        The original, and its release or each copy of it.
    codebook
        Says which columns are numbers, and which codes stand for missing.
    changed
        The columns in which a record may have another value than it had; None where records are nobody's.
    moved
        Counts the records of a copy that are not as they were; asked where not all pairs of columns are looked at.
    """
    schemas = [data.schema for data in (before, *after)]
    coders = [Coder.of(n, [schema[n] for schema in schemas], codebook) for n in names]
    factors = [coder.name for coder in coders if coder.factor]
    cuts = [Quantiles(coder.name, PROBS) for coder in coders if not coder.factor]
    first = each_told(_knowing(before, names, codebook), [Counts(()), *(Counts((n,)) for n in factors), *cuts])
    n = int(_there(first[0]).item(0, COUNT))
    held = {name: [answer] for name, answer in zip(factors, first[1:], strict=False)}
    fifths = {cut.column: _there(answer) for cut, answer in zip(cuts, first[len(factors) + 1 :], strict=True)}
    every = changed is not None and chosen(n, n, len(names)) == len(names)  # and no copy has more records
    fewer = [name for name in factors if changed is None or name in changed]
    m, apart = [], []
    for data in after if fewer or not every else ():
        asked: list[Query] = [Counts(()), *(Counts((name,)) for name in fewer)]
        answers = each_told(data, asked if every or moved is None else [*asked, moved])
        m.append(int(_there(answers[0]).item(0, COUNT)))
        for name, answer in zip(fewer, answers[1:], strict=False):
            held[name].append(answer)
        apart += [int(_there(answer).item()) for answer in answers[len(asked) :]]
    fixed = frozenset(j for j, name in enumerate(names) if changed is not None and name not in changed)
    known = tuple(_knowing_values(coder, fifths.get(coder.name), held.get(coder.name, ())) for coder in coders)
    return Looked(tuple(names), known, before, tuple(after), n, tuple(m), tuple(apart), fixed)


def _knowing_values(coder: Coder, fifths: pl.DataFrame | None, held: Sequence[pl.DataFrame | None]) -> Coder | None:
    """The coder with its cuts or categories; None where these are too many."""
    if fifths is not None:
        cuts = fifths["value"]
        return coder if cuts.null_count() else coder.cut_at(cuts.to_numpy())
    there = [coder.read(values) for values in held if values is not None]
    return coder.knowing(there) if len(there) == len(held) else None


def _there(answer: pl.DataFrame | None) -> pl.DataFrame:
    assert answer is not None, "only groups can be too many"
    return answer


def _knowing(data: Parted, names: Sequence[str], codebook: Codebook) -> Parted:
    """The data with what this codebook says of missing values; themselves where they have the same, so that a database
    may answer."""
    if all(data.codebook[n].missing == codebook[n].missing for n in names):
        return data
    return data.map(_as_it_is, codebook=codebook.only(data.schema))


def _as_it_is(batch: pl.DataFrame) -> pl.DataFrame:
    return batch


def _codes(coders: Sequence[Coder], batch: pl.DataFrame) -> NDArray[np.uint32]:
    """Codes of some columns, one after the other, shape (p, rows)."""
    out = np.empty((len(coders), batch.height), dtype=np.uint32)
    for own, coder in zip(out, coders, strict=True):
        own[:] = coder.codes(coder.read(batch))
    return out


def _split(counts: pl.DataFrame, wide: Sequence[int]) -> Iterator[Margin]:
    """The cells of each table, of tables that were put one after the other."""
    counts = counts.sort(_CELL)
    cells, times = counts[_CELL].to_numpy(), counts[_TIMES].to_numpy()
    starts = np.cumsum([0, *wide])
    ends = np.searchsorted(cells, starts)
    for start, begin, end in zip(starts[:-1], ends[:-1], ends[1:], strict=True):
        yield cells[begin:end] - start, times[begin:end]


def _rows(cells: Margins, data: Parted) -> int:
    """Rows of a table of which cells were counted."""
    counts = next((cells[of] for of in cells if cells[of] is not None), None)
    return int(data.ask(Counts(())).item(0, COUNT)) if counts is None else int(counts[1].sum())
