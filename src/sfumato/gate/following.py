"""Sums that follow from others: where numbers add up, those of all but one give the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from sfumato.gate.margin import Margin, Node
from sfumato.gate.records import Records
from sfumato.gate.structure import Structure

__all__ = ["following"]

_MOST = 10_000
"""Combinations of margins that are put together for one sum; more than these are taken for one margin of all nodes."""


def following(records: Records, margins: Iterable[Margin]) -> tuple[Margin, ...]:
    """The sums that somebody who knows some margins works out from numbers that add up.

    Parameters
    ----------
    records
        The data, with what was found about them.
    margins
        What is known.

    Returns
    -------
    tuple of Margin
        Those that no margin of the same number gives. By what all the others have in common: sums by A and B, and by A
        and C, give those of the last by A.

    Notes
    -----
    Somebody who lacks one of the values is in some of the sums and not in others, so that the last may not quite
    follow: it is taken to follow.
    """
    adds = [(*one.of, one.to) for one in records.found if one.kind == "adds" and one.to is not None]
    held = [margin for margin in margins if not margin.noise and not margin.fit]
    if not adds or not any(margin.value for margin in held):
        return ()
    out: list[Margin] = []
    fresh = True
    while fresh:
        fresh = False
        for columns in adds:
            for last in columns:
                for margin in _last(records.structure, [*held, *out], [c for c in columns if c != last], last):
                    if not any(_gives(records.structure, one, margin) for one in (*held, *out)):
                        out.append(margin)
                        fresh = True
    return tuple(out)


def _last(structure: Structure, held: Sequence[Margin], others: Sequence[str], last: str) -> list[Margin]:
    """Sums of one number, from those of all the others by what these have in common."""
    out = []
    for version, weight in sorted({(margin.version, margin.weight) for margin in held}):
        told = [
            sorted({m.nodes for m in held if (m.version, m.weight) == (version, weight) and _sums(structure, m, name)})
            for name in others
        ]
        if not all(told):
            continue
        many = 1
        for own in told:
            many *= len(own)
        if many > _MOST:
            told = [[tuple(sorted({node for nodes in own for node in nodes}))] for own in told]
        out += [Margin.of(_common(structure, chosen), last, weight, version) for chosen in product(*told)]
    return [structure.canonical(margin) for margin in dict.fromkeys(out)]


def _sums(structure: Structure, margin: Margin, name: str) -> bool:
    """Whether a margin tells the sums of a number by its nodes: it is one of them, or shown by all its values."""
    if margin.value == name:
        return True
    return not margin.weight and name in structure.codes and structure.tells(margin.nodes, Node(name))


def _common(structure: Structure, margins: Sequence[Sequence[Node]]) -> list[Node]:
    """What each of several sets of nodes tells, of their nodes and of their variables' levels."""
    variables = {node.variable for nodes in margins for node in nodes}
    every = {node for nodes in margins for node in nodes} | {
        Node(*key) for key in structure.levels if key[0] in variables
    }
    return [node for node in every if all(structure.tells(nodes, node) for nodes in margins)]


def _gives(structure: Structure, margin: Margin, wanted: Margin) -> bool:
    if structure.covers(margin, wanted):
        return True
    same = (margin.version, margin.weight) == (wanted.version, wanted.weight)
    return (
        same and _sums(structure, margin, wanted.value) and all(structure.tells(margin.nodes, n) for n in wanted.nodes)
    )
