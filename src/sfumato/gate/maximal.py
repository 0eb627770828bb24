"""`maximal`: the sets of tables that are safe together and to which none can be added, and how many hold each table."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.gate.decide import Dependences, opened, refuse_unknown
from sfumato.gate.decision import together
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Interval, Policy, of_criteria
from sfumato.gate.records import Records, Scope
from sfumato.kernels.tabular.hierarchies import down_sets, held
from sfumato.kernels.tabular.hierarchies import maximal as largest_sets
from sfumato.kernels.tabular.margins import bits, chordal_graphs, chordal_with, largest, spanning
from sfumato.progress import Progress, quiet

__all__ = ["KINDS", "Maximal", "maximal", "maximal_of"]

Kind = Literal["decomposable", "hierarchical"]
KINDS: tuple[Kind, ...] = ("decomposable", "hierarchical")
_ALL = {"decomposable": 6, "hierarchical": 5}
"""Most variables for which all releases are gone through."""
_RESTARTS = 30
_WIDE = 3
"""Tables of more variables than this are not counted one by one where releases were searched."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Maximal:
    """Safe releases, and those to which nothing can be added.

    Parameters
    ----------
    kind
        `decomposable` or `hierarchical`.
    exhaustive
        Whether all releases of this kind were gone through.
    safe
        How many are safe, of all, from no table of two variables (hierarchical: from the grand total) to the full
        table; of those that were looked at, where they were searched.
    looked
        How many releases were looked at.
    releases
        The maximal ones, each by its largest tables.
    variables
        Names, in the order in which tables are written.
    left_out
        Variables whose own table tells too much of few people: none of their tables is safe. They are left out where no
        kind was asked for, and where releases are searched.
    """

    kind: Kind
    exhaustive: bool
    safe: int
    looked: int
    releases: tuple[tuple[tuple[str, ...], ...], ...]
    variables: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def contained(self) -> dict[str, int]:
        """By table, in how many maximal releases it is contained.

        Where releases were searched, tables of up to three variables and the largest ones.
        """
        place = {name: i for i, name in enumerate(self.variables)}
        masks = [[sum(1 << place[name] for name in table) for table in release] for release in self.releases]
        everything = range(1, 1 << len(self.variables))
        wanted = (
            list(everything)
            if self.exhaustive
            else sorted({m for release in masks for m in release} | _small(len(self.variables)))
        )
        wanted.sort(key=lambda m: (m.bit_count(), bits(m)))
        return {
            ",".join(self.variables[i] for i in bits(mask)): sum(
                any(mask & table == mask for table in release) for release in masks
            )
            for mask in wanted
        }

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "safe": self.safe,
            "maximal": len(self.releases),
            "exhaustive": self.exhaustive,
            "kind": self.kind,
            "looked": self.looked,
            "left_out": list(self.left_out),
            "contained": self.contained,
            "releases": [[",".join(table) for table in release] for release in self.releases],
        }


def _small(n: int) -> set[int]:
    return {sum(1 << i for i in own) for k in range(1, _WIDE + 1) for own in itertools.combinations(range(n), k)}


def maximal(
    data: PolarsDataset,
    interval: tuple[int, int] | None = None,
    *,
    kind: Kind | None = None,
    attribution: Mapping[str, str] | None = None,
    policy: Policy | None = None,
    count: str | None = None,
    levels: str | PathLike[str] | Mapping[str, Any] | None = None,
    never: Sequence[Mapping[str, str]] = (),
    by: Sequence[str] | None = None,
    restarts: int = _RESTARTS,
    chance: Sequence[Sequence[str]] = (),
    dependences: Dependences = "found",
    progress: Progress = quiet,
) -> Maximal:
    """Find the releases that are safe and to which no table can be added.

    A table that is in many of them limits least what else can be given.

    Parameters
    ----------
    data
        What `sf.read` gives: records, or a table of counts.
    interval, attribution, policy, count, levels, never, chance, dependences
        As for `decide`.
    kind
        `decomposable`: sets of tables whose bounds have a closed form. `hierarchical`: all sets of tables, for up to
        five variables. Else hierarchical for up to four variables.
    by
        The variables; else all that have codes.
    restarts
        How many releases are searched for where there are too many variables to go through all.
    progress
        Told how far it is.

    Returns
    -------
    Maximal
        `.exhaustive` says whether all were gone through: up to six variables for decomposable ones.

    Raises
    ------
    DataError
        More than five variables for hierarchical ones.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]}))
    >>> found = maximal(data, (2, 4), count="n")
    >>> found.safe, found.releases, found.contained["A"]
    (3, ((('A',),), (('B',),)), 1)

    References
    ----------
    Dobra & Fienberg (2000), PNAS 97, 11885-11892.
    """
    records = opened(data, count=count, levels=levels, never=never, chance=chance, dependences=dependences)
    wanted = policy or of_criteria(interval, attribution)
    refuse_unknown(wanted, records)
    return maximal_of(records, wanted, kind, restarts, progress, by)


def maximal_of(
    records: Records,
    policy: Policy,
    kind: Kind | None = None,
    restarts: int = _RESTARTS,
    progress: Progress = quiet,
    variables: Sequence[str] | None = None,
) -> Maximal:
    """The same for coded records, and some of their variables."""
    names = tuple(variables) if variables is not None else records.structure.variables
    if odd := [name for name in names if name not in records.structure.variables]:
        raise DataError(f"{', '.join(map(repr, odd))}: no such variable with codes.")
    if not names:
        raise DataError("There is no variable with codes.")
    left_out: tuple[str, ...] = ()
    if kind is None or len(names) > _ALL[kind]:
        left_out = tuple(name for name in names if not _safe_alone(records, policy, name))
        names = tuple(name for name in names if name not in left_out)
    if not names:
        raise DataError(
            "The table of every single variable tells too much of few people: nothing is safe. Give levels with fewer "
            "groups, or an interval that asks for less."
        )
    chosen: Kind = kind or ("hierarchical" if len(names) < 5 else "decomposable")
    look = _Look(records, policy, names, left_out)
    if chosen == "hierarchical":
        if len(names) > _ALL[chosen]:
            raise DataError(
                f"All sets of tables are gone through for {_ALL[chosen]} variables at most. Take decomposable ones."
            )
        return look.all_of(chosen, list(down_sets(len(names))), progress)
    if len(names) <= _ALL[chosen] and (kind is not None or look.is_safe(tuple(1 << i for i in range(len(names))))):
        return look.all_of(chosen, [cliques for cliques, _ in chordal_graphs(len(names))], progress)
    return look.searched(restarts, progress)


def _safe_alone(records: Records, policy: Policy, name: str) -> bool:
    return together(records, [Margin.of([Node(name)], version=records.versions[-1])], policy).granted


class _Look:
    """The safety of sets of margins of one data set."""

    def __init__(
        self, records: Records, policy: Policy, names: tuple[str, ...], left_out: tuple[str, ...] = ()
    ) -> None:
        self.records, self.policy, self.names, self.left_out = records, policy, names, left_out
        self.version = records.versions[-1]
        self.scope: Scope = records.scope([self.version])
        only = policy.interval is not None and not (policy.attribution or policy.sap)
        plain = not self.scope.structure.ruled
        self.closed = _Closed(self.scope, policy.interval, names) if only and plain and policy.interval else None
        self.known: dict[tuple[int, ...], bool] = {}

    def all_of(self, kind: Kind, releases: list[tuple[int, ...]], progress: Progress) -> Maximal:
        """Go through all releases."""
        safe = []
        for i, release in enumerate(releases):
            if i % 64 == 0:
                progress("looking at releases", i / len(releases))
            if self.is_safe(release):
                safe.append(release)
        best = largest_sets([held(release, len(self.names)) for release in safe])
        return Maximal(
            kind, True, len(safe), len(releases), self._named([safe[i] for i in best]), self.names, self.left_out
        )

    def searched(self, restarts: int, progress: Progress) -> Maximal:
        """Add edges in an order of chance, as long as the release stays decomposable and safe, until none can."""
        found: dict[tuple[int, ...], None] = {}
        for run in range(restarts):
            progress("searching for releases", run / restarts)
            found.setdefault(self._climbed(run))
        best = sorted(found, key=lambda r: (-sum(m.bit_count() for m in r), r))
        kept = [r for r in best if self.is_safe(r)]
        looked = len(self.known)
        return Maximal(
            "decomposable", False, sum(self.known.values()), looked, self._named(kept), self.names, self.left_out
        )

    def _climbed(self, run: int) -> tuple[int, ...]:
        n = len(self.names)
        cliques = self._single(run)
        union = sum(cliques)
        inside = ((i, j) for i, j in itertools.combinations(range(n), 2) if union >> i & 1 and union >> j & 1)
        edges = sorted(inside, key=lambda e: _shuffled(run, e))
        near = [0] * n
        left, moved = edges, True
        while moved:
            moved, rest = False, []
            for i, j in left:
                added = chordal_with(near, i, j)
                release = None if added is None else largest([*cliques, added])
                if release is not None and self.is_safe(release):
                    cliques, moved = release, True
                    near[i] |= 1 << j
                    near[j] |= 1 << i
                else:
                    rest.append((i, j))
            left = rest
        return cliques

    def _single(self, run: int) -> tuple[int, ...]:
        """Tables of single variables: all of them, or as many as are safe together in an order of chance."""
        every = tuple(1 << i for i in range(len(self.names)))
        if self.is_safe(every):
            return every
        chosen: tuple[int, ...] = ()
        for one in sorted(every, key=lambda m: _shuffled(run, (m, m))):
            if self.is_safe((*chosen, one)):
                chosen = (*chosen, one)
        return chosen

    def is_safe(self, release: tuple[int, ...]) -> bool:
        """Whether a set of margins is proved safe."""
        release = tuple(sorted(release, key=lambda m: (-m.bit_count(), m)))
        if release not in self.known:
            self.known[release] = self._is_safe(release)
        return self.known[release]

    def _is_safe(self, release: tuple[int, ...]) -> bool:
        if self.closed is not None:
            between, decomposable = spanning(release)
            if self.closed.told_by_one(release):
                return False
            if decomposable and self.closed.spans(release):
                return self.closed.is_safe(release, between)
        margins = [Margin.of((Node(self.names[i]) for i in bits(m)), version=self.version) for m in release]
        return together(self.records, margins, self.policy).granted

    def _named(self, releases: Sequence[Sequence[int]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
        return tuple(tuple(tuple(self.names[i] for i in bits(mask)) for mask in release) for release in releases)


class _Closed:
    """The interval criterion for decomposable releases of all variables, whose joint cells are always the same."""

    def __init__(self, scope: Scope, interval: Interval, names: Sequence[str]) -> None:
        self.scope, self.count, self.width = scope, interval.count, interval.width
        self.nodes = [Node(name) for name in names]
        self.everything = (1 << len(names)) - 1
        self.small: dict[int, bool] = {}
        self.at: dict[int, Ints] = {}
        joint = scope.joint(self.nodes)
        cells = np.flatnonzero((joint.count >= 1) & (joint.count <= self.count))
        first = np.zeros(len(joint.count), dtype=np.int64)
        first[joint.cell] = np.arange(scope.rows)
        self.rows = first[cells]

    def told_by_one(self, release: Sequence[int]) -> bool:
        """Whether a margin itself has a cell of 1 to `count` people."""
        return any(self._has_small(mask) for mask in release)

    def spans(self, release: Sequence[int]) -> bool:
        """Whether every variable stands in a margin."""
        union = 0
        for mask in release:
            union |= mask
        return union == self.everything

    def is_safe(self, cliques: Sequence[int], between: Sequence[int]) -> bool:
        """Whether the ends of all small joint cells lie far enough apart."""
        if self.width == self.count + 1:  # then no small clique cell is enough
            return True
        low = sum((self._counts(mask) for mask in cliques), np.zeros(len(self.rows), dtype=np.int64))
        high = self._counts(cliques[0])
        for mask in cliques[1:]:
            high = np.minimum(high, self._counts(mask))
        for mask in between:
            low = low - self._counts(mask)
        return bool((high - np.maximum(low, 0) >= self.width).all())

    def _has_small(self, mask: int) -> bool:
        if mask not in self.small:
            if any(self.small.get(mask & ~(1 << i), False) for i in bits(mask)):
                self.small[mask] = True  # a cell of a part is the sum of cells of the whole
            else:
                count = self.scope.joint([self.nodes[i] for i in bits(mask)]).count
                self.small[mask] = bool(((count >= 1) & (count <= self.count)).any())
        return self.small[mask]

    def _counts(self, mask: int) -> Ints:
        if mask not in self.at:
            told = self.scope.joint([self.nodes[i] for i in bits(mask)])
            self.at[mask] = told.count[told.cell[self.rows]]
        return self.at[mask]


def _shuffled(run: int, edge: tuple[int, int]) -> bytes:
    return hashlib.sha256(f"{run}:{edge[0]}:{edge[1]}".encode()).digest()
