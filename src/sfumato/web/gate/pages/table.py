"""The page `Request a table`: built from variables, levels and parts, and previewed without a look at the data."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataError, SfumatoError
from sfumato.gate.content import figures
from sfumato.gate.margin import Margin, Node
from sfumato.gate.offers import Offer
from sfumato.gate.service import Answer, Budget, Gate
from sfumato.gate.serving.describing import Codebook
from sfumato.web.gate.pages.frame import problem, show, show_part, told
from sfumato.web.gate.pages.words import DECISIONS, OFFERS, reasons
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form, Given

__all__ = ["Asked", "answered", "asked_of_form", "parts_of", "router"]

router = APIRouter(include_in_schema=False)
_MOST_BOXES = 60
_SKETCHED = 6


@dataclass(frozen=True)
class Asked:
    """What a form asks for.

    Parameters
    ----------
    dataset, version
        Of which data.
    by
        Variables and levels.
    where
        By variable or level the groups that are shown; those of which all are shown are left out.
    value, number
        `count`, `sum` or `mean`, and of what.
    perturbed
        Whether counts with noise are wanted.
    weight
        The variable that weights each record; empty for none.
    """

    dataset: str
    version: str | None
    by: tuple[str, ...]
    where: dict[str, list[str]]
    value: str
    number: str
    perturbed: bool
    weight: str

    @property
    def summed(self) -> str:
        """What is summed; empty for counts."""
        return self.number if self.value != "count" else ""


@dataclass(frozen=True)
class _Part:
    """The groups of a variable or level, to choose from."""

    node: str
    groups: tuple[str, ...]
    chosen: tuple[str, ...]
    shown: bool


@router.get("/pages/table")
def table_page(request: Request, gate: TheGate, who: Who, dataset: str = "") -> Response:
    """The form, empty."""
    names = sorted(gate.datasets())
    chosen = dataset if dataset in names else next(iter(names), "")
    if not chosen:
        return show(request, "table", "Request a table", book=None, names=names)
    left = gate.budget(who.who, chosen)
    return show(request, "table", "Request a table", book=gate.codebook(chosen), names=names, budget=left)


@router.post("/pages/table/parts")
def parts(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Which groups there are to choose from, after a variable was chosen."""
    try:
        asked = asked_of_form(form)
        book = gate.codebook(asked.dataset)
        return show_part(
            request, "table_parts", parts=parts_of(form, book), preview=_preview(gate, who.who, asked, book)
        )
    except SfumatoError as error:
        return problem(request, error)


@router.post("/pages/table/preview")
def preview(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """What the table will look like: from the codebook and from own releases alone."""
    try:
        asked = asked_of_form(form)
        seen = _preview(gate, who.who, asked, gate.codebook(asked.dataset))
        return show_part(request, "table_preview", preview=seen)
    except SfumatoError as error:
        return problem(request, error)


@router.post("/pages/table/ask")
def ask(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Ask for it."""
    try:
        asked = asked_of_form(form)
        if asked.value != "count" and not asked.summed:
            raise DataError("Say of which variable the sum or the mean is.")
        margin, where = _request(gate, asked)
        mean = asked.value == "mean"
        answer = gate.ask(who.who, asked.dataset, margin, where, perturbed=asked.perturbed, mean=mean)
    except SfumatoError as error:
        return problem(request, error)
    return answered(request, answer, asked.dataset, gate.budget(who.who, asked.dataset))


def answered(request: Request, answer: Answer, dataset: str, left: Budget) -> Response:
    """An answer in words, with what was given, or with what could be had instead as buttons; and what is left then."""
    offers = [_offer(offer) for offer in answer.offers]
    release = None if answer.release is None else told(answer.release)
    return show_part(
        request,
        "answer",
        answer=answer,
        word=DECISIONS[answer.decision],
        reasons=reasons(answer.reasons),
        offers=offers,
        release=release,
        dataset=dataset,
        budget=left,
    )


def _offer(offer: Offer) -> dict[str, Any]:
    """What could be had instead, as the fields of a form that asks for it."""
    plain, margin = offer.to_plain(), offer.margin
    own: dict[str, Any] = {"word": OFFERS.get(offer.kind, offer.kind)}
    if "analysis" in plain:
        model = plain["analysis"]
        fields = [(name, text) for name, text in model.items() if isinstance(text, str)]
        for node, groups in model["where"].items():
            fields += [
                ("had", node),
                (f"all:{node}", str(len(groups) + 1)),
                *((f"where:{node}", one) for one in groups),
            ]
        return own | {
            "action": "/pages/analysis/ask",
            "label": f"{model['kind']}: {model['formula']}",
            "fields": fields,
        }
    fields = [("by", name) for name in plain["by"]]
    fields += [
        ("value", "sum" if margin.value else "count"),
        ("number", margin.value),
        ("weight", margin.weight),
        ("version", margin.version),
    ]
    fields += [("perturbed", "yes")] if margin.noise else []
    return own | {"action": "/pages/table/ask", "label": ", ".join(plain["by"]) or "all together", "fields": fields}


def asked_of_form(form: Given) -> Asked:
    """Read a form.

    Raises
    ------
    DataError
        A part of which nothing is shown.
    """
    where = {}
    chosen = form.below("where:")
    everything = form.below("all:")
    meant = {*form.many("by"), *form.many("within")}
    for node in form.many("had"):
        if node not in meant:  # another variable was chosen meanwhile
            continue
        groups = chosen.get(node, [])
        if not groups:
            raise DataError(f"Choose at least one group of {node}.")
        if len(groups) < int(everything.get(node, ["0"])[0] or 0):
            where[node] = groups
    by = tuple(dict.fromkeys(form.many("by")))
    return Asked(
        form.one("dataset"),
        form.one("version") or None,
        by,
        where,
        form.one("value", "count"),
        form.one("number"),
        form.one("perturbed") == "yes",
        form.one("weight"),
    )


def parts_of(form: Given, book: Codebook) -> list[_Part]:
    """Groups of all that is shown by, and of all that only restricts; those that were ticked stay so."""
    nodes = book.nodes()
    by = list(dict.fromkeys(form.many("by")))
    beside = [one for one in dict.fromkeys(form.many("within")) if one not in by]
    chosen = form.below("where:")
    had = set(form.many("had"))
    out = []
    for name in (*by, *beside):
        if name not in nodes:
            continue
        groups = _groups(book, name)
        if len(groups) <= _MOST_BOXES:
            ticked = tuple(chosen.get(name, ())) if name in had else groups
            out.append(_Part(name, groups, ticked, name in by))
    return out


def _groups(book: Codebook, name: str) -> tuple[str, ...]:
    variable, _, level = name.partition("@")
    own = next(one for one in book.variables if one.name == (variable if level else name))
    return own.levels[level] if level else own.codes


def _request(gate: Gate, asked: Asked) -> tuple[Margin, dict[Node, tuple[str, ...]]]:
    return gate.request(
        asked.dataset, asked.by, asked.where, value=asked.summed, weight=asked.weight, version=asked.version
    )


def _preview(gate: Gate, who: str, asked: Asked, book: Codebook) -> dict[str, Any]:
    """The head of the table and a few of its lines, without figures."""
    margin, where = _request(gate, asked)
    shown = {str(node): tuple(groups) for node, groups in where.items()}
    labels = [shown.get(name, _groups(book, name)) for name in map(str, margin.nodes)]
    told = figures(margin, mean=asked.value == "mean")
    columns = [*map(str, margin.nodes), *told]
    lines = list(itertools.islice(itertools.product(*labels), _SKETCHED))
    plain = not (where or asked.perturbed or asked.summed or asked.weight)
    earlier = None if not plain else gate.given_already(who, asked.dataset, margin)
    same = earlier is not None and earlier.columns == columns
    known = {tuple(row[:-1]): row[-1] for row in earlier.rows} if earlier is not None and same else {}
    return {
        "columns": columns,
        "labels": len(labels),
        "lines": [(line, known.get(line)) for line in lines],
        "figures": len(told),
        "many": math.prod(len(one) for one in labels),
        "earlier": earlier,
        "cut": [node for node in shown if node not in columns],
    }
