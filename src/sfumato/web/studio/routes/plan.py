"""The plan: read, written whole, edited, undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from sfumato.errors import PlanError
from sfumato.plan.editing.history import etag
from sfumato.web.problems import Problem
from sfumato.web.studio.routes.parts import Body, Of
from sfumato.web.studio.studio import Studio, told

__all__ = ["changed", "router"]

router = APIRouter()
Seen = Annotated[str | None, Header(alias="If-Match")]


@router.get("/api/plan")
def read(studio: Of) -> Response:
    """The text, with its SHA-256 as ETag."""
    text = studio.planned.text
    return Response(text.encode(), 200, {"ETag": etag(text)}, "text/yaml; charset=utf-8")


@router.put("/api/plan")
def write(studio: Of, text: Body, response: Response, seen: Seen = None) -> dict[str, Any]:
    """Take another text, if it is a plan."""
    return changed(studio, response, lambda: studio.planned.change(seen, lambda _: text))


@router.post("/api/check")
def check(studio: Of, text: Body) -> dict[str, Any]:
    """What is wrong with a text, as a plan and for the data; nothing is stored."""
    return {"problems": told(studio.problems(text))}


@router.post("/api/edit")
def edit(studio: Of, edit: dict[str, Any], response: Response, seen: Seen = None) -> dict[str, Any]:
    """Change one thing; all other lines stay byte for byte."""
    from sfumato.plan.editing.apply import apply

    return changed(studio, response, lambda: studio.planned.change(seen, lambda text: apply(text, edit)))


@router.post("/api/undo")
def undo(studio: Of, response: Response) -> dict[str, Any]:
    """Go back by one text."""
    return changed(studio, response, studio.planned.undo)


@router.post("/api/redo")
def redo(studio: Of, response: Response) -> dict[str, Any]:
    """Go forward again."""
    return changed(studio, response, studio.planned.redo)


def changed(studio: Studio, response: Response, change: Callable[[], str]) -> dict[str, Any]:
    """Make a change, and tell what the data object to in the text that it made.

    Raises
    ------
    Problem
        422 where what it makes is no plan.
    """
    try:
        tag = change()
    except PlanError as error:
        raise Problem(422, "This is no plan; nothing was changed.", {"problems": told(error.problems)}) from None
    response.headers["ETag"] = tag
    planned = studio.planned
    more = {"not_kept": planned.not_kept} if planned.not_kept else {}
    return {"problems": told(studio.problems(planned.text)), **more}
