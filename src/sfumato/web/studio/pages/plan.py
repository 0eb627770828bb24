"""The plan's panel, beside every page: typed into, undone, downloaded, kept in a file."""

from __future__ import annotations

import unicodedata
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.web.layout.forms import Form, Long
from sfumato.web.problems import Problem
from sfumato.web.studio.opening import sentence
from sfumato.web.studio.pages.frame import change, panel, problem, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import told

__all__ = ["router"]

router = APIRouter()


@router.get("/pages/plan")
def look(request: Request, studio: Of) -> HTMLResponse:
    """The panel."""
    try:
        _ = studio.planned
    except SfumatoError as error:
        return show_part(request, "plan_none", text=sentence(studio, error))
    return show_part(request, "plan_panel", apart=False, **panel(studio))


@router.post("/pages/plan")
def write(request: Request, studio: Of, form: Long) -> Any:
    """Take the text that was typed."""
    text = form.whole("text").replace("\r\n", "\n")
    if "\r\n" in studio.planned.text:
        text = text.replace("\n", "\r\n")
    return change(request, studio, lambda: studio.planned.change(form.one("tag"), lambda _: text))


@router.post("/pages/plan/check")
def check(request: Request, studio: Of, form: Long) -> HTMLResponse:
    """What is wrong with what is being typed."""
    return show_part(request, "plan_problems", problems=told(studio.problems(form.whole("text"))), typing=True)


@router.post("/pages/plan/undo")
def undo(request: Request, studio: Of) -> Any:
    """Go back by one text."""
    return change(request, studio, studio.planned.undo)


@router.post("/pages/plan/redo")
def redo(request: Request, studio: Of) -> Any:
    """Go forward again."""
    return change(request, studio, studio.planned.redo)


@router.post("/pages/plan/keep")
def keep(request: Request, studio: Of, form: Form) -> Any:
    """Keep the plan in its file from now on, or go on with the one that lies there; or neither."""
    planned, said = studio.planned, form.one("keep")
    try:
        if said == "there":
            planned.take(studio.beside)
        elif said == "yes":
            planned.keep(studio.beside)
    except (Problem, SfumatoError) as error:
        return problem(request, error)
    except OSError as error:
        return problem(request, f"The plan cannot be kept there: {error.strerror}. Download it.")
    planned.asked = True
    return show_part(request, "plan_panel", apart=False, **panel(studio))


@router.get("/pages/plan/changes")
def changes(request: Request, studio: Of) -> HTMLResponse:
    """What was changed since the first text."""
    return show_part(request, "plan_changes", lines=studio.planned.changes)


@router.get("/pages/plan/download")
def download(studio: Of) -> Response:
    """The text as a file."""
    headers = {"Content-Disposition": f"attachment; filename=plan.yaml; filename*=UTF-8''{_quoted(studio.beside.name)}"}
    return Response(studio.planned.text.encode(), 200, headers, "text/yaml; charset=utf-8")


def _quoted(name: str) -> str:
    """A file's name for a header (RFC 8187), whatever letters are in it."""
    plain = "".join(letter for letter in name if unicodedata.category(letter)[0] != "C")
    return quote(plain.encode("utf-8", "replace"), safe="")
