"""The editor of bands and categories on the page Protect: each change of a step `recode` is one edit of the plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response, UploadFile
from fastapi import Form as Part
from starlette.responses import HTMLResponse

from sfumato.api.recoding import cuts
from sfumato.errors import DataError
from sfumato.methods.banding import Bands
from sfumato.plan.editing.edits import set_value
from sfumato.web.layout.forms import Form, Given
from sfumato.web.studio.pages.frame import change, problem
from sfumato.web.studio.pages.protect import tried, whole_part
from sfumato.web.studio.recode_looks import Asked, mark, picked
from sfumato.web.studio.recoding import Banding, Subject, Tree, own_step, subject, tree
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["MOST_TREE", "asked_of", "router"]

router = APIRouter()
MOST_TREE = 16 << 20
"""Bytes of a tree that is sent."""
_TOO_LARGE = f"The file is larger than {MOST_TREE >> 20} MB, which no tree of one column is."
_RULES = {"equal": "equal", "quantile": "quantile", "log": "log", "learn": "quantile"}


@router.post("/pages/protect/recode/tree")
def change_tree(request: Request, studio: Of, form: Form) -> Any:
    """Group, rename, split, put rare ones together, and what else is done to categories."""
    asked, act, focus = asked_of(form), form.one("act"), [""]

    def edit(of: Subject) -> Callable[[str], str]:
        if act == "own":
            return of.written({"level": 1})
        if act in ("unknown", "other"):
            return _set(of, act, form.one("value"))
        one = tree(of)
        made = _ACTS.get(act, _grouped)(one, picked(one, form.many("pick"), asked), form)
        if act in ("group", "rename", "rare"):
            focus[0] = _named_like(made, form.one("name"))
        return made.edit()

    return _changed(request, studio, asked, form.one("tag"), edit, focus)


@router.post("/pages/protect/recode/bands")
def change_bands(request: Request, studio: Of, form: Form) -> Any:
    """Take the bands that were typed, or learned ones."""
    asked, start = asked_of(form), form.one("start")

    def edit(of: Subject) -> Callable[[str], str]:
        if start in _RULES:
            return _started(of, start, form).edit()
        return _typed(of, form).edit()

    return _changed(request, studio, asked, form.one("tag"), edit, [""])


@router.post("/pages/protect/recode/own")
def own(request: Request, studio: Of, form: Form) -> Any:
    """Give the column a step of its own, after this one."""
    asked = asked_of(form)
    answer = _changed(request, studio, asked, form.one("tag"), own_step, [""])
    if "HX-Retarget" not in answer.headers and asked.step is not None:
        answer.headers["HX-Redirect"] = replace(asked, step=asked.step + 1).address()
    return answer


@router.post("/pages/protect/recode/import")
async def take(
    request: Request,
    studio: Of,
    file: UploadFile,
    tag: Annotated[str, Part()] = "",
    step: Annotated[str, Part()] = "",
    recode: Annotated[str, Part()] = "",
) -> Any:
    """Take the tree, or the mapping, of a file."""
    content = await file.read(MOST_TREE + 1)
    if len(content) > MOST_TREE:
        return problem(request, _TOO_LARGE)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return problem(request, "The file is not a text in UTF-8. Save it as CSV in UTF-8.")
    asked = Asked(_number(step), recode, "categories")
    name = "The file.hrc" if (file.filename or "").lower().endswith(".hrc") else "The file"

    def edit(of: Subject) -> Callable[[str], str]:
        return tree(of).read(text, name).edit()

    return _changed(request, studio, asked, tag, edit, [""])


@router.get("/pages/protect/recode/file")
def give(studio: Of, recode: str, step: str = "", form: str = "arx") -> Response:
    """The tree as a file of ARX, or as a mapping."""
    one = tree(subject(studio, _number(step), recode))
    name = "mapping.csv" if form == "mapping" else "hierarchy.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(one.to_csv(form).encode(), 200, headers, "text/csv; charset=utf-8")


@router.post("/pages/protect/recode/effect")
def effect(request: Request, studio: Of, step: int, form: Form) -> HTMLResponse:
    """What the step does, as the plan has it."""
    text = studio.planned.text
    again = f"/pages/protect/recode/effect?step={step}"
    return tried(request, studio, lambda: (text, step), form.one("whole") == "yes", again)


def asked_of(form: Given) -> Asked:
    """What a form of the editor looks at."""
    return Asked(
        _number(form.one("step")), form.whole("recode"), form.one("as"), form.one("all") == "yes", form.one("find")
    )


def _changed(
    request: Request,
    studio: Studio,
    asked: Asked,
    tag: str,
    edit: Callable[[Subject], Callable[[str], str]],
    focus: list[str],
) -> Any:
    """Make one edit of the text that the form was made from; a step that is new has its own address afterwards."""
    at: list[Asked] = [asked]

    def act() -> str:
        of = subject(studio, asked.step, asked.column)
        at[0] = replace(asked, step=of.at, form="")
        return studio.planned.change(tag or None, edit(of))

    answer = change(
        request,
        studio,
        act,
        "protect_steps",
        page=lambda: whole_part(studio, at[0].step, asked=at[0], focus=focus[0]),
    )
    if asked.step is None and "HX-Retarget" not in answer.headers:
        answer.headers["HX-Redirect"] = at[0].address()
    return answer


# what is done to categories


def _grouped(one: Tree, nodes: list[tuple[int, str]], form: Given) -> Tree:
    return one.grouped(nodes, form.one("name"))


def _count(form: Given, name: str, most: int) -> int:
    text = form.one(name)
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= most):
        raise DataError(f"A whole number from 1 to {most:,} is needed.")
    return int(text)


def _by_prefixes(one: Tree, nodes: list[tuple[int, str]], form: Given) -> Tree:
    parts = form.one("lengths").replace(";", ",").replace(" ", ",").split(",")
    lengths = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 4]
    return one.by_prefixes(sorted(set(lengths), reverse=True))


_ACTS: dict[str, Callable[[Tree, list[tuple[int, str]], Given], Tree]] = {
    "group": _grouped,
    "rename": lambda one, nodes, form: one.named(nodes, form.one("name")),
    "split": lambda one, nodes, form: one.split(nodes),
    "rare": lambda one, nodes, form: one.rare(_count(form, "least", 1_000_000), form.one("name") or "Other"),
    "keep": lambda one, nodes, form: one.kept(nodes),
    "unlist": lambda one, nodes, form: one.unlist(nodes),
    "levels": lambda one, nodes, form: one.several(),
    "flat": lambda one, nodes, form: one.single(),
    "list": lambda one, nodes, form: one.listing(),
    "level": lambda one, nodes, form: one.to_level(_count(form, "level", 100)),
    "prefixes": _by_prefixes,
}


def _named_like(made: Tree, name: str) -> str:
    """The mark of the category that was made, wherever it stands."""
    name = name or "Other"
    levels = [i for above in made.broader.values() for i, label in enumerate(above, 1) if label == name]
    return mark(min(levels), name) if levels else ""


def _set(of: Subject, key: str, value: str) -> Callable[[str], str]:
    step = of.step
    if step is None:
        raise DataError("Group something first.")
    return lambda text: set_value(text, ["steps", step, key], value)


# what is done to bands


def _started(of: Subject, start: str, form: Given) -> Banding:
    n = _count(form, "n", 100)
    if n < 2:
        raise DataError("At least 2 bands are needed.")
    rule = Bands(n=n, method=_RULES[start])
    if start == "learn":
        return Banding(of, (), {}, rule)
    return Banding(of, cuts(of.data, of.column, rule), {}, None)


def _typed(of: Subject, form: Given) -> Banding:
    """The bands of a form: each begins at a number and may have a name; one without a number joins the one below."""
    gone = form.one("remove")
    edges, names = (
        [text.strip() for key, text in form.fields if key == "edge"],
        [text.strip() for key, text in form.fields if key == "label"],
    )
    rows: list[tuple[float, str]] = []
    for i, text in enumerate(edges, 1):
        if text and str(i) != gone:
            rows.append((_number_of(text), names[i] if i < len(names) else ""))
    rows.sort()
    points = tuple(point for point, _ in rows)
    if len(set(points)) < len(points):
        raise DataError("A number stands twice: two bands cannot begin at the same one.")
    said = dict(enumerate([names[0] if names else "", *(name for _, name in rows)]))
    return Banding(of, points, {i: name for i, name in said.items() if name}, None)


def _number_of(text: str) -> float:
    try:
        number = float(text.replace(" ", "").replace("−", "-"))
    except ValueError:
        raise DataError("Bands begin at numbers, with a point for decimals.") from None
    if not math.isfinite(number):
        raise DataError("Bands begin at finite numbers.")
    return number


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None
