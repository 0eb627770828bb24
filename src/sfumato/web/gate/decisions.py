"""Answers that were given before."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sfumato.errors import NotThere
from sfumato.web.gate.answers import AnswerOut, documented
from sfumato.web.gate.parts import PathName, TheGate, Who

__all__ = ["router"]

router = APIRouter(tags=["decisions"])


@router.get("/decisions/{decision}", responses=documented(200, AnswerOut))
def show_decision(decision: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """An answer of who asks, as it was given."""
    found = gate.answer(decision, who.who)
    if found is None:
        raise NotThere("There is no such decision.")
    return found.to_plain()
