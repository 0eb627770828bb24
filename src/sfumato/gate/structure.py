"""What is said of a data set before any record is looked at: codes, levels, combinations that cannot be, cohorts.

Everybody who may ask knows it: it is the codebook. Decisions treat what follows from it as known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.gate.dependences.rules import LARGEST as WRITTEN_OUT
from sfumato.gate.dependences.rules import Says, bound_to
from sfumato.gate.margin import Margin, Node, base_of
from sfumato.kernels.tabular.combinations import Rule, TooManyCombinations, projected

__all__ = ["KNOWN", "KNOWN_OF", "LIFE", "MISSING", "Structure"]

Ints = NDArray[np.int64]

MISSING = "(missing)"
"""The category of a missing value."""
KNOWN = "(known)"
"""The level that every variable has by itself: whether its value is there or missing. Complete cases are cut by it."""
KNOWN_OF = "@known of "
"""Before the name of a number without codes: the variable that says whether its value is there or missing."""
LIFE = "@versions"
"""The variable that says in which versions a record stands as it is; no variable of the data can be named so."""


@dataclass(frozen=True)
class Structure:
    """Codes of variables, and what can be said of them without looking at records.

    Parameters
    ----------
    codes
        By variable its codes, as texts.
    levels
        By variable and name of a level: the group of each code.
    never
        Combinations of codes that cannot be, each as code by variable.
    cohorts
        By derived variable, the variables that it is made of, and which code each combination of codes gives: lines of
        codes' numbers, its own last.
    versions
        Names of the versions that are told apart; none where there is one.
    sensitive
        Variables that must not be learned.
    signed
        Variables that may be negative and have no range in the codebook.
    missing
        By variable, the codes that say that a value is missing.
    found
        Rules that were found in the data, of all versions and of single ones.
    made
        By variable, columns that were found to be made of it.
    ranges
        By variable, the least and the most that its values can be, endless on a side that the codebook leaves open.
    missing_told
        Variables of which it is no secret whether somebody's value is there.

    Examples
    --------
    >>> town = Structure({"town": ("Bath", "Leeds", "York")}, {("town", "area"): ("S", "N", "N")})
    >>> town.groups(Node("town", "area")), town.place(Node("town", "area")).tolist()
    (('N', 'S'), [1, 0, 0])
    >>> town.covers(Margin.of([Node("town")]), Margin.of([Node("town", "area")]))
    True
    """

    codes: Mapping[str, tuple[str, ...]]
    levels: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    never: tuple[Mapping[str, str], ...] = ()
    cohorts: Mapping[str, tuple[tuple[str, ...], Ints]] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    sensitive: frozenset[str] = frozenset()
    signed: frozenset[str] = frozenset()
    missing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    found: tuple[Says, ...] = field(default=(), compare=False)
    made: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    missing_told: frozenset[str] = frozenset()
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for (variable, level), groups in self.levels.items():
            if variable not in self.codes:
                raise DataError(f"Level {level!r} is of a variable {variable!r} that the data do not have.")
            if len(groups) != len(self.codes[variable]):
                raise DataError(f"Level {level!r} of {variable!r} must name a group for each code.")
        for never in self.never:
            for variable, code in never.items():
                if variable not in self.codes:
                    raise DataError(f"`never` names a variable {variable!r} that the data do not have.")
                if code not in self.codes[variable]:
                    raise DataError(f"`never` names a code of {variable!r} that the data do not have.")

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables with codes that have a name of their own: those that somebody can ask by."""
        return tuple(name for name in self.codes if not name.startswith("@"))

    def known(self, variable: str) -> Node | None:
        """What says whether a variable's value is there or missing; None where it is there in every record."""
        if variable in self.codes:
            return Node(variable, KNOWN) if self.missing.get(variable) else None
        return Node(KNOWN_OF + variable) if KNOWN_OF + variable in self.codes else None

    def over(self, versions: Sequence[str]) -> Structure:
        """The same with the variable that tells versions apart, where there are several."""
        names = tuple(sorted(versions))
        if len(names) < 2 and not any(says.version for says in self.found):
            return self
        if ("over", names) not in self._cache:
            self._cache["over", names] = self._over(names)
        made: Structure = self._cache["over", names]
        return made

    def _over(self, names: tuple[str, ...]) -> Structure:
        found = [says for says in self.found if not says.version]
        own = [says for says in self.found if says.version in names]
        if len(names) < 2:
            return replace(self, found=(*found, *(replace(says, version="") for says in own)))
        lives = range(1, 1 << len(names))
        told = {(LIFE, v): tuple("in" if life >> i & 1 else "out" for life in lives) for i, v in enumerate(names)}
        codes = {**self.codes, LIFE: tuple(str(life) for life in lives)}
        for says in own:
            found.append(bound_to(says, LIFE, np.array([one == "in" for one in told[LIFE, says.version]])))
        levels = {**self.levels, **told}
        return replace(self, codes=codes, levels=levels, versions=names, found=tuple(found))

    def groups(self, node: Node) -> tuple[str, ...]:
        """Names of a node's groups, in the order of their numbers."""
        return self._node(node)[0]

    def size(self, node: Node) -> int:
        """How many groups a node has."""
        return len(self._node(node)[0])

    def place(self, node: Node) -> Ints:
        """The number of the group of each code."""
        return self._node(node)[1]

    def _node(self, node: Node) -> tuple[tuple[str, ...], Ints]:
        if node not in self._cache:
            codes = self.codes[node.variable]
            if not node.level:
                self._cache[node] = codes, np.arange(len(codes), dtype=np.int64)
            else:
                own = self._known(node.variable) if node.level == KNOWN else self.levels[node.variable, node.level]
                names = tuple(sorted(set(own)))
                number = {name: i for i, name in enumerate(names)}
                self._cache[node] = names, np.array([number[group] for group in own], dtype=np.int64)
        found: tuple[tuple[str, ...], Ints] = self._cache[node]
        return found

    def _known(self, variable: str) -> tuple[str, ...]:
        """Of each code whether it is a value, or says that there is none."""
        gone = self.missing.get(variable, frozenset())
        return tuple(MISSING if code in gone else KNOWN for code in self.codes[variable])

    def refinement(self, nodes: Iterable[Node]) -> tuple[Ints, int]:
        """The common refinement of nodes of one variable: the number of each code's cell, and how many there are."""
        key = ("refinement", tuple(sorted(nodes)))
        if key not in self._cache:
            places = np.stack([self.place(node) for node in key[1]], axis=1)
            cells, number = np.unique(places, axis=0, return_inverse=True)
            self._cache[key] = number.astype(np.int64).ravel(), len(cells)
        found: tuple[Ints, int] = self._cache[key]
        return found

    def tells(self, known: Iterable[Node], node: Node) -> bool:
        """Whether nodes of one variable together determine another one of it."""
        own = tuple(sorted(n for n in known if n.variable == node.variable))
        if node in own or self.size(node) < 2:
            return True
        if not own:
            return False
        key = ("tells", own, node)
        if key not in self._cache:
            number, cells = self.refinement(own)
            pairs = np.unique(np.stack([number, self.place(node)], axis=1), axis=0)
            self._cache[key] = len(pairs) == cells
        return bool(self._cache[key])

    def canonical(self, margin: Margin) -> Margin:
        """Without nodes that the others of a margin tell; a protected fit stays as it is."""
        if margin.fit:
            return margin
        kept = [node for node in margin.nodes if self.size(node) > 1]
        for node in sorted(kept, key=lambda n: (self.size(n), n)):
            if self.tells([n for n in kept if n != node], node):
                kept.remove(node)
        return Margin.of(kept, margin.value, margin.weight, margin.version, margin.noise)

    def covers(self, margin: Margin, other: Margin) -> bool:
        """Whether a margin gives another one by summing; a perturbed one, and a fit, give themselves alone."""
        if margin.fit or other.fit:
            return margin == other
        if margin.noise:
            return self.canonical(margin) == self.canonical(other)
        if margin.version != other.version or other.weight not in ("", margin.weight):
            return False
        if other.value and (other.value, other.weight) != (margin.value, margin.weight):
            return False
        if other.weight and not other.value and margin.value:  # a weighted sum does not bring the weights
            return False
        nodes = (*margin.nodes, *self.told_with(margin))
        return all(self.tells(nodes, node) for node in other.nodes)

    def told_with(self, margin: Margin) -> tuple[Node, ...]:
        """What a sum is told with beside its own nodes: whether what is summed is there or missing."""
        summed = {base_of(margin.value), margin.weight} - {""}
        return tuple(sorted(node for name in summed if (node := self.known(name)) is not None))

    def largest(self, margins: Iterable[Margin]) -> tuple[Margin, ...]:
        """Those that no other one gives by summing."""
        kept: list[Margin] = []
        for margin in sorted(set(map(self.canonical, margins)), key=lambda m: (-len(m.nodes), m)):
            if not any(self.covers(other, margin) for other in kept):
                kept = [other for other in kept if not self.covers(margin, other)] + [margin]
        return tuple(sorted(kept))

    def joint_cells(self, nodes: Iterable[Node]) -> int:
        """How many cells the coarsest table has from which all of these follow."""
        out = 1
        for own in by_variable(nodes).values():
            out *= self.refinement(own)[1]
        return out

    def given(self, nodes: Iterable[Node]) -> list[frozenset[Node]]:
        """Sets of nodes about whose combinations something is known: of one variable, of rules declared or found."""
        own = by_variable(nodes)
        out = [frozenset(held) for held in own.values() if len(held) > 1]
        rules, away = self._told(own)
        held = [*(names for names, _ in rules), *away]
        return out + [frozenset(n for variable in names for n in own[variable]) for names in held]

    @cached_property
    def derived(self) -> dict[str, tuple[str, ...]]:
        """By variable, the cohorts that are made of it, and columns that were found to be."""
        out: dict[str, tuple[str, ...]] = dict(self.made)
        for cohort, (sources, _) in self.cohorts.items():
            for source in sources:
                out[source] = (*out.get(source, ()), cohort)
        return out

    @cached_property
    def ruled(self) -> frozenset[str]:
        """Variables of which something is known beside their codes: combinations that cannot be."""
        return frozenset(name for names, _ in self._rules for name in names) | {
            name for says in self.found if not says.version for name in says.names
        }

    def says_of(self, nodes: Sequence[Node]) -> bool:
        """Whether a rule may tell of combinations of some nodes: at least two of their variables stand in one."""
        return len({node.variable for node in nodes} & self.ruled) > 1

    def away(self, nodes: Iterable[Node]) -> list[frozenset[Node]]:
        """Sets of nodes whose combinations are given away, for what was found hangs together over too many codes.

        Whoever knows which of their cells hold somebody knows more than what was found says.
        """
        own = by_variable(nodes)
        return [frozenset(n for variable in names for n in own[variable]) for names in self._told(own)[1]]

    def impossible(self, nodes: Iterable[Node]) -> NDArray[np.bool_]:
        """Joint cells that cannot hold anybody, with an axis for each variable of the nodes, in rising order.

        A joint cell is impossible where every combination of codes of all variables that lies in it is.
        """
        own = by_variable(nodes)
        names = sorted(own)
        out = np.zeros([self.refinement(own[name])[1] for name in names], dtype=bool)
        for held, can in self._told(own)[0]:
            sizes = dict(zip(held, can.shape, strict=True))
            out |= ~can.reshape([sizes.get(name, 1) for name in names])
        return out

    def _told(self, own: Mapping[str, tuple[Node, ...]]) -> tuple[list[Rule], list[tuple[str, ...]]]:
        """Which combinations of refined groups can be, by the variables that they are of, and what is given away."""
        held = {name: nodes for name, nodes in own.items() if name in self.ruled}
        key = ("told", tuple(held.values()))
        if key not in self._cache:
            groups = {name: self.refinement(nodes) for name, nodes in held.items()}
            rules: list[Rule] = []
            away = []
            for part in self._parts:
                more, given = self._of_part(part, {name: groups[name] for name in groups if name in part.names})
                rules += more
                away += [given] if len(given) > 1 else []
            self._cache[key] = sorted(rules, key=lambda rule: rule[0]), away
        told: tuple[list[Rule], list[tuple[str, ...]]] = self._cache[key]
        return told

    def _of_part(self, part: _Part, groups: Mapping[str, tuple[Ints, int]]) -> tuple[list[Rule], tuple[str, ...]]:
        if len(groups) == 0:
            return [], ()
        if part.found and part.whole:
            try:
                return projected([*part.declared, *part.found], groups, WRITTEN_OUT), ()
            except TooManyCombinations:
                pass
        try:
            return projected(part.declared, groups), tuple(sorted(groups)) if part.more else ()
        except TooManyCombinations:
            raise DataError(
                "The combinations that cannot be, and cohorts, hang together over too many codes. Name fewer."
            ) from None

    @cached_property
    def _parts(self) -> list[_Part]:
        """Rules that hang together by their variables."""
        found = [says for says in self.found if not says.version]
        held: list[set[str]] = []
        for names in [*(names for names, _ in self._rules), *(says.names for says in found)]:
            joined = set(names).union(*(own for own in held if own & set(names)))
            held = [*(own for own in held if not own & joined), joined]
        return [
            _Part(
                frozenset(own),
                tuple(rule for rule in self._rules if own >= set(rule[0])),
                tuple((says.names, says.can) for says in found if own >= set(says.names) and says.can is not None),
                any(own >= set(says.names) for says in found),
                all(says.can is not None for says in found if own >= set(says.names)),
            )
            for own in held
        ]

    @cached_property
    def _rules(self) -> list[Rule]:
        """Which combinations of codes can be, by what is declared, with an axis for each variable."""
        out: dict[tuple[str, ...], NDArray[np.bool_]] = {}
        for never in self.never:
            held = tuple(sorted(never))
            table = out.setdefault(held, np.ones([len(self.codes[v]) for v in held], dtype=bool))
            table[tuple(self.codes[v].index(never[v]) for v in held)] = False
        rules = list(out.items())
        for cohort, (sources, lines) in self.cohorts.items():
            everything = (*sources, cohort)
            held = tuple(sorted(everything))
            can = np.zeros([len(self.codes[v]) for v in held], dtype=bool)
            can[tuple(lines[:, everything.index(v)] for v in held)] = True
            rules.append((held, can))
        return rules


@dataclass(frozen=True)
class _Part:
    """Rules that hang together.

    Parameters
    ----------
    names
        All variables that they are about.
    declared, found
        The rules.
    more
        Whether some were found.
    whole
        Whether all that were found are written out.
    """

    names: frozenset[str]
    declared: tuple[Rule, ...]
    found: tuple[Rule, ...]
    more: bool
    whole: bool


def by_variable(nodes: Iterable[Node]) -> dict[str, tuple[Node, ...]]:
    """Nodes of each variable, in rising order."""
    out: dict[str, list[Node]] = {}
    for node in sorted(set(nodes)):
        out.setdefault(node.variable, []).append(node)
    return {variable: tuple(own) for variable, own in out.items()}
