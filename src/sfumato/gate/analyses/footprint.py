"""The tables that give a fit exactly: where they are safe together, so is the fit, and they are what is remembered."""

from __future__ import annotations

import math

import numpy as np

from sfumato.gate.analyses.request import Request
from sfumato.gate.analyses.values import node_of
from sfumato.gate.margin import Margin, Node
from sfumato.gate.records import Records
from sfumato.gate.structure import KNOWN

__all__ = ["footprint"]

_MOST_CELLS = 10**7


def footprint(records: Records, request: Request) -> tuple[Margin, ...] | None:
    """The margins that an exact answer follows from; None where there are none, or too large ones.

    Parameters
    ----------
    records
        The data; the codebook alone is looked at.
    request
        What is asked.

    Notes
    -----
    With a canonical link the scores are sums of the response over each term, and the information comes from all
    covariates together. A number with few values counts as categories: its sums follow from them. What `where` and
    complete cases cut by is part of every margin.
    """
    coded = records.structure.codes
    if any(node_of(name).variable not in coded for name in request.names):
        return None
    if any(name not in coded and np.isnan(records.numbers[name]).any() for name in request.complete):
        return None  # no table says who lacks a number that has no codes
    lacking = [name for name in request.complete if records.structure.missing.get(name)]
    cut = [*request.where, *(Node(name, KNOWN) for name in lacking)]
    response = [node_of(request.formula.response)]
    beside = [node_of(name) for name in (request.event, request.cluster) if name]
    covariates = [node_of(name) for name in request.covariates]
    if request.kind.footprint == "joint":
        sets = [[*response, *beside, *covariates]]
    else:
        terms = [[node_of(factor.name) for factor in term] for term in request.formula.terms]
        sets = [covariates, *([*response, *term] for term in terms), response]
    structure = records.structure
    margins = {structure.canonical(Margin.of([*nodes, *cut], version=request.version)) for nodes in sets}
    if any(math.prod(structure.size(node) for node in margin.nodes) > _MOST_CELLS for margin in margins):
        return None
    return structure.largest(margins)
