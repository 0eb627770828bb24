"""The page Data: what each variable is, how it looks, and why it is taken for that; all of it can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse

from sfumato.data.codebook import Variable
from sfumato.data.roles import Kind, Role
from sfumato.errors import SfumatoError
from sfumato.plan.editing.many import set_values
from sfumato.plan.editing.tree import Key
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio.changing import codes_in_words, news
from sfumato.web.studio.describing import Described, described, gaps_of, place_of, sketch_of
from sfumato.web.studio.opening import command, listed, options_for, sentence
from sfumato.web.studio.pages.frame import change, problem, show, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import SEVERAL, Studio

__all__ = ["router"]

router = APIRouter()
_AT_ONCE = 50
_WORDS = {
    "identifier": "names a person: must not leave",
    "key": "others may know it of somebody",
    "sensitive": "nobody must learn it",
    "outcome": "what analyses explain",
    "other": "tells nothing about who it is",
    "weight": "sampling weight",
    "household": "who lives together",
    "person": "whom several records are about",
    "record": "id of the record",
}
_SAID = {
    "kept": "The file was read again. The plan was changed by hand or given, so it stays as it is.",
    "drafted": "The file was read again, and the plan drafted anew: nobody had changed it.",
}


@dataclass(frozen=True)
class Sought:
    """Which variables are looked for, as the address says it."""

    text: str = ""
    role: str = ""
    kind: str = ""

    def holds(self, one: Described) -> bool:
        """Whether a variable is one of these."""
        words = f"{one.name}\n{one.variable.label or ''}".casefold()
        return (
            self.text.casefold() in words
            and self.role in ("", one.variable.role)
            and self.kind in ("", one.variable.kind or "")
        )


@router.get("/data")
def page(
    request: Request, studio: Of, file: str = "", plan: str = "", q: str = "", role: str = "", kind: str = ""
) -> HTMLResponse:
    """The page; its lines come once the file is read."""
    context = {"sought": Sought(q, role, kind), "named": file[:200], "said": _SAID.get(plan, ""), **_words()}
    if studio.closed:
        return show(request, studio, "data_choose_page", "Data", **context, **_choice(studio, None))
    source = studio.opened.source
    return show(request, studio, "data", "Data", open_name=source.path.name, command=command(studio), **context)


@router.get("/pages/data/choose")
def choose(request: Request, studio: Of) -> HTMLResponse:
    """What else can be opened."""
    return show_part(request, "data_choose", **_choice(studio, None), named="")


@router.get("/pages/data/reading")
def reading(request: Request, studio: Of) -> HTMLResponse:
    """How the file is read, and what was found out."""
    opened = studio.opened
    try:
        notes: Sequence[str] = opened.table.notes
        wrong = ""
    except SfumatoError as error:
        notes, wrong = (), sentence(studio, error)
    context = {"notes": notes, "wrong": wrong}
    return show_part(request, "data_reading", **context, **_choice(studio, opened.source.path))


@router.get("/pages/data/changed")
def changed(studio: Of) -> JSONResponse:
    """Whether the file is another one on disk."""
    return JSONResponse({"changed": not studio.closed and studio.opened.changed})


@router.get("/pages/data/variables")
def variables(
    request: Request, studio: Of, q: str = "", role: str = "", kind: str = "", begin: int = 0, wait: bool = False
) -> HTMLResponse:
    """A line for each variable: the first of them, or those after as many."""
    sought = Sought(q, role, kind)
    try:
        context = _lines(studio, sought, max(begin, 0), wait=wait)
    except SfumatoError as error:
        told = {"wrong": sentence(studio, error), "notes": ()}
        return show_part(request, "data_broken", **told, **_choice(studio, studio.opened.source.path), named="")
    return show_part(request, "data_rows" if begin > 0 else "data_variables", **context)


@router.get("/pages/data/tables")
def tables(request: Request, studio: Of) -> HTMLResponse:
    """The tables of a plan of several, and the links between them; nothing where it is of one."""
    try:
        plan = studio.planned.plan
    except SfumatoError:
        return HTMLResponse("")
    if not plan.tables:
        return HTMLResponse("")
    base = studio.planned.base
    there = {name: (base / table.file).is_file() for name, table in plan.tables.items()}
    return show_part(
        request, "data_tables", plan=plan, there=there, here=studio.table_of(plan), folder=base, several=SEVERAL
    )


@router.get("/pages/data/picture")
def picture(request: Request, studio: Of, name: str, everything: bool = False) -> HTMLResponse:
    """How the values of a variable are spread."""
    index, one = _one(studio, name)
    drawn = sketch_of(studio, one, everything=everything)
    most = max((bar.records or 4 for bar in drawn.bars), default=1)
    return show_part(request, "data_picture", one=one, i=index, drawn=drawn, most=most, everything=everything)


@router.get("/pages/data/more")
def more(request: Request, studio: Of, name: str) -> HTMLResponse:
    """The form for what else a variable is."""
    index, one = _one(studio, name)
    bounds = one.variable.range or (None, None)
    ends = [_end(end) for end in bounds]
    codes = codes_in_words(one.variable)
    return show_part(request, "data_more", one=one, i=index, low=ends[0], high=ends[1], codes=codes)


@router.post("/pages/data/variable")
def variable(request: Request, studio: Of, form: Form) -> Any:
    """Change the role or the kind of a variable."""
    name, key, value = form.one("name"), form.one("key"), form.one("value")
    if key not in ("role", "kind"):
        return problem(request, Problem(422, "A variable has a role and a kind."))
    return _changed(request, studio, name, {key: value})


@router.post("/pages/data/more")
def write_more(request: Request, studio: Of, form: Form) -> Any:
    """Change label, unit, range and missing codes of a variable."""
    name = form.one("name")
    try:
        table = studio.opened.table
        _, one = _one(studio, name)
        texts = not table.frame.schema[name].is_numeric() and table.frame.schema[name] != pl.Boolean
        given = {key: form.one(key) for key in ("label", "unit", "low", "high", "missing")}
        found = news(one.variable, table.codebook.get(name, Variable()), texts, given)
    except Problem as error:
        return problem(request, error)
    return _changed(request, studio, name, found)


@router.post("/pages/data/many")
def many(request: Request, studio: Of, form: Form) -> Any:
    """Give many variables one role, or one kind, as one edit."""
    sought = Sought(form.one("q"), form.one("role"), form.one("kind"))
    found = [one.name for one in described(studio) if sought.holds(one)]
    ticked = set(form.many("name"))
    names = found if form.one("all") == "yes" else [name for name in found if name in ticked]
    news = {key: value for key in ("role", "kind") if (value := form.one(f"set_{key}"))}
    if not names or not news:
        return problem(request, "Tick variables, and choose a role or a kind for them.")

    def act() -> str:
        place = place_of(studio)
        values: dict[tuple[Key, ...], Any] = {
            (*place, name, key): value for name in names for key, value in news.items()
        }
        return studio.planned.change("*", lambda text: set_values(text, values))

    said = f"{len(names):,} variables changed."
    return change(request, studio, act, "data_variables", **_later(studio, sought, ticked=frozenset(names), said=said))


def _changed(request: Request, studio: Studio, name: str, found: dict[Key, Any]) -> Any:
    """Change some keys of one variable, and show its line anew."""

    def act() -> str:
        place = place_of(studio)
        values: dict[tuple[Key, ...], Any] = {(*place, name, key): value for key, value in found.items()}
        return studio.planned.change("*", lambda text: set_values(text, values))

    def rows() -> list[tuple[int, Described, Any]]:
        index, one = _one(studio, name)
        return [(index, one, gaps_of(studio, one))]

    return change(request, studio, act, "data_row_apart", rows=rows, ticked=frozenset(), guessed=True, **_words())


def _one(studio: Studio, name: str) -> tuple[int, Described]:
    """A variable and its place in the file.

    Raises
    ------
    Problem
        404 where there is none of this name.
    """
    for i, one in enumerate(described(studio)):
        if one.name == name:
            return i, one
    raise Problem(404, "There is no such variable.")


def _end(end: float | None) -> str:
    return "" if end is None else str(int(end)) if float(end).is_integer() else str(end)


def _later(studio: Studio, sought: Sought, *, ticked: frozenset[str], said: str) -> dict[str, Any]:
    """The lines after a change: each value is worked out once the change is made."""
    made: dict[str, Any] = {}

    def value(key: str) -> Any:
        if not made:
            made.update(_lines(studio, sought, 0, wait=True) | {"ticked": ticked, "said": said})
        return made[key]

    told = ("found", "variables", "records", "next", "sought", "said", "tag", "refused")
    keys = ("rows", "ticked", "guessed", *told, *_words())
    return {key: (lambda key=key: value(key)) for key in keys}


def _lines(studio: Studio, sought: Sought, begin: int, *, wait: bool) -> dict[str, Any]:
    guessed = wait or studio.opened.drafted
    all_ = list(enumerate(described(studio, wait=guessed)))
    found = [(i, one) for i, one in all_ if sought.holds(one)]
    rows = [(i, one, gaps_of(studio, one) if guessed else None) for i, one in found[begin : begin + _AT_ONCE]]
    return {
        "rows": rows,
        "ticked": frozenset(),
        "guessed": guessed,
        "found": len(found),
        "variables": len(all_),
        "records": studio.opened.table.frame.height,
        "next": begin + _AT_ONCE if begin + _AT_ONCE < len(found) else None,
        "sought": sought,
        "said": "",
        "tag": studio.planned.etag if guessed else "",
        "refused": studio.opened.draft.drafted.because if guessed and not studio.touched else None,
        **_words(),
    }


def _words() -> dict[str, Any]:
    roles = [(str(role), f"{role}: {_WORDS[role]}") for role in Role]
    return {"roles": [str(role) for role in Role], "kinds": [str(kind) for kind in Kind], "roles_in_words": roles}


def _choice(studio: Studio, path: Path | None) -> dict[str, Any]:
    """What can be opened, and how; of the file that is open how it is read."""
    files, further = listed(studio)
    how = {} if path is None else dict(studio.opened.source.how)
    return {
        "files": files,
        "further": further,
        "folder": studio.folder.name,
        "touched": studio.touched,
        "how": how,
        "options": None if path is None else options_for(path),
    }
