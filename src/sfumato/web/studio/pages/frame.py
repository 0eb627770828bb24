"""What the studio's pages share: what is around them, the plan that is always in sight, how a change is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse

from sfumato.errors import PlanError, SfumatoError
from sfumato.web.layout.rendering import refuse_without_vendor, rendered, shown
from sfumato.web.problems import Problem
from sfumato.web.static_files import StaticFiles
from sfumato.web.studio.beside import carries
from sfumato.web.studio.studio import Studio, told

__all__ = ["LINKS", "at_the_head", "change", "panel", "problem", "show", "show_part"]

BRAND = "sfumato studio"
LINKS: tuple[tuple[str, str], ...] = (
    ("Data", "/data"),
    ("Risk", "/risk"),
    ("Protect", "/protect"),
    ("Trade-off", "/trade-off"),
    ("Compare", "/compare"),
    ("Release", "/release"),
    ("Analyse", "/analyse"),
    ("Tables", "/tables"),
)
"""Pages in the order of the work."""


def show(request: Request, studio: Studio, template: str, heading: str, **context: Any) -> HTMLResponse:
    """A whole page, with the plan beside it.

    Parameters
    ----------
    request
        Who looks at it.
    studio
        What it shows.
    template
        Its name, beside this file.
    heading
        Its first heading.
    context
        What it says.
    """
    static = request.app.state.static
    refuse_without_vendor(static)
    links = [{"name": name, "href": href} for name, href in LINKS]
    around = {"brand": BRAND, "home": "/data", "links": links, "here": request.url.path, "heading": heading}
    open_ = None if studio.closed else studio.opened.source.path.name
    looked = {"file": open_, "changed": not studio.closed and studio.opened.changed}
    return shown(f"studio/pages/{template}.html.j2", static, around | looked | context)


def show_part(request: Request, template: str, **context: Any) -> HTMLResponse:
    """A part of a page, which takes the place of another."""
    return shown(f"studio/pages/{template}.html.j2", request.app.state.static, context)


def problem(request: Request, error: SfumatoError | Problem | str) -> HTMLResponse:
    """What is wrong, at the head of the page, and nothing else changes.

    Status 200, since a browser takes any other for a fault of the page.
    """
    text, changed = str(error), []
    if isinstance(error, Problem):
        text, changed = error.detail, list(error.more.get("changed", []))
    elif isinstance(error, PlanError):
        text, changed = "That makes no plan, so nothing was changed.", [str(one) for one in error.problems]
    return at_the_head(request.app.state.static, text, changed)


def at_the_head(static: StaticFiles, text: str, changed: list[str]) -> HTMLResponse:
    """A sentence at the head of the page that asked, with what changed since it was loaded."""
    answer = shown("studio/pages/problem.html.j2", static, {"text": text, "changed": changed})
    answer.headers.update({"HX-Retarget": "#alarm", "HX-Reswap": "innerHTML"})
    return answer


def panel(studio: Studio) -> Mapping[str, Any]:
    """What the plan's panel says: the text, its tag, and what is wrong with it."""
    planned = studio.planned
    text, tag = planned.text, planned.etag
    return {
        "text": text,
        "tag": tag,
        "rows": min(max(text.count("\n") + 2, 12), 60),
        "problems": told(studio.problems(text)),
        "can_undo": planned.can_undo,
        "can_redo": planned.can_redo,
        "kept": None if planned.kept is None else planned.kept.name,
        "asked": planned.asked,
        "files": carries(planned.plan, planned.base),
        "beside": studio.beside.name,
        "there": studio.beside.exists() and not planned.wrote(studio.beside),
        "not_kept": planned.not_kept,
        "where": "in the folder where the studio was started" if studio.private else "beside the data",
    }


def change(
    request: Request, studio: Studio, act: Callable[[], str], template: str | None = None, **context: Any
) -> Any:
    """Make a change of the plan, and answer with a part of the page and the plan's panel anew.

    What is wrong is told beside the form, with status 200; the plan stays.

    Parameters
    ----------
    request
        Who asks.
    studio
        Whose plan it is.
    act
        Makes the change.
    template
        The part of the page that is sent beside the panel; none where the panel alone changes.
    context
        What that part says, or a function that gives it after the change.
    """
    try:
        act()
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    later = {name: value() if callable(value) else value for name, value in context.items()}
    static = request.app.state.static
    part = "" if template is None else rendered(f"studio/pages/{template}.html.j2", static, later)
    aside = rendered("studio/pages/plan_panel.html.j2", static, {**panel(studio), "apart": template is not None})
    return HTMLResponse(part + aside)
