"""The page Protect: the steps in their order, a form for each, what each would do, and the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from sfumato.api.recoding import private
from sfumato.data.hidden import ROW
from sfumato.data.roles import Kind
from sfumato.errors import DataError, PlanError, SfumatoError
from sfumato.methods.registry import methods
from sfumato.plan.editing.edits import add, move, remove
from sfumato.plan.editing.off import switch_off, switch_on
from sfumato.web.layout.forms import Form, Given
from sfumato.web.problems import Problem
from sfumato.web.studio.limiting import bounded_anew, limits, offered_measures, read_bound, read_narrowing
from sfumato.web.studio.pages.frame import change, show, show_part
from sfumato.web.studio.pages.pictures import pictured
from sfumato.web.studio.recode_looks import Asked, editor
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.stepped import book_before, cards, plain_steps, previewer
from sfumato.web.studio.stepping import Unfit, catalogue, changed, fields, read_step, unsuited
from sfumato.web.studio.studio import Studio

__all__ = ["router", "tried", "whole_part"]

router = APIRouter()
_EDITOR = ("recode", "as", "all", "find")
"""What the address says of the editor of a column."""


@router.get("/protect")
def page(request: Request, studio: Of, step: int | None = None, add: str = "") -> HTMLResponse:
    """The page; its cards come once the plan is there."""
    editor = {key: request.query_params[key] for key in _EDITOR if request.query_params.get(key)}
    return show(request, studio, "protect", "Protect", step=step, adding=add, editor=editor)


@router.get("/pages/protect/steps")
def steps(request: Request, studio: Of, step: str = "", add: str = "") -> HTMLResponse:
    """A card for each step, one of them open, perhaps with the editor of a column, or the catalogue, or a new step."""
    said, at = request.query_params, _number(step)
    asked = None
    if said.get("recode") and (at is not None or add == "recode"):
        asked = Asked(at, said["recode"], said.get("as", ""), said.get("all") == "yes", said.get("find", ""))
    return show_part(request, "protect_steps", page=whole_part(studio, at, add, asked=asked))


@router.post("/pages/protect/save")
def save(request: Request, studio: Of, form: Form) -> Any:
    """Take the form of a step: one edit."""
    number, text = _number(form.one("step")), studio.planned.text
    now = plain_steps(text)
    if number is None or not 0 <= number < len(now):
        return _act(request, studio, form, lambda text: text)
    name = str(now[number]["do"])
    try:
        value = read_step(name, form, now[number], list(book_before(studio, number)))
    except Unfit as error:
        return show_part(request, "protect_steps", page=whole_part(studio, number, "", form, error))
    return _act(request, studio, form, lambda text: changed(text, ["steps", number], value), number)


@router.post("/pages/protect/add")
def put(request: Request, studio: Of, form: Form) -> Any:
    """Add a step."""
    name, at = form.one("do"), _number(form.one("at"))
    if name not in methods():
        return _act(request, studio, form, lambda text: add(text, ["steps"], at, {"do": name}))
    many = len(plain_steps(studio.planned.text))
    place = many if at is None else at
    try:
        value = read_step(name, form, {}, list(book_before(studio, place)))
    except Unfit as error:
        return show_part(request, "protect_steps", page=whole_part(studio, None, name, form, error))
    return _act(request, studio, form, lambda text: add(text, ["steps"], at, value), place)


@router.post("/pages/protect/move")
def shift(request: Request, studio: Of, form: Form) -> Any:
    """Give a step another place, or what else the buttons of its card say."""
    acts = {"on": on, "off": off, "remove": take_out}
    if (act := acts.get(form.one("act"))) is not None:
        return act(request, studio, form)
    number, to = _asked(form, "step"), _asked(form, "to")
    return _act(request, studio, form, lambda text: move(text, ["steps", number], to), focus=f"move-{to}")


@router.post("/pages/protect/remove")
def take_out(request: Request, studio: Of, form: Form) -> Any:
    """Take a step out."""
    number = _asked(form, "step")
    return _act(request, studio, form, lambda text: remove(text, ["steps", number]), focus="steps")


@router.post("/pages/protect/off")
def off(request: Request, studio: Of, form: Form) -> Any:
    """Switch a step off: it stays in the plan as a comment."""
    number = _asked(form, "step")
    return _act(request, studio, form, lambda text: switch_off(text, ["steps", number]), focus="steps")


@router.post("/pages/protect/on")
def on(request: Request, studio: Of, form: Form) -> Any:
    """Switch a step on again."""
    number = _asked(form, "step")
    return _act(request, studio, form, lambda text: switch_on(text, ["steps"], number), focus="steps")


@router.post("/pages/protect/preview")
def preview(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """What a step would do, as it stands in its form, saved or not."""
    number, name = _number(form.one("step")), form.one("do")
    now = plain_steps(studio.planned.text)

    def text() -> tuple[str, int]:
        text = studio.planned.text
        if number is not None and 0 <= number < len(now):
            value = read_step(str(now[number]["do"]), form, now[number], list(book_before(studio, number)))
            return changed(text, ["steps", number], value), number
        if name not in methods():
            raise DataError("There is no such step any more.")
        at = _number(form.one("at"))
        place = len(now) if at is None else min(max(at, 0), len(now))
        value = read_step(name, form, {}, list(book_before(studio, place)))
        return add(text, ["steps"], place, value), place

    return tried(request, studio, text, form.one("whole") == "yes", "/pages/protect/preview")


def tried(
    request: Request, studio: Studio, text: Callable[[], tuple[str, int]], whole: bool, again: str
) -> HTMLResponse:
    """What a step does: its columns before and after, and what becomes of people who share their keys.

    Parameters
    ----------
    request, studio
        Who asks, and whose data.
    text
        Gives the plan's text, and the position of the step.
    whole
        Take the whole file.
    again
        The address that tries it on the whole file.
    """
    try:
        plan, place = text()
        seen = previewer(studio.opened).look(studio.planned.parsed(plan), place, whole=whole)
    except Unfit as error:
        return show_part(request, "protect_preview", seen=None, said=_unfit(error))
    except PlanError as error:
        said = tuple(problem.message for problem in error.problems)
        return show_part(request, "protect_preview", seen=None, said=said)
    except SfumatoError as error:
        return show_part(request, "protect_preview", seen=None, said=(str(error),))
    before, after = (() if side is None else side.keys for side in (seen.before, seen.after))
    masked = [n for n in before if n not in after]
    told = {"pictures": pictured(seen.looks), "masked": masked, "again": again}
    return show_part(request, "protect_preview", seen=seen, said=(), **told)


@router.post("/pages/protect/limit")
def limit(request: Request, studio: Of, form: Form) -> Any:
    """Add a limit, change its bound, or remove it."""
    at, act = _number(form.one("limit")), form.one("act")
    if act == "remove":
        number = _asked(form, "limit")
        return _act(request, studio, form, lambda text: remove(text, ["limits", number]), focus="limits")
    try:
        bound, value = read_bound(form)
        new = {"measure": form.one("measure"), bound: value, **read_narrowing(form)}
    except ValueError as error:
        return show_part(request, "protect_steps", page=whole_part(studio, None, "") | {"wrong_limit": str(error)})
    if at is not None:
        return _act(request, studio, form, lambda text: bounded_anew(text, at, bound, value), focus="limits")
    return _act(request, studio, form, lambda text: add(text, ["limits"], None, new), focus="limits")


def _editors(step: dict[str, Any]) -> list[tuple[str, str]]:
    """The columns of a step `recode`, each with what is edited of it."""
    what = "bands" if "band" in step else "categories"
    columns = step.get("columns")
    return [(n, what) for n in columns if isinstance(n, str)] if isinstance(columns, list) else []


def _unfit(error: Unfit) -> tuple[str, ...]:
    return tuple(f"{key}: {said}" if key else said for key, said in error.errors.items())


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def _asked(form: Given, name: str) -> int:
    number = _number(form.one(name))
    if number is None:
        raise Problem(422, "The form does not say which step it is of.")
    return number


def _act(
    request: Request,
    studio: Studio,
    form: Given,
    edit: Callable[[str], str],
    step: int | None = None,
    focus: str = "",
) -> Any:
    """Make one edit of the text that the form was made from, and show all cards anew."""
    return change(
        request,
        studio,
        lambda: studio.planned.change(form.one("tag") or None, edit),
        "protect_steps",
        page=lambda: whole_part(studio, step, "", focus=focus),
    )


def whole_part(
    studio: Studio,
    step: int | None,
    adding: str = "",
    typed: Given | None = None,
    unfit: Unfit | None = None,
    focus: str = "",
    asked: Asked | None = None,
) -> dict[str, Any]:
    """What the cards say.

    Parameters
    ----------
    studio
        Whose plan it is.
    step
        Which card is open.
    adding
        The method of a new step, or `choose`.
    typed, unfit
        What was typed, and what is wrong with it.
    focus
        What the keyboard goes to.
    asked
        The column whose editor is open.
    """
    text = studio.planned.text
    now = plain_steps(text)
    errors = {} if unfit is None else unfit.errors
    told: dict[str, Any] = {
        "cards": cards(studio),
        "tag": studio.planned.etag,
        "several": bool(studio.planned.plan.tables),
        "focus": focus,
        "opened": None,
        "adding": adding,
        "catalogue": catalogue() if adding == "choose" else (),
        "form": (),
        "refused": {},
        "errors": [said for key, said in errors.items() if not key],
        "limits": limits(studio),
        "measures": offered_measures(),
        "wrong_limit": "",
        "editor": None,
        "offered": (),
        "editors": {i: _editors(one) for i, one in enumerate(now) if one.get("do") == "recode"},
        "places": [(i, f"before step {i + 1}, {one['do']}") for i, one in enumerate(now)],
    }
    if step is not None and 0 <= step < len(now):
        told["opened"], name, value, place = step, str(now[step]["do"]), now[step], step
    elif adding in methods():
        name, value, place = adding, {}, len(now)
    else:
        return told
    if asked is not None and name == "recode":
        return told | {"editor": editor(studio, asked, focus)}
    book = book_before(studio, place)
    if name == "recode":
        told["offered"] = [n for n in book if n != ROW and not private(book[n]) and book[n].kind != Kind.DATE]
    told["form"] = fields(name, value, list(book), typed, errors)
    told["refused"] = unsuited(name, value, book)
    return told
