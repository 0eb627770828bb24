"""What both faces share: headers, checks of host and origin, limits of bodies, files, and what is told of errors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.errors import SfumatoError
from sfumato.web.problems import Problem, from_error
from sfumato.web.static_files import PREFIX, StaticFiles

__all__ = ["CHANGES", "CSP", "LOOPBACK", "Face", "application", "is_loopback", "told"]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page may load, and from where: its own files, and pictures that stand in the stylesheet (`data:`)."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods that change something."""
_HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_NAMED = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
_SMALL = 64 << 10
_SLOWEST = 10.0
"""Seconds within which a whole body must have come."""
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", *CHANGES})


def _small(method: str, path: str) -> int:
    return _SMALL


def _unwatched(app: ASGIApp) -> ASGIApp:
    return app


@dataclass(frozen=True)
class Face:
    """What is shown through the shell.

    Parameters
    ----------
    name
        Of the face.
    routes
        Its own application.
    door
        Wraps it: who may reach which route.
    static
        Its files.
    hosts
        Names by which it is called, beside those of this machine.
    largest
        Most bytes of a body, by method and path; None where the face counts itself, as for files that are uploaded.
    secure
        Whether it is called over https alone.
    watch
        Wraps the whole of it: logs and counts.
    closed
        Whether its files, too, are behind the door, and whoever calls by another name is refused as a stranger is.
    """

    name: str
    routes: ASGIApp
    door: Callable[[ASGIApp], ASGIApp]
    static: StaticFiles
    hosts: tuple[str, ...] = ()
    largest: Callable[[str, str], int | None] = field(default_factory=lambda: _small)
    secure: bool = False
    watch: Callable[[ASGIApp], ASGIApp] = field(default_factory=lambda: _unwatched)
    closed: bool = False


def application(face: Face) -> ASGIApp:
    """A face in the shell: what a server runs.

    Parameters
    ----------
    face
        What is shown.

    Examples
    --------
    >>> from starlette.applications import Starlette
    >>> from starlette.testclient import TestClient
    >>> shown = application(Face("none", Starlette(), lambda routes: routes, StaticFiles([])))
    >>> TestClient(shown, base_url="http://localhost").get("/").headers["referrer-policy"]
    'no-referrer'
    >>> TestClient(shown, base_url="http://elsewhere.example").get("/").status_code
    400
    """
    inner = face.door(_or_files(face) if face.closed else face.routes)
    limited = _Bodies(inner, face.largest)

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        problem = _foreign(scope, headers, face.hosts)
        if problem is not None:
            await (Problem(403, problem.detail) if face.closed else problem).response()(scope, receive, send)
        elif scope["path"].startswith(PREFIX) and not face.closed:
            await face.static(scope, receive, send)
        else:
            await limited(scope, receive, send)

    return _Safe(face.watch(_Last(checked)), inner, face.secure)


def _or_files(face: Face) -> ASGIApp:
    """The routes of a face, and its files."""

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        files = scope["type"] == "http" and scope["path"].startswith(PREFIX)
        await (face.static if files else face.routes)(scope, receive, send)

    return chosen


def is_loopback(scope: Scope) -> bool:
    """Whether somebody on this machine asks, and nobody through a proxy on it."""
    headers = Headers(scope=scope)
    passed = any(name in headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
    client = scope.get("client")
    return not passed and client is not None and client[0] in LOOPBACK and _host(headers) in LOOPBACK


def _host(headers: Headers) -> str:
    """The name that it is called by, without a port."""
    found = _NAMED.fullmatch(headers.get("host", ""))
    return "" if found is None else found["name"].strip("[]").rstrip(".").lower()


def _foreign(scope: Scope, headers: Headers, hosts: tuple[str, ...]) -> Problem | None:
    """What is wrong with where a request comes from, or goes to."""
    if len(headers.getlist("host")) != 1 or _host(headers) not in (*LOOPBACK, *hosts):
        return Problem(400, "It is not served under this name.")
    if scope["method"] not in _METHODS:
        return Problem(405, "There is no such method.")
    if scope["method"] not in CHANGES:
        return None
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        return Problem(403, "Another site sent this.")
    if origin is not None and (urlsplit(origin).netloc if "://" in origin else "") != headers["host"]:
        return Problem(403, "Another site sent this.")
    return None


class _Safe:
    """The outermost layer: every answer has the headers."""

    def __init__(self, app: ASGIApp, inner: ASGIApp, secure: bool) -> None:
        self.app = app
        self.inner = inner
        self.headers = dict(_HEADERS)
        if secure:
            self.headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":  # no face has sockets
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    own.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, sent)


class _Last:
    """Turns an error into an answer; what was answered in part is broken off, and its words go nowhere."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = done = False

        async def sent(message: Message) -> None:
            nonlocal begun, done
            begun = True
            done = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            kind = type(error).__name__
            if not begun:
                await told(error).response()(scope, receive, send)
            elif not done:
                raise RuntimeError(f"an answer broke off: {kind}") from None


def told(error: Exception) -> Problem:
    """What is told of an error: the words of what we raise on purpose, of anything else its type alone."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, SfumatoError):
        return from_error(error)
    return Problem(500, f"A fault of its own ({type(error).__name__}).")


class _Bodies:
    """Lets bodies through that are small and come soon; they are read before anything else is done."""

    def __init__(self, app: ASGIApp, largest: Callable[[str, str], int | None]) -> None:
        self.app = app
        self.largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self.largest(scope["method"], scope["path"])
        if most is None:
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(_SLOWEST):
                body = await _read(Headers(scope=scope), receive, most)
        except TimeoutError:
            await Problem(408, "The body came too slowly.", {}, {"Connection": "close"}).response()(
                scope, receive, send
            )
            return
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        if body is None:  # whoever asked is gone
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replayed, send)


async def _read(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """The whole body; None where the connection ended."""
    said: Any = headers.get("content-length", "0")
    too_large = Problem(413, f"A body has at most {most:,} bytes.", {}, {"Connection": "close"})
    if not said.isdigit() or int(said) > most:
        raise too_large
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        size += len(message.get("body", b""))
        if size > most:
            raise too_large
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
