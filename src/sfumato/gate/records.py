"""The records that decisions are made about, as codes; margins of them are counted once and kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.gate.dependences.found import Dependence
from sfumato.gate.margin import FIRST, Node, base_of
from sfumato.gate.structure import LIFE, MISSING, Structure
from sfumato.kernels.tabular.tally import Counted, counted

__all__ = ["Records", "Scope"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger[Any]]

_KEPT = 400 << 20
"""Bytes of counted margins that are kept for the next decision."""


@dataclass(frozen=True)
class Records:
    """Records of all versions of a data set.

    Parameters
    ----------
    structure
        The codebook.
    codes
        By variable the number of each record's code.
    numbers
        By variable that can be summed its values; not a number where it is missing.
    counts
        How many people each line stands for; one where it is None.
    versions
        Names of the versions, oldest first.
    life
        Of each line the versions that it stands in, a bit for each; None with one version.
    words
        Of each line 53 random bits, of which perturbed tables make the keys of cells; None where there is no secret.
    arrivals : ndarray of int64, shape (versions, versions)
        How many people stand in one version (line) and not in another (column), changed or not.
    factors
        Variables of numbers whose kind says that they are categories.
    found
        Dependences between columns that were found in the data, most telling first.
    """

    structure: Structure
    codes: Mapping[str, Codes]
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    counts: Ints | None = None
    versions: tuple[str, ...] = (FIRST,)
    life: Ints | None = None
    words: Words | None = None
    arrivals: Ints | None = None
    factors: frozenset[str] = frozenset()
    found: tuple[Dependence, ...] = ()
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was worked out about parts of them and may be wanted again."""
    _scopes: dict[tuple[str, ...], Scope] = field(default_factory=dict, init=False, repr=False, compare=False)

    def scope(self, versions: Iterable[str]) -> Scope:
        """The records of some versions.

        Raises
        ------
        DataError
            For a version that there is not.
        """
        wanted = tuple(sorted(set(versions)))
        if any(version not in self.versions for version in wanted):
            raise DataError(f"There is no such version. Versions: {', '.join(self.versions)}.")
        if wanted not in self._scopes:
            self._scopes[wanted] = self._scope(wanted)
        return self._scopes[wanted]

    def _scope(self, wanted: tuple[str, ...]) -> Scope:
        structure = self.structure.over(wanted)
        if self.life is None:
            return Scope(structure, self.codes, self.numbers, self.counts, self.words)
        bits = [self.versions.index(version) for version in wanted]
        life = sum(((self.life >> bit & 1) << i for i, bit in enumerate(bits)), np.zeros(len(self.life), np.int64))
        rows = np.flatnonzero(life)
        codes: dict[str, Codes] = {name: own[rows] for name, own in self.codes.items()}
        if len(wanted) > 1:
            told: Codes = (life[rows] - 1).astype(np.uint16)
            codes[LIFE] = told
        numbers = {name: own[rows] for name, own in self.numbers.items()}
        words = None if self.words is None else self.words[rows]
        return Scope(structure, codes, numbers, None if self.counts is None else self.counts[rows], words)

    def distinct(self, variable: str) -> float:
        """How many different values a variable has, in all versions; endless where there are too many to be codes."""
        codes = self.structure.codes.get(variable)
        return math.inf if codes is None else len(codes) - (MISSING in codes[-1:])


@dataclass
class Scope:
    """The records of the versions that somebody knows, with what was counted of them.

    Parameters
    ----------
    structure, codes, numbers, counts, words
        As in `Records`, of these versions alone.
    """

    structure: Structure
    codes: Mapping[str, Codes]
    numbers: Mapping[str, Floats]
    counts: Ints | None
    words: Words | None = None
    _columns: dict[Node, Codes] = field(default_factory=dict, init=False, repr=False)
    _margins: dict[tuple[Node, ...], Counted] = field(default_factory=dict, init=False, repr=False)
    _small: dict[tuple[tuple[Node, ...], int], Ints] = field(default_factory=dict, init=False, repr=False)
    _bytes: int = field(default=0, init=False, repr=False)

    @property
    def rows(self) -> int:
        """How many lines there are."""
        return len(next(iter(self.codes.values()))) if self.codes else 0

    @property
    def total(self) -> int:
        """How many people."""
        return self.rows if self.counts is None else int(self.counts.sum())

    def number(self, summed: str) -> Floats:
        """The values of a variable that is summed, or their squares."""
        base = base_of(summed)
        own = self.numbers[base]
        return own if summed == base else own**2

    def column(self, node: Node) -> Codes:
        """The number of each record's group."""
        own = self.codes[node.variable]
        if not node.level:
            return own
        if node not in self._columns:
            place = self.structure.place(node)
            self._columns[node] = (
                place.astype(np.uint8) if self.structure.size(node) <= 256 else place.astype(np.uint32)
            )[own]
        return self._columns[node]

    def margin(self, nodes: Iterable[Node]) -> Counted:
        """Counts of a margin, kept for the next decision."""
        wanted = tuple(sorted(nodes))
        found = self._margins.get(wanted)
        if found is None:
            found = self.joint(wanted)
            self._bytes += found.bytes
            if self._bytes > _KEPT:
                self._margins.clear()
                self._small.clear()
                self._bytes = found.bytes
            self._margins[wanted] = found
        return found

    def small(self, nodes: Iterable[Node], below: int) -> Ints:
        """Records in the cells of a margin with fewer people than that; kept."""
        wanted = tuple(sorted(nodes))
        if (wanted, below) not in self._small:
            self._small[wanted, below] = self.margin(wanted).rows_below(below)
        return self._small[wanted, below]

    def joint(self, nodes: Sequence[Node], rows: Ints | None = None) -> Counted:
        """Counts of the cells of nodes, of all records or of some."""
        columns = [self.column(node) if rows is None else self.column(node)[rows] for node in nodes]
        counts = self.counts if self.counts is None or rows is None else self.counts[rows]
        many = self.rows if rows is None else len(rows)
        return counted(columns, [self.structure.size(node) for node in nodes], counts, many)

    def some(self, rows: Ints) -> Scope:
        """Some of the records, with nothing counted yet."""
        codes = {name: own[rows] for name, own in self.codes.items()}
        numbers = {name: own[rows] for name, own in self.numbers.items()}
        counts = None if self.counts is None else self.counts[rows]
        return replace(self, codes=codes, numbers=numbers, counts=counts)
