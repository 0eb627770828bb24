"""What a set of margins comes to: the records it is about, the margins of counts that are known, sums beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from sfumato.gate.margin import Margin, Node, base_of
from sfumato.gate.records import Records, Scope
from sfumato.gate.structure import KNOWN, LIFE, Structure, by_variable
from sfumato.kernels.tabular.cover import covered

__all__ = ["FEW_VALUES", "Case", "Clique"]

Clique = tuple[Node, ...]

FEW_VALUES = 50
"""A variable with at most so many values is told, value by value, by its sums."""


@dataclass(frozen=True)
class Case:
    """All that somebody would know, as margins of counts.

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
    """

    scope: Scope
    known: tuple[Clique, ...]
    sums: tuple[Margin, ...]

    @classmethod
    def of(cls, records: Records, margins: Iterable[Margin]) -> Case:
        """What margins come to together; perturbed ones are of another budget, see `noise`."""
        everything = tuple(margin for margin in margins if not margin.noise)
        versions = {margin.version for margin in everything}
        scope = records.scope(versions)
        several = len(versions) > 1
        asked = {node.variable for margin in everything for node in margin.nodes if node.level != KNOWN}
        cut: list[Margin] = []
        sums = []
        for margin in everything:
            life = [Node(LIFE, margin.version)] if several else []
            nodes = [*margin.nodes, *life]
            for summed in {base_of(margin.value), margin.weight} - {""}:
                if _as_margin(records, summed, asked):
                    nodes.append(Node(summed))
                else:
                    sums.append(replace(margin, nodes=tuple(sorted({*margin.nodes, *life}))))
            cut.append(Margin.of(nodes))
        known = tuple(margin.nodes for margin in scope.structure.largest(cut))
        return cls(scope, known, tuple(dict.fromkeys(sums)))

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


def _as_margin(records: Records, summed: str, asked: set[str]) -> bool:
    """Whether sums of a variable are taken as counts of its values."""
    if records.distinct(summed) <= FEW_VALUES:
        return True
    return bool(asked & {summed, *records.structure.derived.get(summed, ())})
