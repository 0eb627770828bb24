"""The plan's panel, beside every page: typed into, undone, downloaded, kept in a file."""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse, JSONResponse

from sfumato.errors import SfumatoError
from sfumato.plan.editing.differing import differing
from sfumato.plan.editing.ends import keep_ends
from sfumato.web.layout.forms import Form, Long
from sfumato.web.problems import Problem
from sfumato.web.studio.archive import archived
from sfumato.web.studio.beside import carried
from sfumato.web.studio.opening import sentence
from sfumato.web.studio.pages.frame import change, panel, problem, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio, told

__all__ = ["router"]

router = APIRouter()
_MOST_OFFERS, _LONGEST_WHAT, _DIGITS = 50, 150, 9


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
    text = form.whole("text")
    if form.one("ends") == "crlf":  # a file with such ends was put in its place
        return change(request, studio, lambda: studio.planned.change(form.one("tag"), lambda _: _crlf(text)))
    return change(request, studio, lambda: studio.planned.change(form.one("tag"), lambda now: keep_ends(now, text)))


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


@router.post("/pages/plan/complete")
def offer(studio: Of, form: Long) -> JSONResponse:
    """What may be typed next: the word before the caret, and what may stand in its place."""
    from sfumato.plan.editing.completing import complete, typed

    text = form.whole("text").replace("\r\n", "\n")
    given = form.one("caret")
    caret = min(int(given), len(text)) if given.isascii() and given.isdigit() and len(given) < _DIGITS else len(text)
    line, column = text.count("\n", 0, caret) + 1, caret - text.rfind("\n", 0, caret)
    found = complete(text, line, column, _columns(studio))
    options = [{"insert": insert, "what": _short(what)} for insert, what in found[:_MOST_OFFERS]]
    word = typed(text, line, column)
    return JSONResponse({"word": word, "options": options, "more": max(0, len(found) - _MOST_OFFERS)})


def _columns(studio: Studio) -> dict[str, str]:
    """Names of the file's columns with their labels, once it is read; never a value."""
    if studio.closed or not studio.opened.read:
        return {}
    try:
        table = studio.opened.table
    except SfumatoError:
        return {}
    labels = {name: variable.label for name, variable in table.codebook.items()}
    return {name: labels.get(name) or "a column" for name in table.columns}


def _short(what: str) -> str:
    """The first sentence of what is said, without the marks of code."""
    first = re.split(r"(?<=[.:]) (?=[A-Z])", what.replace("`", ""), maxsplit=1)[0]
    return first if len(first) <= _LONGEST_WHAT else f"{first[: _LONGEST_WHAT - 2].rstrip()} …"


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
    return show_part(request, "plan_changes", places=studio.planned.changes, name="")


@router.post("/pages/plan/diff")
def diff(request: Request, studio: Of, form: Long) -> HTMLResponse:
    """What another text has in place of lines of the plan; nothing is stored."""
    places = differing(studio.planned.text, form.whole("text"))
    return show_part(request, "plan_changes", places=places, name=form.one("name", "the file")[:_LONGEST_WHAT])


@router.get("/pages/plan/download")
def download(studio: Of) -> Response:
    """The text as a file."""
    headers = {"Content-Disposition": f"attachment; filename=plan.yaml; filename*=UTF-8''{_quoted(studio.beside.name)}"}
    return Response(studio.planned.text.encode(), 200, headers, "text/yaml; charset=utf-8")


def _quoted(name: str) -> str:
    """A file's name for a header (RFC 8187), whatever letters are in it."""
    plain = "".join(letter for letter in name if unicodedata.category(letter)[0] != "C")
    return quote(plain.encode("utf-8", "replace"), safe="")


@router.get("/pages/plan/archive")
def archive(studio: Of) -> Response:
    """The text with the files that it names, as an archive."""
    planned, name = studio.planned, studio.beside.name
    files = {**carried(planned.plan, planned.base), name: planned.text.encode()}
    headers = {"Content-Disposition": 'attachment; filename="plan.zip"'}
    return Response(archived(files), 200, headers, "application/zip")
