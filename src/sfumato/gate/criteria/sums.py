"""Sums: the cells of each, in every clique of the cover of all margins that it was asked by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.margin import Margin
from sfumato.kernels.tabular.cover import triangulated

__all__ = ["Contributions", "contributions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def contributions(case: Case) -> Iterator[Contributions]:
    """Go through the sums of a case, and of each through the cliques in which all its margins lie."""
    wanted: dict[tuple[str, str], list[Margin]] = {}
    for margin in case.sums:
        wanted.setdefault((margin.value, margin.weight), []).append(margin)
    for summed, margins in sorted(wanted.items()):
        value = _values(case, summed)
        known = np.isfinite(value)
        for clique in _cliques(case, margins):
            told = case.scope.margin(clique)
            yield Contributions(summed, told.cell[known].astype(np.int64), value[known], len(told.count))


def _values(case: Case, summed: tuple[str, str]) -> Floats:
    """What each record adds: its value, its weight, or both multiplied."""
    out = np.ones(case.scope.rows)
    for name in summed:
        if name:
            out = out * case.scope.number(name)
    return out


def _cliques(case: Case, margins: list[Margin]) -> list[Clique]:
    """As for counts: levels of one variable, and versions, are taken together: differences of sums tell of these."""
    nodes = tuple(sorted({node for margin in margins for node in margin.nodes}))
    number = {node: i for i, node in enumerate(nodes)}
    size = [case.structure.size(node) for node in nodes]
    held = [*(margin.nodes for margin in margins), *case.structure.given(nodes)]
    masks = [sum(1 << number[node] for node in own) for own in held]
    return [tuple(n for i, n in enumerate(nodes) if mask >> i & 1) for mask in triangulated(masks, size)] or [()]
