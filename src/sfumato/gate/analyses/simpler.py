"""What could be had instead: a model with less in it, or a model in place of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sfumato.data.formula import Factor, Formula, Term
from sfumato.errors import DataError
from sfumato.gate.analyses.request import Request, read_analysis
from sfumato.gate.analyses.values import is_number, node_of, values_of
from sfumato.gate.margin import Margin, Node
from sfumato.gate.records import Records

__all__ = ["models_of_table", "simpler"]

_TRIED = 4


def simpler(request: Request, records: Records) -> Iterator[Request]:
    """Models with a factor by one of its coarser levels, then models with a term less; four at most.

    Parameters
    ----------
    request
        What was not granted.
    records
        The data; the codebook alone is looked at.
    """
    yield from list(_candidates(request, records))[:_TRIED]


def _candidates(request: Request, records: Records) -> Iterator[Request]:
    formula = request.formula
    for name, level in _coarser(request, records):
        terms = tuple(tuple(Factor(level) if f.name == name else f for f in term) for term in formula.terms)
        yield replace(request, formula=_ordered(formula, terms))
    if request.kind.name in ("correlation", "t"):
        return
    for gone in reversed(formula.terms):
        rest = tuple(term for term in formula.terms if term != gone)
        if rest:
            own = Formula(formula.response, rest, formula.intercept)
            names = {node_of(name).variable for name in (*own.columns, request.event, request.cluster) if name}
            dropped = {node_of(name).variable for name in formula.columns} - names
            complete = tuple(name for name in request.complete if name not in dropped)
            yield replace(request, formula=own, complete=complete)


def _coarser(request: Request, records: Records) -> Iterator[tuple[str, str]]:
    structure = records.structure
    for name in request.covariates:
        categorical = any(f.categorical for term in request.formula.terms for f in term if f.name == name)
        if is_number(name, categorical, records):
            continue
        node = node_of(name)
        for variable, level in sorted(structure.levels):
            other = Node(variable, level)
            if variable == node.variable and 1 < structure.size(other) < structure.size(node):
                yield name, str(other)


def _ordered(formula: Formula, terms: tuple[Term, ...]) -> Formula:
    order = sorted({tuple(sorted(term, key=str)) for term in terms}, key=lambda t: (len(t), [str(f) for f in t]))
    return Formula(formula.response, tuple(order), formula.intercept)


def models_of_table(table: Margin, where: Mapping[Node, tuple[str, ...]], records: Records) -> Iterator[Request]:
    """A model that says what a table of counts would: of its first variable with two values by all others."""
    if table.value or table.weight or table.noise or not 2 <= len(table.nodes) <= 8:
        return
    names = [str(node) for node in table.nodes]
    for response in names:
        if len(values_of(response, records)) == 2:
            rest = [f"C(`{name}`)" for name in names if name != response]
            try:
                yield read_analysis(records, "logistic", f"`{response}` ~ {' + '.join(rest)}", where, table.version)
            except DataError:  # FormulaError is one: names that a formula cannot have
                continue
            return
