"""The door: who holds the cookie, asks from a page of this studio, and is the user who started it."""

from __future__ import annotations

import os
import secrets
import sys
import threading
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.web.problems import Problem
from sfumato.web.shell import CHANGES

__all__ = ["Door", "Keys", "of_another_user"]

_OWN_PAGES = (None, "same-origin", "none")
_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


class Keys:
    """What opens the door: tokens that are good for one use, and the cookie that each is spent for.

    Examples
    --------
    >>> keys = Keys()
    >>> token = keys.token()
    >>> cookie = keys.spend(token)
    >>> keys.fits(cookie), keys.fits("another"), keys.spend(token)
    (True, False, None)
    """

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._cookies: set[str] = set()
        self._lock = threading.Lock()

    def token(self) -> str:
        """A new token; those that were not used are void."""
        made = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens = {made}
        return made

    def spend(self, token: str) -> str | None:
        """A cookie for a token, once."""
        with self._lock:
            if not _among(token, self._tokens):
                return None
            self._tokens = set()
            made = secrets.token_urlsafe(32)
            self._cookies.add(made)
            return made

    def fits(self, cookie: str) -> bool:
        """Whether a cookie was given here."""
        return _among(cookie, self._cookies)


def _among(given: str, known: set[str]) -> bool:
    """Whether a text is one of some, in a time that does not tell how near it is."""
    return sum(secrets.compare_digest(given.encode(), one.encode()) for one in known) > 0


class Door:
    """Stands in front of the studio's routes, and of its files.

    A page on another port of this machine sends the same cookie, for SameSite does not tell ports apart; so a browser's
    own word on where a request comes from is looked at (`Sec-Fetch-Site`, `Origin`), and the cookie is named by port.

    Parameters
    ----------
    app
        The routes.
    keys
        What opens it.
    port
        Where the studio listens.
    refused
        What is sent in place of a route.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        port: int,
        refused: Callable[[Scope, Problem], Response],
    ) -> None:
        self.app = app
        self.keys = keys
        self.port = port
        self.cookie = f"sfumato_studio_{port}"
        self.refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if of_another_user(scope, self.port):
            answer = self.refused(scope, Problem(403, "The studio is of another user of this machine."))
        elif scope["path"] == "/" and scope["method"] == "GET" and b"token=" in scope["query_string"]:
            answer = self._opened(scope)
        elif (problem := self._problem(scope, headers)) is not None:
            answer = self.refused(scope, problem)
        else:
            await self.app(scope, receive, send)
            return
        await answer(scope, receive, send)

    def _problem(self, scope: Scope, headers: Headers) -> Problem | None:
        origin = headers.get("origin")
        if headers.get("sec-fetch-site") not in _OWN_PAGES:
            return Problem(403, "Another site sent this.")
        if origin is not None and origin != f"http://{headers.get('host', '')}":
            return Problem(403, "Another site sent this.")
        if not self.keys.fits(cookie_parser(headers.get("cookie", "")).get(self.cookie, "")):
            return Problem(403, "Open the studio by the address in its terminal, where Enter prints a new one.")
        if scope["method"] in CHANGES and headers.get("x-sfumato") != "1":
            return Problem(403, "Changes need the header X-Sfumato: 1.")
        return None

    def _opened(self, scope: Scope) -> Response:
        """Spend a token for the cookie.

        A page leads on, not a redirect: one that began on another site would not carry the cookie just set.
        """
        given = parse_qs(scope["query_string"].decode("latin-1"))
        cookie = self.keys.spend(given.get("token", [""])[-1])
        if cookie is None:
            used = Problem(403, "This address was used already. Press Enter in the studio's terminal for a new one.")
            return self.refused(scope, used)
        next_ = escape(_local(given.get("next", ["/data"])[-1]))
        page = HTMLResponse(
            f'<!doctype html><html lang="en-GB"><head><meta charset="utf-8"><title>sfumato studio</title>'
            f'<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url={next_}"></head>'
            f'<body><p><a href="{next_}">Open the studio</a></p></body></html>'
        )
        page.set_cookie(self.cookie, cookie, httponly=True, samesite="strict", path="/")
        return page


def _local(address: str) -> str:
    """An address of this studio, whatever was given."""
    plain = address.isascii() and address.replace("-", "").replace("/", "").isalnum()
    return address if plain and address.startswith("/") and not address.startswith("//") else "/data"


def of_another_user(scope: Scope, port: int) -> bool:
    """Whether a connection is known to be another user's; only Linux tells it.

    Parameters
    ----------
    scope
        Of the request.
    port
        Where the studio listens.
    """
    client = scope.get("client")
    if client is None or client[0].count(".") != 3 or not sys.platform.startswith("linux"):
        return False
    own = tuple(f"{form}:{client[1]:04X}" for form in _written(client[0]))
    end = f":{port:04X}"
    for path in _CONNECTIONS:
        try:
            lines = path.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split(maxsplit=8)
            if fields[1] in own and fields[2].endswith(end) and int(fields[7]) not in (os.getuid(), 0):
                return True
    return False


def _written(host: str) -> tuple[str, str]:
    """An address of IPv4 as the kernel lists it: plain, and as sockets for both kinds of addresses have it."""
    plain = bytes(int(part) for part in host.rpartition(":")[2].split("."))[::-1].hex().upper()
    return plain, f"{0:016X}FFFF0000{plain}"
