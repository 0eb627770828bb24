"""The door: who somebody is, whether they may, how often, and when their answer leaves."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from limits import RateLimitItemPerMinute, storage, strategies
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.gate.service import Gate
from sfumato.gate.serving.doors import Visitor
from sfumato.web.gate.access import OWN_RELEASES, Rule, Table
from sfumato.web.problems import Problem
from sfumato.web.shell import CHANGES, is_loopback

__all__ = ["STEP", "Door", "cookie_name", "needs"]

STEP = 0.25
"""Seconds: answers of decisions leave at multiples of it after they were asked for."""
PER_MINUTE = 6000
"""Requests of one visitor, or from one address, that a process answers in a minute."""
_LONGEST = 200


def cookie_name(port: int | None, secure: bool) -> str:
    """The name of the session's cookie: browsers send one to every port of a machine."""
    name = f"sfumato_gate_{port}" if port else "sfumato_gate"
    return f"__Host-{name}" if secure else name


def needs(visitor: Visitor | None, rule: Rule) -> Problem | None:
    """What stands between a visitor and a route."""
    if rule.anonymous:
        return None
    if visitor is None:
        return Problem(401, "Log in, or send a token.", {}, {"WWW-Authenticate": "Bearer"})
    if visitor.role not in rule.roles:
        return Problem(403, f"This is not for the role {visitor.role}.")
    if visitor.how == "token" and not rule.scopes & visitor.scopes:
        told = ", ".join(sorted(rule.scopes)) or "none: log in"
        return Problem(403, f"The token does not have the scope. Scopes that do: {told}.")
    return None


class Door:
    """Stands in front of the gate's routes.

    Parameters
    ----------
    app
        The routes.
    gate
        Which knows sessions and tokens.
    table
        Who may reach what.
    cookie
        Name of the session's cookie.
    login
        The page that who is not logged in is led to.
    refused
        What is sent in place of a route.
    """

    def __init__(
        self,
        app: ASGIApp,
        gate: Gate,
        table: Table,
        cookie: str,
        login: str = "/login",
        refused: Callable[[Scope, Problem], Response] = lambda scope, problem: problem.response(),
    ) -> None:
        self.app = app
        self.gate = gate
        self.table = table
        self.cookie = cookie
        self.login = login
        self.refused = refused
        self.rates = strategies.FixedWindowRateLimiter(storage.MemoryStorage())
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = asyncio.get_running_loop().time()
        try:
            rule = self._rule(scope)
            visitor = await self._visitor(scope)
            problem = self._refused(scope, rule, visitor)
        except Problem as found:
            problem = found
        if problem is not None:
            await self.refused(scope, problem)(scope, receive, send)
            return
        scope.setdefault("state", {}).update(visitor=visitor, cookie=self.cookie)
        await self.app(scope, receive, _on_time(send, begun) if rule.timed else send)

    def _rule(self, scope: Scope) -> Rule:
        found = self.table.find(scope["method"], scope["path"])
        if found is None:
            raise Problem(404, "There is nothing here.")
        if isinstance(found, str):
            raise Problem(405, "There is no such method here.", {}, {"Allow": found})
        scope["sfumato.route"], scope["sfumato.page"] = found[0], found[1].page
        return found[1]

    async def _visitor(self, scope: Scope) -> Visitor | None:
        headers = Headers(scope=scope)
        given = headers.getlist("authorization")
        session = cookie_parser(headers.get("cookie", "")).get(self.cookie)
        if given and session:
            raise Problem(400, "A token and a session at once: send one of them.")
        visitor = None
        if given:
            scheme, _, opens = given[0].partition(" ")
            known = len(given) == 1 and scheme.lower() == "bearer" and 0 < len(opens) <= _LONGEST
            visitor = await self._looked_up(self.gate.bearer, opens.strip()) if known else None
            if visitor is None:
                raise Problem(401, "This token holds no more, or never did.", {}, {"WWW-Authenticate": "Bearer"})
        elif session and len(session) <= _LONGEST:
            visitor = await self._looked_up(self.gate.visit, session)
        if visitor is not None:
            scope["sfumato.role"] = visitor.role
        return visitor

    async def _looked_up(self, look: Any, opens: str) -> Visitor | None:
        """Apart from the threads that decisions are made in, so that nobody waits for these here."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(4)
        found: Visitor | None = await to_thread.run_sync(partial(look, opens), limiter=self._limiter)
        return found

    def _refused(self, scope: Scope, rule: Rule, visitor: Visitor | None) -> Problem | None:
        if rule.loopback and not is_loopback(scope):
            return Problem(404, "There is nothing here.")
        if (problem := needs(visitor, rule)) is not None:
            if problem.status == 401 and rule.page:
                return Problem(303, "Log in first.", {}, {"Location": self.login})
            return problem
        headers = Headers(scope=scope)
        by_session = visitor is not None and visitor.how == "session"
        if by_session and not rule.anonymous and scope["method"] in CHANGES and headers.get("x-sfumato") != "1":
            return Problem(403, "Changes by a session need the header X-Sfumato: 1.")
        client = scope.get("client")
        name = visitor.who if visitor is not None else f"@{client[0] if client else ''}"
        if not rule.loopback and not self.rates.hit(RateLimitItemPerMinute(PER_MINUTE), name):
            return Problem(429, "Too many requests: wait a minute.", {}, {"Retry-After": "60"})
        return None


def own_release(visitor: Visitor | None) -> Problem | None:
    """What stands between a visitor and releases that are not the public's."""
    return needs(visitor, OWN_RELEASES)


def _on_time(send: Send, begun: float) -> Send:
    """Let an answer leave at a multiple of some time after it was asked for, whatever it took and whatever it says."""
    started = False

    async def sent(message: Message) -> None:
        nonlocal started
        if not started:
            started = True
            taken = asyncio.get_running_loop().time() - begun
            await asyncio.sleep(max(math.ceil(taken / STEP), 1) * STEP - taken)
        await send(message)

    return sent
