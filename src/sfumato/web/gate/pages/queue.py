"""The page `Queue`: what nothing was proved of, and exceptions, which take two stewards."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataError, DataStopped, SfumatoError
from sfumato.gate.margin import Margin
from sfumato.gate.service import Gate, Waiting
from sfumato.web.gate.pages.frame import problem, show, show_part
from sfumato.web.gate.pages.words import DECISIONS
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/pages/queue")
def queue_page(request: Request, gate: TheGate, who: Who) -> Response:
    """What waits."""
    return show(request, "queue", "Queue", **_waiting(gate, who.who), **_choices(gate))


@router.post("/pages/queue/settle")
def settle(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Refuse what waits, or propose it as an exception."""
    name, reason = form.one("id"), form.one("reason")
    try:
        if form.one("decision") == "refused":
            told, ledger = "It is refused.", gate.refuse(name, who.who, reason).ledger
        else:
            gate.propose_waiting(name, who.who, reason)
            told, ledger = "It is proposed as an exception. A second steward has to confirm it.", None
    except SfumatoError as error:
        return problem(request, error)
    return _done(request, gate, who.who, told, ledger)


@router.post("/pages/queue/propose")
def propose(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Propose to give a table though it was not proved safe."""
    try:
        by = [one.strip() for one in form.one("by").split(",") if one.strip()]
        if not form.one("who") or not form.one("dataset"):
            raise DataError("Choose for whom, and of which data set.")
        margin, _ = gate.request(form.one("dataset"), by)
        gate.propose_exception(form.one("who"), form.one("dataset"), margin, who.who, form.one("reason"))
    except SfumatoError as error:
        return problem(request, error)
    return _done(request, gate, who.who, "It is proposed. A second steward has to confirm it.", None)


@router.post("/pages/queue/confirm")
def confirm(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Give what another steward proposed to give."""
    chance = any(one.chance for one in gate.exceptions() if one.id == form.one("id"))
    try:
        settled = gate.confirm_exception(form.one("id"), who.who)
    except SfumatoError as error:
        return problem(request, error)
    what = "these columns hang together by chance" if chance else "the table was given"
    told = f"{DECISIONS[settled.decision]}: {what}, with both names and the reason."
    return _done(request, gate, who.who, told, settled.ledger)


def _done(request: Request, gate: Gate, who: str, told: str, ledger: tuple[int, str] | None) -> Response:
    return show_part(request, "queue_done", told=told, ledger=ledger, **_waiting(gate, who))


def _waiting(gate: Gate, who: str) -> dict[str, Any]:
    people = gate.people()

    def line(one: Waiting) -> dict[str, Any]:
        places = sorted(x for x, y in gate.edges() if y == one.who)
        policy = people[one.who].principal.policy if one.who in people else ""
        return {"one": one, "table": _title(one.margin), "policy": policy, "places": places}

    return {
        "queue": [line(one) for one in gate.queue()],
        "exceptions": [line(one) | {"own": who in (one.by, one.who)} for one in gate.exceptions()],
    }


def _choices(gate: Gate) -> dict[str, Any]:
    books = []
    for name in sorted(gate.datasets()):
        try:
            books.append(gate.codebook(name))
        except DataStopped:
            continue
    people = gate.people()
    asking = sorted(name for name, one in people.items() if one.active and one.role == "analyst")
    nodes = sorted({node for book in books for node in book.nodes()})
    return {"datasets": [book.id for book in books], "asking": asking, "nodes": nodes}


def _title(margin: Margin) -> str:
    return margin.label.replace(",", ", ") or "all together"
