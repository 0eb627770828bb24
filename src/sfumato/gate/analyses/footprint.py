"""The tables that give a fit exactly: where they are safe together, so is the fit, and they are what is remembered."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sfumato.gate.analyses.request import Request
from sfumato.gate.analyses.values import node_of
from sfumato.gate.margin import Margin, Node, squared
from sfumato.gate.records import Records

__all__ = ["footprint"]

_MOST_CELLS = 10**7


def footprint(records: Records, request: Request) -> tuple[Margin, ...] | None:
    """The margins that an exact answer follows from; None where there are none, or too large ones.

    Parameters
    ----------
    records
        The data; the codebook alone is looked at, and whether numbers without codes are missing.
    request
        What is asked.

    Notes
    -----
    With a canonical link the scores are sums of the response over each term, and the information comes from all
    covariates together. A linear model takes sums of its response, and the sum of its squares, which the response's own
    values need not be told for. Any other number with few values counts as categories: its sums follow from them. What
    `where` and complete cases cut by is part of every margin.
    """
    if request.kind.footprint == "none":
        return None
    coded = records.structure.codes
    by_sums = request.kind.footprint == "sums"
    response = request.formula.response
    if any(node_of(name).variable not in coded for name in request.names if not (by_sums and name == response)):
        return None
    lacking = [node for name in request.complete if (node := records.structure.known(name)) is not None]
    cut = [*request.where, *lacking]
    covariates = [node_of(name) for name in request.covariates]
    terms = [[node_of(factor.name) for factor in term] for term in request.formula.terms]

    def of(nodes: Iterable[Node], value: str = "") -> Margin:
        return records.structure.canonical(Margin.of([*nodes, *cut], value, version=request.version))

    if by_sums:
        sums = [of(term, response) for term in [*terms, []]]
        margins = {of(covariates), *sums, of([], squared(response))}
    elif request.kind.footprint == "canonical":
        margins = {of(covariates), *(of([node_of(response), *term]) for term in [*terms, []])}
    else:
        beside = [node_of(name) for name in (request.event, request.cluster) if name]
        margins = {of([node_of(response), *beside, *covariates])}
    structure = records.structure
    if any(math.prod(structure.size(node) for node in margin.nodes) > _MOST_CELLS for margin in margins):
        return None
    return structure.largest(margins)
