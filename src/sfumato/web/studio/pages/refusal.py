"""What is wrong, as a page where a browser looks for a page."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from sfumato.web.layout.rendering import VENDOR, shown
from sfumato.web.problems import Problem
from sfumato.web.static_files import StaticFiles
from sfumato.web.studio.pages.frame import BRAND, LINKS, at_the_head

__all__ = ["refusal"]

_HEADINGS = {403: "This door is closed", 404: "There is nothing here"}


def refusal(static: StaticFiles, scope: Scope, problem: Problem) -> Response:
    """A problem as a page, or as `application/problem+json` for all but pages.

    Whoever is not let in gets the sentence alone: the style sheet is behind the door as well. Where a part of a page
    was asked for, the sentence stands at the head of the page.

    Parameters
    ----------
    static
        Files that the page links to.
    scope
        Of the request.
    problem
        What is wrong.
    """
    headers = Headers(scope=scope)
    if "hx-request" in headers and scope["path"].startswith("/pages/") and _told(problem.status):
        return at_the_head(static, problem.detail, list(problem.more.get("changed", [])))
    page = "text/html" in headers.get("accept", "") and "hx-request" not in headers
    if not page or scope["path"].startswith("/api/"):
        return problem.response()
    if problem.status == 403 or any(name not in static for name in VENDOR):
        return HTMLResponse(_plain(problem), problem.status)
    links = [{"name": name, "href": href} for name, href in LINKS]
    around = {"brand": BRAND, "home": "/data", "links": links, "here": "", "file": None}
    heading = _HEADINGS.get(problem.status, "That could not be done")
    told = {"heading": heading, "text": problem.detail}
    return shown("studio/pages/error.html.j2", static, around | told, problem.status)


def _told(status: int) -> bool:
    """Whether whoever looks at the page can mend it, which neither a fault of the server nor a closed door is."""
    return status == 507 or (status < 500 and status != 403)


def _plain(problem: Problem) -> str:
    from html import escape

    told = _HEADINGS.get(problem.status, "That could not be done")
    return (
        f'<!doctype html><html lang="en-GB"><head><meta charset="utf-8"><title>{told} – {BRAND}</title></head>'
        f"<body><main><h1>{told}</h1><p>{escape(problem.detail)}</p></main></body></html>"
    )
