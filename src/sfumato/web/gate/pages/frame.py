"""What the gate's pages share: what is around them by role, forms, and how releases and answers are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from sfumato.errors import SfumatoError
from sfumato.gate.service import Release, Visitor
from sfumato.web.layout.rendering import refuse_without_vendor, shown

__all__ = ["LINKS", "Shown", "gone_to", "problem", "show", "show_part", "told", "visitor_of"]

BRAND = "sfumato gate"
LINKS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "analyst": (
        ("Datasets", "/pages/datasets"),
        ("Request a table", "/pages/table"),
        ("Request an analysis", "/pages/analysis"),
        ("My releases", "/pages/releases"),
        ("Public releases", "/pages/public"),
    ),
    "steward": (
        ("Datasets", "/pages/datasets"),
        ("People", "/pages/people"),
        ("Policies", "/pages/policies"),
        ("Queue", "/pages/queue"),
        ("Maximal releases", "/pages/maximal"),
        ("Ledger", "/pages/ledger"),
        ("Public releases", "/pages/public"),
    ),
    "auditor": (
        ("Datasets", "/pages/datasets"),
        ("People", "/pages/people"),
        ("Policies", "/pages/policies"),
        ("Maximal releases", "/pages/maximal"),
        ("Ledger", "/pages/ledger"),
        ("Public releases", "/pages/public"),
    ),
    "": (("Public releases", "/pages/public"), ("Log in", "/login")),
}
"""Pages by role, in the order in which they are shown."""
_WORDS = {"n": "People", "widening": "Intervals are wider by"}
_ROUNDED = {**_WORDS, "n": "People, to a multiple of ten"}


def visitor_of(request: Request) -> Visitor | None:
    """Who looks at a page; None where nobody logged in."""
    visitor: Visitor | None = request.state.visitor
    return visitor


def show(request: Request, template: str, heading: str, **context: Any) -> HTMLResponse:
    """A whole page.

    Parameters
    ----------
    request
        Who looks at it.
    template
        Its name, beside this file.
    heading
        Its first heading.
    context
        What it says.
    """
    static = request.app.state.static
    refuse_without_vendor(static)
    visitor = visitor_of(request)
    role = visitor.role if visitor is not None else ""
    here = request.url.path
    links = [{"name": name, "href": href} for name, href in LINKS[role]]
    around = {"brand": BRAND, "home": "/", "links": links, "here": here, "heading": heading, "visitor": visitor}
    return shown(f"gate/pages/{template}.html.j2", static, around | context)


def show_part(request: Request, template: str, **context: Any) -> HTMLResponse:
    """A part of a page, which takes the place of another."""
    context.setdefault("visitor", visitor_of(request))
    return shown(f"gate/pages/{template}.html.j2", request.app.state.static, context)


def problem(request: Request, error: SfumatoError | str) -> HTMLResponse:
    """What is wrong with a form, for beside it: status 200, since a browser takes any other for a fault of the page."""
    return show_part(request, "problem", text=str(error))


def gone_to(address: str) -> Response:
    """Lead the browser to another page after a form."""
    return Response(status_code=204, headers={"HX-Redirect": address})


@dataclass(frozen=True)
class Shown:
    """A release, as pages show it."""

    id: str
    title: str
    dataset: str
    version: str
    at: str
    where: Mapping[str, Sequence[str]]
    columns: Sequence[str]
    labels: int
    rows: Sequence[Sequence[Any]]
    exact: bool
    sentence: str
    facts: Sequence[tuple[str, str]]
    ledger: tuple[int, str]
    who: str
    statistics: Mapping[str, Any] = field(default_factory=dict)
    picture: str | None = None


def told(release: Release, picture: bool = True) -> Shown:
    """A release, as pages show it.

    Parameters
    ----------
    release
        What was given.
    picture
        Whether it is drawn.
    """
    from sfumato.render.released import picture_of  # drawing is loaded when it is needed: a server starts sooner

    content = release.content
    disclosure = content["disclosure"]
    facts: list[tuple[str, str]] = []
    if isinstance(disclosure, Mapping):
        sentence = str(disclosure.get("sentence", ""))
        words = _ROUNDED if "tau" in disclosure else _WORDS
        facts = [(words[key], str(value)) for key, value in disclosure.items() if key in _WORDS and value is not None]
    else:
        sentence = str(disclosure)
    columns, rows = release.columns, release.rows
    labels = len(content["by"]) or (1 if columns[:1] == ["term"] else 0)
    drawing = picture_of({**content, "columns": columns, "rows": rows}, f"p{release.id[:8]}") if picture else None
    return Shown(
        release.id,
        _title(content),
        release.dataset,
        str(content["version"]),
        release.at.replace("T", " ")[:16] + " UTC",
        content.get("where", {}),
        columns,
        labels,
        rows,
        bool(content["exact"]),
        sentence,
        facts,
        release.ledger,
        release.who,
        content.get("statistics", {}),
        drawing,
    )


def _title(content: Mapping[str, Any]) -> str:
    """What it is, in words as far as there are any."""
    if "analysis" in content:
        told = content["analysis"]
        return f"{told['kind']}: {told['formula']}"
    summed, bar, _ = str(content.get("table", "")).rpartition("|")
    by = ", ".join(f"{name}@{level}" if level else str(name) for name, level in content["by"]) or "all together"
    return f"{summed.lstrip('~')} by {by}" if bar else by
