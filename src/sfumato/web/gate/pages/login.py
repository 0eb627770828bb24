"""Logging in and out, by pages."""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from sfumato.errors import SfumatoError
from sfumato.gate.service import Gate
from sfumato.web.gate.pages.frame import LINKS, gone_to, problem, show, visitor_of
from sfumato.web.gate.parts import TheGate
from sfumato.web.gate.session import entered, login_limiter
from sfumato.web.layout.forms import Form

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
    return _form(request, gate)


@router.post("/pages/login")
async def log_in(request: Request, gate: TheGate, form: Form) -> Response:
    """Begin a session, and go to the first page; also where the page's script did not come."""
    before = request.cookies.get(request.state.cookie)
    name, password, chosen = form.one("id"), form.one("password"), form.one("new_password") or None
    by_script = "hx-request" in request.headers
    wrong = ""
    if not name or not password or len(name) > 200:
        wrong = "Give your name and your password."
    else:
        try:
            login = await to_thread.run_sync(
                lambda: gate.login(name, password, chosen, before=before), limiter=login_limiter(request)
            )
        except SfumatoError as error:
            wrong = str(error).replace(" (`new_password`)", " below")
    if wrong:
        return problem(request, wrong) if by_script else _form(request, gate, wrong)
    answer = gone_to("/") if by_script else RedirectResponse("/", 303)
    entered(answer, request, login)
    return answer


def _form(request: Request, gate: Gate, wrong: str = "") -> Response:
    return show(request, "login", "Log in", oidc=gate.config.server.oidc is not None, wrong=wrong)


@router.post("/pages/logout")
def log_out(request: Request, gate: TheGate) -> Response:
    """End the session."""
    gate.logout(request.cookies.get(request.state.cookie, ""))
    answer = gone_to("/login")
    answer.delete_cookie(request.state.cookie, secure=request.app.state.secure, httponly=True, samesite="strict")
    return answer
