"""What a set of margins comes to: the records it is about, the margins of counts that are known, sums beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.following import following
from sfumato.gate.margin import Margin, Node, base_of
from sfumato.gate.records import Records, Scope
from sfumato.gate.structure import KNOWN, KNOWN_OF, LIFE, MISSING, Structure, by_variable
from sfumato.kernels.tabular.cover import covered

__all__ = ["FEW_VALUES", "Case", "Clique"]

Bools = NDArray[np.bool_]
Clique = tuple[Node, ...]

FEW_VALUES = 50
"""A variable with at most so many values is told, value by value, by its sums."""


@dataclass(frozen=True)
class Case:
    """All that somebody would know, as margins of counts.

    A sum, weighted or not, and sums of squares bring two margins of counts: of how many people lie in each cell, and of
    how many of these have a value. Where numbers add up, sums of all but one bring those of the last.

    Somebody who knows one version sees no other records. From two versions on every margin is cut by which versions a
    record stands in, and both sides are taken as known.

    Parameters
    ----------
    scope
        The records.
    known
        The margins of counts, none of which another one gives.
    sums
        Sums that are no margins of counts.
    counted
        Sums that are: they are told value by value, and have shares all the same.
    """

    scope: Scope
    known: tuple[Clique, ...]
    sums: tuple[Margin, ...]
    counted: tuple[Margin, ...] = ()

    @classmethod
    def of(cls, records: Records, margins: Iterable[Margin]) -> Case:
        """What margins come to together; perturbed ones are of another budget, see `noise`."""
        everything = tuple(margin for margin in margins if not margin.noise)
        everything += following(records, everything)
        versions = {margin.version for margin in everything}
        scope = records.scope(versions)
        several = len(versions) > 1
        asked = {node.variable for margin in everything for node in margin.nodes if node.level != KNOWN}
        cut: list[Margin] = []
        sums: list[Margin] = []
        counted: list[Margin] = []
        for margin in everything:
            life = [Node(LIFE, margin.version)] if several else []
            nodes = [*margin.nodes, *life]
            told = records.structure.told_with(margin)
            for summed in sorted({base_of(margin.value), margin.weight} - {""}):
                as_margin = _as_margin(records, summed, asked)
                nodes += [Node(summed)] if as_margin else []
                (counted if as_margin else sums).append(replace(margin, nodes=tuple(sorted({*margin.nodes, *life}))))
            if margin.value and margin.weight:  # a weighted mean tells the weights of those who have a value
                sums.append(replace(margin, nodes=tuple(sorted({*margin.nodes, *life, *told})), value=""))
            cut.append(Margin.of([*nodes, *told]))
        known = tuple(margin.nodes for margin in scope.structure.largest(cut))
        own = tuple(one for one in counted if one not in sums)
        every = dict.fromkeys(_that_follow(records, [*sums, *own], known))
        return cls(scope, known, tuple(one for one in every if one not in own), own)

    @property
    def structure(self) -> Structure:
        """The codebook."""
        return self.scope.structure

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of all margins."""
        return tuple(sorted({node for clique in self.known for node in clique}))

    @cached_property
    def variables(self) -> dict[str, tuple[Node, ...]]:
        """The nodes of each variable."""
        return by_variable(self.nodes)

    @cached_property
    def joint_cells(self) -> int:
        """Cells of the coarsest table from which all that is known follows."""
        return self.structure.joint_cells(self.nodes)

    @cached_property
    def lacking(self) -> Bools | None:
        """Which records have no value of any variable of which that is no secret; None where none is told of.

        Their cells may be small. Whoever has a value of one of them is protected.
        """
        out: Bools | None = None
        for name in sorted(self.structure.missing_told):
            node = self.structure.known(name)
            if node is not None and self.structure.tells(self.nodes, node):
                own = self.scope.column(node) == self.structure.groups(node).index(MISSING)
                out = own if out is None else out & own
        return out

    @cached_property
    def untold(self) -> Case:
        """The same without these variables: a group that lacks a value as a whole is protected as any other."""
        told = {one for name in self.structure.missing_told for one in (name, KNOWN_OF + name)}
        left = [Margin.of(node for node in clique if node.variable not in told) for clique in self.known]
        return Case(self.scope, tuple(margin.nodes for margin in self.structure.largest(left)), ())

    @cached_property
    def given(self) -> tuple[Clique, ...]:
        """What is given to the attacker beside: combinations of which the codebook tells something."""
        return tuple(tuple(sorted(own)) for own in self.structure.given(self.nodes))

    @cached_property
    def cover(self) -> tuple[tuple[Clique, ...], tuple[Clique, ...], bool]:
        """Cliques with a closed form in which all margins lie, what separates them, and whether they are no more."""
        number = {node: i for i, node in enumerate(self.nodes)}
        size = [self.structure.size(node) for node in self.nodes]
        masks = [sum(1 << number[n] for n in clique) for clique in (*self.known, *self.given)]
        cliques, between, _ = covered(masks, size)
        named = tuple(self._named(mask) for mask in cliques)
        exact = all(any(set(clique) <= set(held) for held in self.known) for clique in named)
        return named, tuple(self._named(mask) for mask in between), exact

    def _named(self, mask: int) -> Clique:
        return tuple(node for i, node in enumerate(self.nodes) if mask >> i & 1)


def _that_follow(records: Records, sums: Sequence[Margin], known: Sequence[Clique]) -> list[Margin]:
    """Sums, and those of numbers that add up with them: once two of these are told, all are by all that any is told by.

    A part is no more than the whole in every cell, so that margins of the one bind the other. Told alike, the parts are
    free of one another, and what each can be at most adds up. A number is told by its values too, where these are
    counted.
    """
    out = list(sums)
    for one in records.found:
        if one.kind != "adds":
            continue
        names = {*one.of, one.to or ""}
        told = [margin for margin in out if margin.value in names and not margin.weight]
        told += [
            Margin.of([other for other in clique if other.variable != node.variable], node.variable)
            for clique in known
            for node in clique
            if node.variable in names and not node.level
        ]
        if len({margin.value for margin in told}) > 1:
            out += [replace(margin, value=name) for margin in told for name in sorted(names)]
    return out


def _as_margin(records: Records, summed: str, asked: set[str]) -> bool:
    """Whether sums of a variable are taken as counts of its values."""
    if records.distinct(summed) <= FEW_VALUES:
        return True
    return bool(asked & {summed, *records.structure.derived.get(summed, ())})
