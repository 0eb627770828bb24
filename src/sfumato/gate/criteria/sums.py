"""Sums: what is given to an attacker, of each, so that upper ends of its cells have a closed form.

For margins of sums that are the cliques of a chordal graph the most that a joint cell can be is the least of the clique
cells in which it lies, and is reached, whatever sums of at least 0 stand in their tables (Dobra & Fienberg 2000, PNAS
97, 11885-11892). What breaks this are cells that are known to be empty and that do not follow from empty cells of the
cliques: margins of counts, and what the codebook says cannot be, bring such. So they are cliques too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.margin import Margin, Node, base_of
from sfumato.kernels.tabular.cover import triangulated, without
from sfumato.kernels.tabular.margins import bits

__all__ = ["Contributions", "Summed", "contributions", "summed"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST = 1 << 22
"""Cells of a margin up to which it is looked at whether what cannot be is all that is empty."""


@dataclass(frozen=True)
class Summed:
    """All sums of one variable that would be known, and what is given to the attacker beside.

    Parameters
    ----------
    case
        What would be known.
    names
        What is summed: a variable, and one that weights it, or an empty text.
    margins
        By what it is summed.
    sources
        These, and all that tells of empty cells which hang together with them.
    cliques
        Cliques in which every one of them lies, of nodes that it is summed by; their cells are judged.
    """

    case: Case
    names: tuple[str, str]
    margins: tuple[Clique, ...]
    sources: frozenset[Clique]
    cliques: tuple[Clique, ...]

    @property
    def value(self) -> Floats:
        """What each record adds: its value, its weight, or both multiplied; not a number where there is none."""
        out = np.ones(self.case.scope.rows)
        for name in self.names:
            if name:
                out = out * self.case.scope.number(name)
        return out

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the most that a value can be, where the codebook says so; a weight has no range."""
        name, weight = self.names
        told = self.case.structure.ranges.get(base_of(name))
        if told is None or weight:
            return None
        if base_of(name) == name:
            return told
        low, high = told[0] ** 2, told[1] ** 2
        return (0.0 if told[0] <= 0 <= told[1] else min(low, high)), max(low, high)

    @property
    def capped(self) -> bool:
        """Whether a value has a least and a most: then what many have together tells what a few can have."""
        return self.range is not None and all(map(np.isfinite, self.range))

    @property
    def signed(self) -> bool:
        """Whether something that is summed may be negative, and the codebook says of no end how far."""
        return any(name in self.case.structure.signed for name in self.names)

    @property
    def sizes(self) -> tuple[Floats, ...]:
        """What is judged, for each record: its value, and how far it lies from the ends of its range."""
        value, told = self.value, self.range
        if told is None:
            return (np.abs(value),)
        ends = [np.abs(value - end) for end in told if np.isfinite(end) and end]
        return (np.abs(value), *ends)

    @property
    def nodes(self) -> Clique:
        """All nodes of all sources."""
        return tuple(sorted({node for clique in self.sources for node in clique}))


@dataclass(frozen=True)
class Contributions:
    """What each record adds to which cell of a sum.

    Parameters
    ----------
    summed
        What is summed: a variable, and one that weights it, or an empty text.
    cell : ndarray of int64, shape (records,)
        The cell that each record with a value lies in.
    value : ndarray of float64, shape (records,)
        What it adds.
    cells
        How many cells there are.
    """

    summed: tuple[str, str]
    cell: Ints
    value: Floats
    cells: int


def summed(case: Case, beside: Case | None = None, *, counted: bool = True) -> Iterator[Summed]:
    """Go through the variables that are summed.

    Parameters
    ----------
    case
        What would be known.
    beside
        What is known already, where it breaks the policy: sums of which nothing more is known are left out.
    counted
        Whether sums that are told value by value are among them.
    """
    before = {} if beside is None else {one.names: one for one in summed(beside, counted=counted)}
    wanted: dict[tuple[str, str], list[Margin]] = {}
    for margin in (*case.sums, *(case.counted if counted else ())):
        wanted.setdefault((margin.value, margin.weight), []).append(margin)
    for names, margins in sorted(wanted.items()):
        one = _summed(case, names, margins)
        earlier = before.get(names)
        same = earlier is not None and beside is not None and beside.scope is case.scope
        if not (same and earlier is not None and (earlier.margins, earlier.sources) == (one.margins, one.sources)):
            yield one


def contributions(case: Case, beside: Case | None = None) -> Iterator[Contributions]:
    """Go through the sums of a case that are no counts, and of each through the cliques whose cells are judged."""
    for one in summed(case, beside, counted=False):
        value = one.value
        known = np.isfinite(value)
        for clique in one.cliques:
            told = case.scope.margin(clique)
            yield Contributions(one.names, told.cell[known].astype(np.int64), value[known], len(told.count))


def _summed(case: Case, names: tuple[str, str], margins: list[Margin]) -> Summed:
    """Put together what hangs on the nodes that a variable is summed by, and leave out all other nodes.

    Levels of one variable, and versions, hang together as combinations of which the codebook tells something do:
    differences of sums tell of these. Whoever has no value adds nothing: of margins that are cut by whether there is
    one, the part of those who have one is looked at.
    """
    aside = {node for name in names if name and (node := case.structure.known(base_of(name))) is not None}
    by = tuple(sorted({_but(margin.nodes, aside) for margin in margins}))
    own = sorted({node for nodes in by for node in nodes})
    nodes = sorted({*own, *case.nodes} - aside)
    given = [tuple(sorted(held)) for held in case.structure.given(nodes)]
    whole = Summed(case, names, by, frozenset(), ())
    sources = _together(by, [*given, *_with_zeros(whole, given, aside)])
    number = {node: i for i, node in enumerate(nodes)}
    size = [case.structure.size(node) for node in nodes]
    masks = [sum(1 << number[node] for node in clique) for clique in sources]
    gone = sum(1 << number[node] for node in nodes if node not in set(own))
    cliques = triangulated(without(masks, gone, size), size)
    named = tuple(tuple(nodes[i] for i in bits(mask)) for mask in cliques) or ((),)
    return Summed(case, names, by, frozenset(sources), named)


def _but(nodes: Clique, aside: set[Node]) -> Clique:
    return tuple(node for node in nodes if node not in aside)


def _with_zeros(one: Summed, given: list[Clique], aside: set[Node]) -> list[Clique]:
    """Cliques in which the margins of counts lie, those with an empty cell that the codebook does not rule out.

    Rings of margins tell of cells that none of them shows: so it is not the margins that are looked at. Where a value
    has a least and a most, full margins tell too.
    """
    case = one.case
    nodes = sorted({*case.nodes, *(node for held in given for node in held)})
    number = {node: i for i, node in enumerate(nodes)}
    size = [case.structure.size(node) for node in nodes]
    masks = [sum(1 << number[node] for node in clique) for clique in (*case.known, *given)]
    out = []
    for mask in triangulated(masks, size):
        clique = tuple(nodes[i] for i in bits(mask))
        inner = _but(clique, aside)
        if one.capped or _has_zeros(one, inner, part=inner != clique):
            out.append(inner)
    return out


def _has_zeros(one: Summed, clique: Clique, *, part: bool) -> bool:
    """Whether a margin has an empty cell; of those who have a value, where it is known who has."""
    if len(clique) < 2:
        return False
    structure, told = one.case.structure, one.case.scope.margin(clique)
    count = told.count
    if part:
        count = np.bincount(told.cell[np.isfinite(one.value)], minlength=len(count))
    cells, held = structure.joint_cells(clique), int(np.count_nonzero(count))
    if held == cells:
        return False
    return cells > _MOST or held < cells - int(np.count_nonzero(structure.impossible(clique)))


def _together(by: tuple[Clique, ...], told: list[Clique]) -> list[Clique]:
    """The margins of sums, and of all else what hangs together with them."""
    out, reached = list(by), {node for nodes in by for node in nodes}
    left = list(told)
    while near := [clique for clique in left if reached & set(clique)]:
        out += near
        reached |= {node for clique in near for node in clique}
        left = [clique for clique in left if clique not in near]
    return out
