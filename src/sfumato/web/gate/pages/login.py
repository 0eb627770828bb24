"""Logging in and out, by pages."""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from sfumato.errors import SfumatoError
from sfumato.web.gate.pages.frame import LINKS, Form, gone_to, problem, show, visitor_of
from sfumato.web.gate.parts import TheGate
from sfumato.web.gate.session import entered, login_limiter

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request) -> Response:
    """Where somebody of this role begins."""
    visitor = visitor_of(request)
    return RedirectResponse("/login" if visitor is None else LINKS[visitor.role][0][1], 303)


@router.get("/login")
def login_page(request: Request, gate: TheGate) -> Response:
    """The form."""
    return show(request, "login", "Log in", oidc=gate.config.server.oidc is not None)


@router.post("/pages/login")
async def log_in(request: Request, gate: TheGate, form: Form) -> Response:
    """Begin a session, and go to the first page."""
    before = request.cookies.get(request.state.cookie)
    name, password, chosen = form.one("id"), form.one("password"), form.one("new_password") or None
    if not name or not password or len(name) > 200:
        return problem(request, "Give your name and your password.")
    try:
        login = await to_thread.run_sync(
            lambda: gate.login(name, password, chosen, before=before), limiter=login_limiter(request)
        )
    except SfumatoError as error:
        return problem(request, str(error).replace(" (`new_password`)", " below"))
    answer = gone_to("/")
    entered(answer, request, login)
    return answer


@router.post("/pages/logout")
def log_out(request: Request, gate: TheGate) -> Response:
    """End the session."""
    gate.logout(request.cookies.get(request.state.cookie, ""))
    answer = gone_to("/login")
    answer.delete_cookie(request.state.cookie, secure=request.app.state.secure, httponly=True, samesite="strict")
    return answer
