"""The page `Request an analysis`: a kind, a response and terms, or a formula; nothing of the data is looked at."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataError, SfumatoError
from sfumato.gate.analyses.kind import Kind
from sfumato.gate.analyses.registry import KINDS, kind_of
from sfumato.gate.serving.describing import Codebook
from sfumato.web.gate.pages.frame import problem, show, show_part
from sfumato.web.gate.pages.table import answered, asked_of_form, parts_of
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form, Given

__all__ = ["formula_of", "router"]

router = APIRouter(include_in_schema=False)
_FIRST = "logistic"


@router.get("/pages/analysis")
def analysis_page(request: Request, gate: TheGate, who: Who, dataset: str = "") -> Response:
    """The form, empty."""
    names = sorted(gate.datasets())
    chosen = dataset if dataset in names else next(iter(names), "")
    book = gate.codebook(chosen) if chosen else None
    kind = KINDS[_FIRST]
    fields = {} if book is None else {**_fields(kind, book), "budget": gate.budget(who.who, chosen)}
    return show(request, "analysis", "Request an analysis", book=book, names=names, kinds=KINDS, kind=kind, **fields)


@router.post("/pages/analysis/kind")
def of_kind(request: Request, gate: TheGate, form: Form) -> Response:
    """What a kind of analysis takes."""
    try:
        kind = kind_of(form.one("kind"))
        return show_part(request, "analysis_kind", kind=kind, **_fields(kind, gate.codebook(form.one("dataset"))))
    except SfumatoError as error:
        return problem(request, error)


@router.post("/pages/analysis/parts")
def parts(request: Request, gate: TheGate, form: Form) -> Response:
    """Groups to choose from, of the variable that says whom it is about."""
    try:
        only = Given([pair for pair in form.fields if pair[0] != "by"])
        return show_part(request, "analysis_parts", parts=parts_of(only, gate.codebook(form.one("dataset"))))
    except SfumatoError as error:
        return problem(request, error)


@router.post("/pages/analysis/ask")
def ask(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Ask for it."""
    try:
        asked = asked_of_form(form)
        kind = kind_of(form.one("kind"))
        formula = form.one("formula") or formula_of(form, gate.codebook(asked.dataset))
        answer = gate.analyse(
            who.who,
            asked.dataset,
            kind.name,
            formula,
            where=asked.where,
            version=asked.version,
            event=form.one("event") or None,
            cluster=form.one("cluster") or None,
            options=_options(form, kind),
        )
    except SfumatoError as error:
        return problem(request, error)
    return answered(request, answer, asked.dataset, gate.budget(who.who, asked.dataset))


def formula_of(form: Given, book: Codebook) -> str:
    """The formula of a response and terms that were chosen.

    Raises
    ------
    DataError
        No response was chosen.
    """
    response = form.one("response")
    if not response:
        raise DataError("Choose a response, or write a formula.")
    numbers = {one.name for one in book.variables if one.summed}
    terms = [f"`{name}`" if name in numbers else f"C(`{name}`)" for name in form.many("term") if name != response]
    return f"`{response}` ~ {' + '.join(terms) or '1'}"


def _options(form: Given, kind: Kind) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "probability" in kind.needs:
        out["probability"] = form.one("probability") or "0.5"
    if form.one("complete_cases") == "project":
        out["complete_cases"] = "project"
    if form.one("positive"):
        out["positive"] = form.one("positive")
    if form.one("protected") == "yes":
        out["protected"] = True
    return out


def _fields(kind: Kind, book: Codebook) -> dict[str, Any]:
    """What can be chosen from for a kind: by the codebook alone."""
    nodes = [node for one in book.variables for node in _nodes(one)]
    numbers = [one.name for one in book.variables if one.summed]
    two = [one.name for one in book.variables if 2 <= len(one.codes) <= 3]
    two += [f"{one.name}@{level}" for one in book.variables for level, own in one.levels.items() if 2 <= len(own) <= 3]
    levels = [f"{one.name}@{level}" for one in book.variables for level in one.levels]
    responses = {
        "number": numbers,
        "count": numbers,
        "binary": two,
        "category": nodes,
        "time": levels if kind.shape == "table" else numbers,
    }[kind.response]
    terms = nodes if kind.shape == "table" else [*numbers, *nodes]
    return {"responses": responses, "terms": terms, "two": two, "nodes": nodes}


def _nodes(one: Any) -> list[str]:
    return [*([one.name] if one.codes else []), *(f"{one.name}@{level}" for level in one.levels)]
