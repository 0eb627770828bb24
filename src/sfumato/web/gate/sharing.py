"""Who passes on to whom all that it holds."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from sfumato.web.gate.answers import SETTLED, SettledOut, documented
from sfumato.web.gate.parts import Body, Name, PathName, TheGate, Who, refuse_absent

__all__ = ["SharingRequest", "router"]

router = APIRouter(tags=["sharing"])


class SharingRequest(Body):
    """One direction of sharing."""

    giver: Name = Field(alias="from")
    taker: Name = Field(alias="to")


@router.get("/sharing")
def list_sharing(gate: TheGate, who: Who) -> dict[str, Any]:
    """All directions in which is shared, memberships too."""
    return {"items": [{"from": giver, "to": taker} for giver, taker in sorted(gate.edges())], "next": None}


@router.post("/sharing", status_code=201, responses=documented(201, SettledOut))
def share(body: SharingRequest, gate: TheGate, who: Who) -> dict[str, Any]:
    """Decide whether one may pass on to another all that it holds."""
    return gate.share(body.giver, body.taker, by=who.who).to_plain()


@router.delete("/sharing/{giver}/{taker}", responses=SETTLED)
def withdraw(giver: PathName, taker: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """End sharing in one direction; what is known stays known."""
    refuse_absent(gate, giver, taker)
    return gate.withdraw(giver, taker, by=who.who).to_plain()
