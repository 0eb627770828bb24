"""Answers that were given before."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from sfumato.errors import NotThere
from sfumato.web.gate.answers import AnswerOut, documented
from sfumato.web.gate.parts import PathName, TheGate, Who, answered

__all__ = ["router"]

router = APIRouter(tags=["decisions"])


@router.get("/decisions/{decision}", responses=documented(200, AnswerOut))
def show_decision(decision: PathName, gate: TheGate, who: Who) -> Response:
    """An answer of who asks, as it was given."""
    found = gate.answer(decision, who.who)
    if found is None:
        raise NotThere("There is no such decision.")
    return answered(found.to_plain())
