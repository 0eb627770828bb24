"""Requests that nothing was proved of."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import StringConstraints

from sfumato.web.gate.parts import Body, PathName, TheGate, Who

__all__ = ["Reason", "Settling", "router"]

router = APIRouter(tags=["queue"])
Reason = Annotated[str, StringConstraints(min_length=3, max_length=2000)]


class Settling(Body):
    """What becomes of a request that waits, and why."""

    decision: Literal["refused", "exception"]
    reason: Reason


@router.get("/queue")
def list_queue(gate: TheGate, who: Who) -> dict[str, Any]:
    """Requests that wait, oldest first."""
    return {"items": [one.to_plain() for one in gate.queue()], "next": None}


@router.post("/queue/{request}")
def settle(request: PathName, body: Settling, gate: TheGate, who: Who) -> dict[str, Any]:
    """Refuse a request that waits, or propose it as an exception, which a second steward confirms."""
    if body.decision == "refused":
        return gate.refuse(request, who.who, body.reason).to_plain()
    return {"decision": "exception", "exception": gate.propose_waiting(request, who.who, body.reason)}
