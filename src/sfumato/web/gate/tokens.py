"""Tokens for programs. Who makes one is logged in: a token makes no others."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field

from sfumato.web.gate.parts import Body, Name, PathName, TheGate, Who

__all__ = ["TokenRequest", "router"]

router = APIRouter(tags=["tokens"])


class TokenRequest(Body):
    """What a token may be used for, and for how long."""

    scopes: Annotated[list[Name], Field(min_length=1, max_length=10)]
    days: Annotated[int, Field(ge=1, le=365)] = 30


@router.post("/me/tokens", status_code=201)
def make_token(body: TokenRequest, gate: TheGate, who: Who) -> dict[str, Any]:
    """Make a token; it is shown this once."""
    token, opens = gate.issue_token(who.who, body.scopes, body.days)
    return token.to_plain() | {"token": opens}


@router.get("/me/tokens")
def list_tokens(gate: TheGate, who: Who) -> dict[str, Any]:
    """Own tokens that hold, without what opens."""
    return {"items": [one.to_plain() for one in gate.tokens(who.who)], "next": None}


@router.delete("/me/tokens/{token}", status_code=204)
def revoke_token(token: PathName, gate: TheGate, who: Who) -> Response:
    """Let a token hold no more."""
    gate.revoke_token(who.who, token)
    return Response(status_code=204)
