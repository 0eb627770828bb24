"""Unions of hidden cells whose sum is known: each must be as safe as a cell, its contributors taken together.

A published total less its published parts is the sum of its hidden parts, so whoever reads the table knows what these
come to. A firm that is in several of them is one contributor of that sum. Whoever is alone in some hidden cells takes
off what is in them, and must not find an unsafe sum either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.rollup import Contributions
from sfumato.kernels.tabular.sensitivity import SAFE, Contributors
from sfumato.tables.equations import Merged
from sfumato.tables.judge import Sums, judge_sums
from sfumato.tables.rules import Judgement, ranks_needed
from sfumato.tables.table import STATUS, Table
from sfumato.tables.unions.sets import hashes, known_sets
from sfumato.tables.unions.shares import Known, Shares, Summed

__all__ = ["Judged", "Union", "Unions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_UNITS = 100
"""A contributor that is left out of a sum takes up at most so many of its largest contributions."""


@dataclass(frozen=True, eq=False)
class Union:
    """Hidden cells whose sum somebody knows.

    Parameters
    ----------
    cells
        Places of the cells in the system.
    value
        Their sum.
    lower_level, upper_level
        How far below and above it the sum must remain possible.
    known
        Places of the hidden cells that it takes to know the sum: all that one contributor is alone in. Empty where
        everybody knows it.
    """

    cells: Ints
    value: float
    lower_level: float
    upper_level: float
    known: Ints

    @property
    def name(self) -> tuple[bytes, bytes]:
        """The same for the same cells, known to the same."""
        return self.cells.tobytes(), self.known.tobytes()


@dataclass(frozen=True, eq=False)
class Judged:
    """What was found of the unions of a pattern.

    Parameters
    ----------
    judged
        How many were judged.
    unsafe
        Those that are unsafe.
    left
        Equations of which not every union was judged.
    """

    judged: int
    unsafe: tuple[Union, ...]
    left: int

    def to_plain(self) -> dict[str, int]:
        """Plain values for JSON.

        Examples
        --------
        >>> Judged(4, (), 0).to_plain()
        {'judged': 4, 'unsafe': 0, 'left': 0}
        """
        return {"judged": self.judged, "unsafe": len(self.unsafe), "left": self.left}


@dataclass(frozen=True, eq=False)
class Unions:
    """A table whose unions can be judged under any pattern of hidden cells.

    Parameters
    ----------
    merged
        Its system of equations.
    rule
        The rules that cells are judged by.
    shares
        What contributors have in each cell.
    asked
        The same of those whom rules on shares protect; None where they protect all.
    primary, decided
        The unsafe cells of the system, and those that are published by decision.
    """

    merged: Merged
    rule: Judgement
    shares: Shares
    asked: Shares | None
    primary: Bools
    decided: Bools

    @classmethod
    def of(cls, judged: Table, merged: Merged, rule: Judgement | None) -> Unions | None:
        """Of a judged table; None without rules, for counts, and where it is not known whose the contributions are.

        Parameters
        ----------
        judged
            The table with its statuses, and `contributions`.
        merged
            Its equations.
        rule
            The rules that it was judged by.
        """
        given = judged.contributions
        if given is None or rule is None:
            return None
        cell = merged.cell[0]
        ranks = ranks_needed(rule)
        shares = Shares.of(judged, cell, given, ranks + _most_units(given))
        asked = None if given.asked.all() else Shares.of(judged, cell, _asked(given), 1 + _most_units(given))
        letters = judged.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
        return cls(
            merged,
            rule,
            shares,
            asked,
            *(np.asarray(merged.gather([letters == letter], "any") > 0) for letter in "uz"),
        )

    def judge(self, hidden: Bools, contributor: bool = True) -> Judged:
        """Judge the unions of a pattern.

        Parameters
        ----------
        hidden
            Cells of the system that are not published, shape (cells,).
        contributor
            Whether the reader may be a contributor: then each union is judged as well without the cells that one is
            alone in, for each who is alone in some of it. Where one unsafe cell is left, it must not be determined: its
            levels are 0.
        """
        sets = known_sets(self.merged.system.matrix, self.merged.along, hidden, self.decided)
        member, summed = sets.member, self.shares.summed(sets.member)
        asked = None if self.asked is None else self.asked.summed(member)
        value = member @ self.merged.system.value
        said = judge_sums(self.rule, self._sums(value, summed, asked))
        found = [
            self._union(_row(member, at), float(said.level[at]), np.empty(0, dtype=np.int64))
            for at in np.flatnonzero(said.truth > SAFE).tolist()
        ]
        many = member.shape[0]
        if contributor:
            more, unsafe = self._without(hidden, member, value, summed, asked)
            found += unsafe
            many += more
        return Judged(many, tuple(found), sets.left)

    def alone(self, hidden: Bools) -> list[tuple[int, Ints]]:
        """Each contributor that is alone in hidden cells, and all of these."""
        cells = np.flatnonzero(hidden & (self.shares.alone >= 0))
        who = self.shares.alone[cells]
        order = np.argsort(who, kind="stable")
        names, at = np.unique(who[order], return_index=True)
        return list(zip(names.tolist(), np.split(cells[order], at[1:]), strict=True)) if len(names) else []

    def _sums(self, value: Floats, summed: Summed, asked: Summed | None) -> Sums:
        ranks = ranks_needed(self.rule)
        biggest = None if asked is None else asked.largest[:, 0]
        heads = summed.heads.astype(np.float64)
        return Sums(value, heads, Contributors(summed.total, heads, summed.largest[:, :ranks], biggest))

    def _without(
        self, hidden: Bools, member: sp.csr_array, value: Floats, summed: Summed, asked: Summed | None
    ) -> tuple[int, list[Union]]:
        """How many unions were judged without the cells that a contributor is alone in, and which are unsafe."""
        known = Known.of(self.shares, summed, member)
        if not len(known.who):
            return 0, []
        left = _Left.of(self.shares.alone, known, member, hashes(member.shape[1]))
        ranks = ranks_needed(self.rule)
        of_set = known.of_set
        heads = (summed.heads[of_set] - ~known.elsewhere).astype(np.float64)
        total = summed.total[of_set] - (known.size - known.rest) * known.units
        total = np.where(heads > 0, np.maximum(total, 0.0), 0.0)
        protects = None
        if self.asked is not None and asked is not None:
            protects = known.largest(asked, 1, np.isin(known.who, self.asked.everybody))[:, 0]
        parts = Contributors(total, heads, known.largest(summed, ranks), protects)
        rest = value[of_set] - (left.taken @ self.merged.system.value)
        said = judge_sums(self.rule, Sums(rest, heads, parts))
        unsafe = np.where(left.many == 1, self.primary[left.one], said.truth > SAFE) & left.fresh
        own = dict(self.alone(hidden))
        found = []
        for at in np.flatnonzero(unsafe).tolist():
            cells = np.setdiff1d(_row(member, int(of_set[at])), _row(left.taken, at))
            union = self._union(cells, float(said.level[at]), own[int(known.who[at])])
            found.append(union if len(cells) > 1 else replace(union, lower_level=0.0, upper_level=0.0))
        return int(left.fresh.sum()), found

    def _union(self, cells: Ints, level: float, known: Ints) -> Union:
        value = float(self.merged.system.value[cells].sum())
        low = level if np.any(self.merged.system.value < 0) else min(level, abs(value))
        return Union(cells, value, low, level, known)


@dataclass(frozen=True, eq=False)
class _Left:
    """What is left of sets without the cells that a contributor is alone in.

    Parameters
    ----------
    taken
        The cells left out, shape (lines, cells).
    many, one
        How many cells are left, and the only one where it is one (else any).
    fresh
        Whether it is to be judged: neither a set of its own nor nothing, and the first of its kind for its contributor.
    """

    taken: sp.csr_array
    many: Ints
    one: Ints
    fresh: Bools

    @classmethod
    def of(cls, alone: Ints, known: Known, member: sp.csr_array, name: Ints) -> _Left:
        of_set = np.repeat(np.arange(member.shape[0]), np.diff(member.indptr))
        inside = alone[member.indices] >= 0
        cell = member.indices[inside].astype(np.int64)
        order = np.lexsort((alone[cell], of_set[inside]))
        of_set, cell = of_set[inside][order], cell[order]
        scale = int(alone.max(initial=0)) + 1
        line = np.searchsorted(known.of_set * scale + known.who, of_set * scale + alone[cell])
        ones = np.ones(len(line), dtype=np.int64)
        taken = sp.csr_array((ones, (line, cell)), shape=(len(known.who), member.shape[1]))
        many = np.diff(member.indptr)[known.of_set] - np.diff(taken.indptr)
        places = np.arange(member.shape[1])
        one = np.where(many == 1, (member @ places)[known.of_set] - taken @ places, 0)
        names = (member @ name)[known.of_set] - taken @ name
        _, first = np.unique(names ^ (hashes(scale)[known.who]), return_index=True)
        fresh = np.zeros(len(names), dtype=bool)
        fresh[first] = True
        fresh &= (many > 0) & ~np.isin(names, member @ name)
        return cls(taken, many, one, fresh)


def _row(rows: sp.csr_array, at: int) -> Ints:
    return np.sort(rows.indices[rows.indptr[at] : rows.indptr[at + 1]]).astype(np.int64)


def _most_units(given: Contributions) -> int:
    """How many of the largest contributions one contributor may take up."""
    return min(int(given.units[given.heads == 1].max(initial=1)), MOST_UNITS)


def _asked(given: Contributions) -> Contributions:
    """What those have who are to be protected, be it in a single record."""
    return given.of(np.isin(given.who, np.unique(given.who[given.asked])))
