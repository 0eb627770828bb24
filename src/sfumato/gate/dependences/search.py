"""Searching data for dependences between their columns: what follows from codes and numbers alone.

Every version is searched, and all of them together. Equal for records and for counts of the same people, and for every
order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.gate.dependences.found import Dependence, Kind, digest_of
from sfumato.gate.dependences.rules import Find, too_many, written_out
from sfumato.gate.dependences.words import chance_problems, columns_in
from sfumato.gate.margin import Node
from sfumato.gate.structure import KNOWN, KNOWN_OF, MISSING, Structure
from sfumato.kernels.tabular.adding import adding_up
from sfumato.kernels.tabular.bands import banded
from sfumato.kernels.tabular.pairs import (
    Coded,
    emptier_than_chance,
    expected_elsewhere,
    least_expected,
    told_by,
    told_by_two,
)

__all__ = ["knowing", "searched", "without_chance"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger[Any]]

_MOST_CODES = 10_000
_ERROR = 0.01
"""How probable it is at most that an empty combination is found in data whose columns are independent."""


@dataclass(frozen=True)
class _Variable:
    """A column that is searched: its codes, or whether it is known.

    Parameters
    ----------
    name
        As stewards see it.
    node
        What it is in the codebook.
    place : ndarray of int64
        Of each code of the column its number among those that occur; below 0 where it does not.
    coded
        Of each row its number, and how many have each.
    """

    name: str
    node: Node
    place: Ints
    coded: Coded


def searched(
    structure: Structure,
    codes: Mapping[str, Codes],
    numbers: Mapping[str, Floats],
    counts: Ints | None,
    versions: Sequence[str],
    life: Ints | None,
) -> list[Find]:
    """Find the dependences that all versions have together, and those that one has by itself.

    Parameters
    ----------
    structure
        The codebook: what it says is not found again.
    codes, numbers, counts, versions, life
        As in `Records`.

    Returns
    -------
    list of Find
        The most telling first.
    """
    out = _Part.of(structure, codes, numbers, counts, None, "").finds() if len(codes) else []
    if life is not None:
        together = {(f.dependence.kind, f.dependence.of, f.dependence.to): f for f in out}
        for i, version in enumerate(versions):
            rows = np.flatnonzero(life >> i & 1)
            for find in _Part.of(structure, codes, numbers, counts, rows, version).finds():
                one = find.dependence
                same = together.get((one.kind, one.of, one.to))
                if same is None or (one.kind == "never" and _says_more(find, same)):
                    out.append(find)
    return sorted(out, key=lambda find: (-find.dependence.expected, find.dependence))


def without_chance(finds: Sequence[Find], chance: Sequence[Sequence[str]]) -> list[Find]:
    """Leave out what hangs together by chance alone, as stewards confirmed.

    Raises
    ------
    DataError
        Columns of which nothing was found, or what is arithmetic: all at once.
    """
    if wrong := chance_problems(chance, [find.dependence for find in finds]):
        raise DataError(" ".join(wrong))
    sets = {tuple(sorted(set(columns))) for columns in chance}
    return [find for find in finds if columns_in(find.dependence) not in sets]


def knowing(structure: Structure, finds: Sequence[Find]) -> Structure:
    """The codebook with what was found: it counts as known to everybody."""
    made: dict[str, list[str]] = {}
    for find in finds:
        one = find.dependence
        if one.kind in ("tells", "tells_together", "band") and one.to is not None and one.to in structure.codes:
            for source in one.of:
                if source in structure.codes and one.to not in made.setdefault(source, []):
                    made[source].append(one.to)
    found = tuple(find.says for find in finds if find.says is not None)
    return replace(structure, found=found, made={name: tuple(own) for name, own in made.items()})


def _says_more(find: Find, other: Find) -> bool:
    """Whether one version excludes a combination that all together do not."""
    if find.says is None or other.says is None or find.says.can is None or other.says.can is None:
        return True
    return bool((other.says.can & ~find.says.can).any())


@dataclass(frozen=True)
class _Part:
    """The records of one version, or of all."""

    structure: Structure
    version: str
    variables: tuple[_Variable, ...]
    numbers: Mapping[str, Floats]
    codes: Mapping[str, Codes]
    counts: Ints | None
    people: int

    @classmethod
    def of(
        cls,
        structure: Structure,
        codes: Mapping[str, Codes],
        numbers: Mapping[str, Floats],
        counts: Ints | None,
        rows: Ints | None,
        version: str,
    ) -> _Part:
        """Take the rows, and the columns that something can be told of."""
        if rows is not None:
            codes = {name: own[rows] for name, own in codes.items()}
            numbers = {name: own[rows] for name, own in numbers.items()}
            counts = None if counts is None else counts[rows]
        people = len(next(iter(codes.values()))) if counts is None else int(counts.sum())
        made = [_variable(structure, name, own, counts, people) for name, own in _columns(structure, codes)]
        variables = tuple(variable for variable in made if variable is not None)
        return cls(structure, version, variables, numbers, codes, counts, people)

    def finds(self) -> list[Find]:
        """All of them."""
        tells = self._tells()
        return [*self._pairs(tells), *self._together(tells), *self._bands(tells), *self._adds()]

    def _tells(self) -> dict[tuple[int, int], Ints]:
        """Of pairs of columns, one of which tells the other: which code."""
        out = {}
        for i, one in enumerate(self.variables):
            for j, other in enumerate(self.variables):
                if i != j and one.node.variable != other.node.variable:
                    told = told_by(one.coded, other.coded)
                    if told is not None:
                        out[i, j] = told
        return out

    def _pairs(self, tells: Mapping[tuple[int, int], Ints]) -> Iterator[Find]:
        for (i, j), told in tells.items():
            yield from self._one_tells(self.variables[i], self.variables[j], told)
        for i, one in enumerate(self.variables):
            for j in range(i + 1, len(self.variables)):
                other = self.variables[j]
                if (i, j) not in tells and (j, i) not in tells and one.node.variable != other.node.variable:
                    yield from self._never(one, other)

    def _one_tells(self, one: _Variable, other: _Variable, told: Ints) -> Iterator[Find]:
        many, can = one.coded.size * (other.coded.size - 1), None
        if not too_many(one.coded.size, other.coded.size):
            can = np.zeros((one.coded.size, other.coded.size), dtype=bool)
            can[np.arange(one.coded.size), told] = True
            if not (~can & self._declared([one, other])).any():
                return
        yield self._find("tells", [one], other, can, many, expected_elsewhere(other.coded))

    def _never(self, one: _Variable, other: _Variable) -> Iterator[Find]:
        least = least_expected(one.coded, other.coded, len(self.variables), _ERROR)
        closed, expected = emptier_than_chance(one.coded, other.coded, self.counts, least)
        if not len(closed):
            return
        if self.structure.says_of([one.node, other.node]):
            closed = closed[self._declared([one, other])[tuple(closed.T)]]
            both = one.coded.count[closed[:, 0]].astype(np.float64) * other.coded.count[closed[:, 1]]
            expected = float(both.sum()) / self.people
        if len(closed):
            can = None
            if not too_many(one.coded.size, other.coded.size):
                can = np.ones((one.coded.size, other.coded.size), dtype=bool)
                can[tuple(closed.T)] = False
            yield self._find("never", [one, other], None, can, len(closed), expected, closed)

    def _together(self, tells: Mapping[tuple[int, int], Ints]) -> Iterator[Find]:
        names = self.variables
        table = np.array([[one.node.variable == other.node.variable for other in names] for one in names], dtype=bool)
        for i, j in tells:
            table[i, j] = True
        for i, j, k, used in told_by_two([own.coded for own in names], table.reshape(len(names), len(names))):
            held = [names[i], names[j], names[k]]
            can = np.ones([own.coded.size for own in held], dtype=bool)
            can[used[:, 0], used[:, 1]] = False
            can[tuple(used.T)] = True
            if (~can & self._declared(held)).any():
                many = int(np.count_nonzero(~can))
                expected = expected_elsewhere(held[2].coded)
                yield self._find("tells_together", held[:2], held[2], can, many, expected, used)

    def _bands(self, tells: Mapping[tuple[int, int], Ints]) -> Iterator[Find]:
        place = {own.node: i for i, own in enumerate(self.variables)}
        for name, value in sorted(self.numbers.items()):
            own = place.get(Node(name))
            others = [
                one
                for i, one in enumerate(self.variables)
                if one.node.variable not in (name, KNOWN_OF + name) and (own, i) not in tells
            ]
            for other, is_band in zip(others, banded(value, [one.coded.code for one in others]), strict=True):
                if is_band and not self._derived(name, other.name):
                    yield self._band(name, value, other)

    def _derived(self, number: str, column: str) -> bool:
        return column in self.structure.derived.get(number, ())

    def _band(self, name: str, value: Floats, other: _Variable) -> Find:
        known = np.isfinite(value)
        band = other.coded.code[known]
        kept = Coded(band, self._counted(band, other.coded.size, known))
        used, first = np.unique(value[known], return_index=True)
        many = len(used) * (int(np.count_nonzero(kept.count)) - 1)
        one = Dependence("band", (name,), other.name, many, expected_elsewhere(kept), self.version)
        if name not in self.codes:
            return Find(one, None)
        place, can = np.full(len(self.structure.codes[name]), -1, dtype=np.int64), None
        place[self.codes[name][known][first]] = np.arange(len(used))
        if not too_many(len(used), other.coded.size):
            can = np.zeros((len(used), other.coded.size), dtype=bool)
            can[np.arange(len(used)), band[first]] = True
        return Find(one, written_out((name, other.node.variable), (place, other.place), can, self.version))

    def _counted(self, code: Codes, size: int, rows: Bools) -> Ints:
        weights = None if self.counts is None else self.counts[rows]
        return np.bincount(code, weights=weights, minlength=size).astype(np.int64)

    def _adds(self) -> Iterator[Find]:
        names = sorted(self.numbers)
        if len(names) < 2:
            return
        for own, people in adding_up(np.stack([self.numbers[name] for name in names], axis=1), self.counts):
            used = np.flatnonzero(own).tolist()
            sign = 1 if (own == 1).sum() == 1 else -1 if (own == -1).sum() == 1 else own[used[-1]]
            told = [i for i in used if own[i] == sign][-1]
            parts = tuple(names[i] for i in used if i != told)
            yield Find(Dependence("adds", parts, names[told], len(used), float(people), self.version), None)

    def _find(
        self,
        kind: Kind,
        of: Sequence[_Variable],
        to: _Variable | None,
        can: Bools | None,
        many: int,
        expected: float,
        told_of: Ints | None = None,
    ) -> Find:
        """A dependence and its rule; `told_of` are the combinations that its digest is of."""
        held = [*of, *([] if to is None else [to])]
        says = written_out([o.node.variable for o in held], [o.place for o in held], can, self.version)
        told = None if to is None else to.name
        digest = ""
        if told_of is not None:
            digest = digest_of([o.name for o in held], [self._texts(o) for o in held], told_of)
        return Find(Dependence(kind, tuple(o.name for o in of), told, many, expected, self.version, digest), says)

    def _texts(self, own: _Variable) -> list[str]:
        """Of each number that occurs the text of its code, or whether it is missing."""
        out = [""] * own.coded.size
        missing = self.structure.missing.get(own.node.variable, ())
        for code, number in zip(self.structure.codes[own.node.variable], own.place.tolist(), strict=True):
            if number >= 0:
                out[number] = code if not own.node.level else MISSING if code in missing else KNOWN
        return out

    def _declared(self, held: Sequence[_Variable]) -> Bools:
        """Which combinations of what occurs the codebook itself leaves possible."""
        sizes = [own.coded.size for own in held]
        nodes = [own.node for own in held]
        out = np.ones(sizes, dtype=bool)
        if not self.structure.says_of(nodes):
            return out
        try:
            can = ~self.structure.impossible(nodes)
        except DataError:  # too many hang together: found ones may be declared ones
            return out
        order = sorted(range(len(held)), key=lambda i: nodes[i].variable)
        rank = np.argsort(order)
        wide = np.transpose(can, rank)  # axes in the order of `held`
        return np.asarray(wide[np.ix_(*(self._group(own) for own in held))])

    def _group(self, own: _Variable) -> Ints:
        """Of each number that occurs the refined group of its code in the codebook."""
        out = np.zeros(own.coded.size, dtype=np.int64)
        held = own.place >= 0
        out[own.place[held]] = self.structure.refinement([own.node])[0][held]
        return out


def _columns(structure: Structure, codes: Mapping[str, Codes]) -> Iterator[tuple[Node, Codes]]:
    """Columns of codes, and of each with missing values whether they are known."""
    for name, own in codes.items():
        yield Node(name), own
        if not name.startswith("@") and structure.missing.get(name):
            yield Node(name, KNOWN), own


def _variable(structure: Structure, node: Node, code: Codes, counts: Ints | None, people: int) -> _Variable | None:
    """None where it has one code, too many, or nearly one for each person."""
    place = structure.place(node)
    group = place[code] if node.level else code
    held = np.bincount(group, weights=counts, minlength=structure.size(node)).astype(np.int64)
    used = np.flatnonzero(held)
    if not 2 <= len(used) <= min(_MOST_CODES, people / 2):
        return None
    number = np.full(len(held), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    dense = number.astype(np.uint16)[group] if len(used) < len(held) or node.level else group.astype(np.uint16)
    base = node.variable.removeprefix(KNOWN_OF)
    name = f"{base}@{KNOWN}" if node.level or base != node.variable else base
    return _Variable(name, node, number[place], Coded(dense, held[used]))
