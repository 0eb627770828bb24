"""What could be had instead of a table that is refused: a coarser one, or one with a variable less."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from sfumato.gate.margin import Margin, Node
from sfumato.gate.structure import Structure

__all__ = ["MOST", "Offer", "offered"]

MOST = 3
"""Most offers with a refusal; each is a decision of its own."""
_TRIED = 12


@dataclass(frozen=True)
class Offer:
    """A table that is granted in place of one that is not.

    Parameters
    ----------
    kind
        `coarser`: a variable by one of its levels. `smaller`: a variable less. `perturbed`: the table with noise.
        `analysis`: a model.
    margin
        The table, or the model.
    """

    kind: Literal["coarser", "smaller", "perturbed", "analysis"]
    margin: Margin

    def to_plain(self) -> dict[str, Any]:
        """For JSON; a model with all that asks for it."""
        plain: dict[str, Any] = {"kind": self.kind, "by": [str(node) for node in self.margin.nodes]}
        if not self.margin.fit:
            return plain
        model = json.loads(self.margin.fit)
        where = {f"{v}@{level}" if level else v: groups for v, level, groups in model.pop("where")}
        return {**plain, "analysis": {**model, "where": where, "version": self.margin.version}}


def offered(
    structure: Structure, request: Margin, grants: Callable[[Margin], bool], noise: str = ""
) -> tuple[Offer, ...]:
    """Look for tables to offer: first those that lose least, never more than a dozen are tried.

    Parameters
    ----------
    structure
        The codebook.
    request
        What was not granted.
    grants
        Decides one; it is asked for each that is tried, and every answer belongs into the ledger.
    noise
        Variance of a perturbed table, where one may be offered.
    """
    out: list[Offer] = []
    for tried, offer in enumerate(_candidates(structure, request, noise)):
        if len(out) == MOST or tried == _TRIED:
            break
        if grants(offer.margin):
            out.append(offer)
    return tuple(out)


def _candidates(structure: Structure, request: Margin, noise: str) -> Iterator[Offer]:
    """Every coarser table, finest first, then every smaller one, largest first; the perturbed one."""
    if request.noise:
        return
    coarser = []
    for node in request.nodes:
        for variable, level in sorted(structure.levels):
            other = Node(variable, level)
            if variable == node.variable and 1 < structure.size(other) < structure.size(node):
                coarser.append((-structure.size(other) / structure.size(node), _with(request, node, other)))
    smaller = [(structure.size(node), _with(request, node, None)) for node in request.nodes if len(request.nodes) > 1]
    true = [Offer("coarser", structure.canonical(margin)) for _, margin in sorted(coarser)]
    true += [Offer("smaller", structure.canonical(margin)) for _, margin in sorted(smaller)]
    if noise and not request.value and not request.weight:
        yield from true[: MOST - 1]
        yield Offer("perturbed", replace(request, noise=noise))
        true = true[MOST - 1 :]
    yield from true


def _with(request: Margin, node: Node, other: Node | None) -> Margin:
    nodes = [one for one in request.nodes if one != node] + ([] if other is None else [other])
    return Margin.of(nodes, request.value, request.weight, request.version)
