"""A variable of a table: its codes, of every level, and which are summed up to which."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError

__all__ = ["TOTAL", "Axis", "qualified"]

TOTAL = "Total"
"""The code of everything, on top of every variable of a table."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A variable of a table, with a tree of codes for each way to group them; `Total` on top of all is implied.

    Parameters
    ----------
    name
        The variable; a hierarchy is named after its finest level.
    groupings
        One or several trees over the same finest codes. A finest code that a tree does not list lies under `Total`.

    Raises
    ------
    DataError
        Where a code stands in two places of a tree (write it `parent/code`), or groups other codes in another.

    Examples
    --------
    >>> town = Axis("town", (Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath", "South"))),))
    >>> town.codes
    ('Total', 'North', 'Leeds', 'York', 'South', 'Bath')
    >>> [(town.codes[parent], [town.codes[i] for i in parts]) for parent, parts in town.relations]
    [('Total', ['North', 'South']), ('North', ['Leeds', 'York']), ('South', ['Bath'])]
    """

    name: str
    groupings: tuple[Hierarchy, ...]

    def __post_init__(self) -> None:
        held = {code: self._finest(code) for tree in self._children for code in tree}
        for tree in self._children:
            for code, parts in tree.items():
                if held[code] != frozenset().union(*(held.get(part, {part}) for part in parts)):
                    raise DataError(f"A code of {self.name!r} stands for other codes in one grouping than in another.")

    @cached_property
    def _children(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """By grouping, the parts of each code that has any, from the top; codes in the order of the tree."""
        trees = [_tree(self.name, grouping) for grouping in self.groupings]
        inner = {code for tree in trees for code in tree}
        finest = list(dict.fromkeys(part for tree in trees for parts in tree.values() for part in parts))
        finest = [code for code in finest if code not in inner]
        for tree in trees:
            below = {part for parts in tree.values() for part in parts}
            for other in trees:  # what another tree splits further is split here too
                below |= {part for code in below & set(other) for part in _under(other, code)}
            tree[TOTAL] = (*tree[TOTAL], *(code for code in finest if code not in below))
        return tuple(trees)

    def _finest(self, code: str) -> frozenset[str]:
        """The finest codes under a code in the first tree that splits it."""
        for tree in self._children:
            if code in tree:
                return frozenset().union(*(self._finest(part) for part in tree[code]))
        return frozenset({code})

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every code, `Total` first, then each tree from the top with its branches together."""
        return tuple(dict.fromkeys(code for tree in self._children for code in _walk(tree, TOTAL)))

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Where each code stands among `codes`."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def relations(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Every sum: the place of a total and the places of its parts; each once."""
        place = self.place
        found = {
            (place[code], tuple(sorted(place[part] for part in tree[code]))): None
            for tree in self._children
            for code in _walk(tree, TOTAL)
            if code in tree
        }
        return tuple(found)

    @cached_property
    def parents(self) -> tuple[Ints, ...]:
        """By grouping, the place of the total that each code is a part of, -1 where it is none; each sum once."""
        out: list[Ints] = []
        for parent, parts in self.relations:
            spot = next((one for one in out if np.all(one[list(parts)] < 0) and not np.any(one == parent)), None)
            if spot is None:
                spot = np.full(len(self.codes), -1, dtype=np.int64)
                out.append(spot)
            spot[list(parts)] = parent
        return tuple(out)

    @cached_property
    def finest(self) -> Ints:
        """Places of the codes that no tree splits further."""
        inner = {parent for parent, _ in self.relations}
        return np.array([i for i in range(len(self.codes)) if i not in inner], dtype=np.int64)

    @cached_property
    def above(self) -> tuple[tuple[int, ...], ...]:
        """Of each code, its own place and those of all codes that hold it, in rising order."""
        up: list[set[int]] = [{i} for i in range(len(self.codes))]
        for parent in self.parents:
            for i, one in enumerate(parent):
                if one >= 0:
                    up[i].add(int(one))
        done: dict[int, tuple[int, ...]] = {}

        def climbed(i: int) -> tuple[int, ...]:
            if i not in done:
                done[i] = tuple(sorted({i}.union(*(climbed(j) for j in up[i] if j != i))))
            return done[i]

        return tuple(climbed(i) for i in range(len(self.codes)))

    @cached_property
    def depth(self) -> Ints:
        """How many levels below `Total` each code stands, at the deepest; shape (codes,)."""
        deep = np.zeros(len(self.codes), dtype=np.int64)
        for i in sorted(range(len(self.codes)), key=lambda i: len(self.above[i])):
            deep[i] = 1 + max((int(deep[j]) for j in self.above[i] if j != i), default=-1)
        return deep

    @cached_property
    def trees(self) -> tuple[dict[str, str | None], ...]:
        """By grouping, the parent of each code that it lists; None under `Total`. Branches stand together.

        Examples
        --------
        >>> Axis("town", (Hierarchy((("Leeds", "North"), ("Bath",))),)).trees
        ({'North': None, 'Leeds': 'North', 'Bath': None},)
        """
        out: list[dict[str, str | None]] = []
        for grouping in self.groupings:
            parts = _tree(self.name, grouping)
            parent = {code: above for above, below in parts.items() for code in below}
            out.append({c: None if parent[c] == TOTAL else parent[c] for c in _walk(parts, TOTAL) if c != TOTAL})
        return tuple(out)

    @classmethod
    def flat(cls, name: str, codes: Iterable[str]) -> Axis:
        """A variable without levels.

        Examples
        --------
        >>> Axis.flat("sex", ["f", "m"]).codes
        ('Total', 'f', 'm')
        """
        return cls(name, (Hierarchy(tuple((code,) for code in codes)),))

    def joined(self, other: Axis) -> Axis:
        """The variable with the groupings of both.

        Examples
        --------
        >>> by_county = Axis("town", (Hierarchy((("a", "x"), ("b", "x"))),))
        >>> Axis.flat("town", ["a", "b"]).joined(by_county).codes
        ('Total', 'a', 'b', 'x')
        """
        new = tuple(grouping for grouping in other.groupings if grouping not in self.groupings)
        return self if not new else Axis(self.name, (*self.groupings, *new))


def _walk(tree: Mapping[str, Sequence[str]], code: str) -> Iterable[str]:
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(tree.get(one, ())))


def _under(tree: Mapping[str, Sequence[str]], code: str) -> set[str]:
    return set(_walk(tree, code)) - {code}


def _tree(name: str, hierarchy: Hierarchy) -> dict[str, tuple[str, ...]]:
    """The parts of each code, `Total` first; a code with its own name as only part is one with it."""
    paths = [_down(name, path) for path in hierarchy.paths]
    parts: dict[str, dict[str, None]] = {TOTAL: {}}
    parent: dict[str, str] = {}
    for path in paths:
        for above, code in itertools.pairwise(path):
            if parent.setdefault(code, above) != above:
                raise DataError(f"A code of {name!r} stands in two places of its hierarchy. Write it parent/code.")
            parts.setdefault(above, {})[code] = None
    if TOTAL in parent:
        raise DataError(f"{name!r} has the code {TOTAL} among others. It stands for all and is always on top.")
    return {code: tuple(below) for code, below in parts.items()}


def _down(name: str, path: Sequence[str]) -> tuple[str, ...]:
    """A path from `Total` down, a level that repeats the one above left out."""
    down = list(reversed(path))
    if down[0] == TOTAL:
        down = down[1:]
    if not down:
        raise DataError(f"{name!r} has the code {TOTAL} among others. It stands for all and is always on top.")
    kept = [code for i, code in enumerate(down) if i == 0 or code != down[i - 1]]
    return (TOTAL, *kept)


def qualified(name: str, paths: Iterable[Sequence[str]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Name the codes of nested columns so that each has one place: one under two parents is written `parent/code`.

    Parameters
    ----------
    name
        The variable, for messages.
    paths
        Codes from the broadest column to the finest.

    Returns
    -------
    dict
        By path the names of its codes, from the broadest to the finest. A code that repeats the one above and is all
        that it holds is one with it.

    Examples
    --------
    >>> list(qualified("A21", [("1", "X"), ("2", "X"), ("2", "Y"), ("Z", "Z")]).values())
    [('1', '1/X'), ('2', '2/X'), ('2', 'Y'), ('Z', 'Z')]
    """
    given = [tuple(path) for path in dict.fromkeys(map(tuple, paths))]
    parts: dict[tuple[str, ...], set[str]] = {}
    for path in given:
        for i in range(len(path)):
            parts.setdefault(path[:i], set()).add(path[i])
    nodes = [node for node in parts if node] + given
    alone = {node for node in nodes if len(node) > 1 and node[-1] == node[-2] and len(parts[node[:-1]]) == 1}
    bearers: dict[str, int] = {}
    for node in dict.fromkeys(nodes):
        if node not in alone:
            bearers[node[-1]] = bearers.get(node[-1], 0) + 1
    names: dict[tuple[str, ...], str] = {(): ""}
    for node in sorted(dict.fromkeys(nodes), key=len):
        above = names[node[:-1]]
        twice = bearers.get(node[-1], 0) > 1 and len(node) > 1
        names[node] = above if node in alone else f"{above}/{node[-1]}" if twice else node[-1]
    _refuse_clashes(name, names, alone)
    return {path: tuple(names[path[:i]] for i in range(1, len(path) + 1)) for path in given}


def _refuse_clashes(name: str, names: Mapping[tuple[str, ...], str], alone: set[tuple[str, ...]]) -> None:
    own = [label for node, label in names.items() if node not in alone]
    if len(set(own)) < len(own):
        raise DataError(f"Codes of {name!r} cannot be told apart once their parent stands before them: one has a /.")
