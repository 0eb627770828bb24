"""What is wrong, as a page where a page was asked for."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from sfumato.web.gate.pages.frame import BRAND, LINKS
from sfumato.web.layout.rendering import VENDOR, shown
from sfumato.web.problems import Problem
from sfumato.web.static_files import StaticFiles

__all__ = ["refusal"]

_HEADINGS = {401: "Log in first", 403: "This is not for you", 404: "There is nothing here"}


def refusal(static: StaticFiles, scope: Scope, problem: Problem) -> Response:
    """A problem as a page, or as `application/problem+json` for all but pages.

    Parameters
    ----------
    static
        Files that the page links to.
    scope
        Of the request.
    problem
        What is wrong.
    """
    moved = 300 <= problem.status < 400
    if not scope.get("sfumato.page") or moved or any(name not in static for name in VENDOR):
        return problem.response()
    role = str(scope.get("sfumato.role", ""))
    links = [{"name": name, "href": href} for name, href in LINKS[role]]
    heading = _HEADINGS.get(problem.status, "That could not be done")
    around = {"brand": BRAND, "home": "/", "links": links, "here": "", "heading": heading, "visitor": None}
    answer = shown("gate/pages/error.html.j2", static, around | {"text": problem.detail}, problem.status)
    answer.headers.update(problem.headers)
    return answer
