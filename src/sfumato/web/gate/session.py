"""Logging in and out."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import AliasChoices, Field, StringConstraints

from sfumato.errors import LimitReached
from sfumato.gate.service import Login
from sfumato.gate.serving.passwords import AT_ONCE
from sfumato.web.gate.parts import Body, Name, TheGate, Who

__all__ = ["HOURS", "Credentials", "entered", "login_limiter", "router"]

router = APIRouter(tags=["session"])
HOURS = 12
_MOST_WAITING = 20
Password = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Credentials(Body):
    """Who comes in, and by what."""

    id: Name = Field(validation_alias=AliasChoices("id", "user", "username", "name"))
    password: Password
    new_password: Password | None = Field(default=None, description="Needed where the password holds once.")


@router.post("/login")
async def log_in(body: Credentials, request: Request, gate: TheGate) -> Response:
    """Begin a session: its cookie is sent, and no script reads it."""
    before = request.cookies.get(request.state.cookie)

    def checked() -> Login:
        return gate.login(body.id, body.password, body.new_password, before=before)

    limiter = login_limiter(request)
    if limiter.statistics().tasks_waiting >= _MOST_WAITING:
        raise LimitReached("Too many people log in at this moment. Try again.")
    login = await to_thread.run_sync(checked, limiter=limiter)
    answer = JSONResponse({"id": login.who, "role": login.role})
    entered(answer, request, login)
    return answer


@router.post("/logout", status_code=204)
def log_out(request: Request, gate: TheGate, who: Who) -> Response:
    """End the session."""
    gate.logout(request.cookies.get(request.state.cookie, ""))
    answer = Response(status_code=204)
    answer.delete_cookie(request.state.cookie, secure=request.app.state.secure, httponly=True, samesite="strict")
    return answer


def entered(answer: Response, request: Request, login: Login) -> None:
    """Send the cookie of a session."""
    answer.set_cookie(
        request.state.cookie,
        login.session,
        max_age=HOURS * 3600,
        secure=request.app.state.secure,
        httponly=True,
        samesite="strict",
    )


def login_limiter(request: Request) -> CapacityLimiter:
    """As many as may hash at once: who waits takes no thread."""
    state: Any = request.app.state
    if not hasattr(state, "logins"):
        state.logins = CapacityLimiter(AT_ONCE)
    limiter: CapacityLimiter = state.logins
    return limiter
