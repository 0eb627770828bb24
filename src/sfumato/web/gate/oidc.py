"""Logging in by an identity provider: there, and back again."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sfumato.errors import NoEntry
from sfumato.gate.service import Gate
from sfumato.web.gate.parts import TheGate
from sfumato.web.gate.session import entered
from sfumato.web.problems import Problem

if TYPE_CHECKING:
    from sfumato.web.gate.provider import Provider

__all__ = ["router"]

router = APIRouter(tags=["session"])
_GOES_ON = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Logged in</title>
<meta http-equiv="refresh" content="0; url=/"></head><body><p>Logged in: <a href="/">go on</a>.</p></body></html>"""
Given = Annotated[str, Query(max_length=4000)]


@router.get("/login/oidc", response_class=RedirectResponse, status_code=303)
def leave(request: Request) -> Response:
    """Go to the identity provider."""
    provider = _provider(request)
    browser = secrets.token_urlsafe(32)
    answer = RedirectResponse(provider.leads_to(browser, _back(request)), 303)
    answer.set_cookie(
        _cookie(request), browser, max_age=600, secure=request.app.state.secure, httponly=True, samesite="lax"
    )
    return answer


@router.get("/login/oidc/callback", response_class=HTMLResponse)
def come_back(
    request: Request,
    gate: TheGate,
    state: Given = "",
    code: Given = "",
    iss: Given | None = None,
) -> Response:
    """Come back from the identity provider; a page goes on from here, with which the session's cookie comes along."""
    provider = _provider(request)
    browser = request.cookies.get(_cookie(request), "")
    if not (browser and state and code):
        raise Problem(403, "The login at the provider came to nothing: begin again.")
    try:
        who = provider.who(browser, _back(request), state, code, iss)
        login = gate.enter(who, before=request.cookies.get(request.state.cookie))
    except NoEntry as error:
        raise Problem(403, str(error)) from None
    answer = HTMLResponse(_GOES_ON)
    entered(answer, request, login)
    answer.delete_cookie(_cookie(request), secure=request.app.state.secure, httponly=True, samesite="lax")
    return answer


def _back(request: Request) -> str:
    scheme = "https" if request.app.state.secure else "http"
    return f"{scheme}://{request.headers['host']}/login/oidc/callback"


def _cookie(request: Request) -> str:
    return f"{request.state.cookie}_oidc"


def _provider(request: Request) -> Provider:
    """The provider that is set up; what it needs is loaded when it is first asked."""
    state: Any = request.app.state
    gate: Gate = state.gate
    said = gate.config.server.oidc
    if said is None:
        raise Problem(404, "No identity provider is set up here.")
    if not hasattr(state, "provider"):
        from sfumato.web.gate.provider import Provider

        state.provider = Provider(gate.config, said)
    provider: Provider = state.provider
    return provider
