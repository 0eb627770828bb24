"""The page `Account`: tokens for programs, and another password."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataError, SfumatoError
from sfumato.gate.service import Gate
from sfumato.gate.serving.doors import LONGEST, SCOPES
from sfumato.web.gate.pages.frame import problem, show, show_part
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/pages/account")
def account_page(request: Request, gate: TheGate, who: Who) -> Response:
    """Own tokens, and the form for a new one."""
    return show(request, "account", "Account", tokens=_listed(gate, who.who), scopes=SCOPES[who.role], longest=LONGEST)


@router.post("/pages/account/token")
def make(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Make a token; it is shown once."""
    days = form.one("days", "30")
    try:
        if not days.isdecimal():
            raise DataError(f"A token holds for 1 to {LONGEST} days.")
        _, opens = gate.issue_token(who.who, form.many("scope"), int(days))
    except SfumatoError as error:
        return problem(request, error)
    return show_part(request, "account_done", opens=opens, tokens=_listed(gate, who.who))


@router.post("/pages/account/revoke")
def revoke(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Let a token hold no more."""
    try:
        gate.revoke_token(who.who, form.one("id"))
    except SfumatoError as error:
        return problem(request, error)
    return show_part(request, "account_done", opens="", tokens=_listed(gate, who.who))


def _listed(gate: Gate, who: str) -> list[dict[str, str]]:
    return [
        {"id": one.id, "scopes": ", ".join(one.scopes), "made": one.made[:10], "until": one.until[:10]}
        for one in gate.tokens(who)
    ]
