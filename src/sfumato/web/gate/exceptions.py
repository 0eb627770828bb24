"""Exceptions: proposed by one steward, confirmed by a second."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from sfumato.errors import DataError
from sfumato.web.gate.answers import SETTLED
from sfumato.web.gate.parts import Body, Name, PathName, TheGate, Who
from sfumato.web.gate.queue import Reason
from sfumato.web.gate.tables import TableRequest

__all__ = ["Proposal", "router"]

router = APIRouter(tags=["exceptions"])


class Proposal(Body):
    """What is to be given to whom though it was not proved safe, and why."""

    who: Name
    dataset: Name
    request: TableRequest | Name = Field(
        description="The table, as it would be asked for (given is the whole of it), or the id of a request that waits."
    )
    reason: Reason


@router.get("/exceptions")
def list_exceptions(gate: TheGate, who: Who) -> dict[str, Any]:
    """Exceptions that wait for a second steward: tables, and dependences that are to count as chance (`chance`)."""
    return {"items": [one.to_plain() for one in gate.exceptions()], "next": None}


@router.post("/exceptions", status_code=201)
def propose(body: Proposal, gate: TheGate, who: Who) -> dict[str, Any]:
    """Propose an exception."""
    asked = body.request
    if isinstance(asked, str):
        if not any((one.id, one.who, one.dataset) == (asked, body.who, body.dataset) for one in gate.queue()):
            raise DataError("There is no such request in the queue.")
        return {"id": gate.propose_waiting(asked, who.who, body.reason)}
    by = [*asked.by, *asked.where]
    margin, _ = gate.request(body.dataset, by, value=asked.summed, weight=asked.weight or "", version=asked.version)
    return {"id": gate.propose_exception(body.who, body.dataset, margin, who.who, body.reason)}


@router.post("/exceptions/{exception}/confirm", responses=SETTLED)
def confirm(exception: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """Give what another steward proposed to give, or let be chance what they proposed as chance."""
    return gate.confirm_exception(exception, who.who).to_plain()
