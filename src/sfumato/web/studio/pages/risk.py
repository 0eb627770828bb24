"""The page Risk: what an intruder could do with the file as it is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.measures.registry import measures
from sfumato.render.bars import columns
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio.describing import refuse_identifiers
from sfumato.web.studio.pages.frame import show, show_part
from sfumato.web.studio.risking import Asked, asked, choices, everything, larger, of_work, stand_out, told
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

if TYPE_CHECKING:
    from sfumato.api.standing_out import Size, StandingOut

__all__ = ["router"]

router = APIRouter()

_MOST_MATRIX, _MOST_TOLD = 12, 10
_LONGEST = 1000


def _given(request: Request) -> Asked:
    query = request.query_params
    keys, sensitive = (tuple(dict.fromkeys(n for n in query.getlist(word) if n)) for word in ("keys", "sensitive"))
    if max(len(keys), len(sensitive)) > _LONGEST:
        raise Problem(422, "The list of columns is too long.")
    return Asked(keys, sensitive, query.get("weight", ""), query.get("fraction", "")[:20])


Query = Annotated[Asked, Depends(_given)]


@router.get("/risk")
def page(request: Request, studio: Of, given: Query) -> HTMLResponse:
    """The page; its figures come once the file is read."""
    query = given.query if _stated(request) else f"fraction={given.fraction}" if given.fraction else ""
    return show(request, studio, "risk", "Risk", query=query)


def _stated(request: Request) -> bool:
    return "asked" in request.query_params or "keys" in request.query_params


@router.get("/pages/risk/look")
def look(request: Request, studio: Of, given: Query) -> HTMLResponse:
    """What is asked, and who stands out by it."""
    what = asked(studio, given, _stated(request))
    every, numbers = choices(studio)
    context: dict[str, Any] = {"what": what, "columns": every, "numbers": numbers, "found": None, "said": ""}
    try:
        if what.keys:
            found = stand_out(studio, what)
            context |= {"found": found, "command": what.command(studio.opened.source.path.name), **_drawn(found)}
    except (SfumatoError, Problem) as error:
        context["said"] = error.detail if isinstance(error, Problem) else str(error)
    return show_part(request, "risk_look", **context)


@router.get("/pages/risk/measures")
def measured(request: Request, studio: Of, given: Query) -> HTMLResponse:
    """Every measure of risk, each with its attacker."""
    what = asked(studio, given, _stated(request))
    try:
        found = studio.risk_of(
            keys=what.keys, sensitive=what.sensitive or None, weight=what.weight or None, fraction=what.share
        )
    except (SfumatoError, Problem) as error:
        said = error.detail if isinstance(error, Problem) else str(error)
        return show_part(request, "risk_measures", families=(), said=said, notes=())
    return show_part(request, "risk_measures", families=told(found), said="", notes=found.notes)


@router.get("/pages/risk/all")
def all_measured(request: Request, studio: Of, given: Query) -> HTMLResponse:
    """How far the work is that measures all risks of a large file, or what it found."""
    return show_part(request, "risk_all", **_everything(studio, asked(studio, given, _stated(request))))


@router.post("/pages/risk/all")
def measure_all(request: Request, studio: Of, given: Query) -> HTMLResponse:
    """Begin to measure all risks, in a process of its own."""
    what, said = asked(studio, given, _stated(request)), ""
    try:
        studio.begin("measures", everything(what), runs_plan=False)
    except (SfumatoError, Problem) as error:
        said = error.detail if isinstance(error, Problem) else str(error)
    return show_part(request, "risk_all", **(_everything(studio, what) | ({"said": said} if said else {})))


def _everything(studio: Studio, what: Asked) -> dict[str, Any]:
    job = studio.jobs.last("measures")
    if job is not None and (job.work.options != everything(what) or job.work.stamp != studio.opened.stamp):
        job = None
    context: dict[str, Any] = {"what": what, "job": job, "families": (), "said": "", "notes": ()}
    if job is not None and job.state == "done" and job.result is not None:
        found = of_work(job.result)
        context |= {"families": told(found, job.result["more"]), "notes": found.notes}
    return context


@router.get("/pages/risk/larger")
def searched(request: Request, studio: Of, given: Query) -> HTMLResponse:
    """How far the search of larger sets is, or what it found."""
    return show_part(request, "risk_larger", **_search(studio, asked(studio, given, _stated(request))))


@router.post("/pages/risk/larger")
def search(request: Request, studio: Of, given: Query, form: Form) -> HTMLResponse:
    """Begin to search larger sets of keys, or stop."""
    what, said = asked(studio, given, _stated(request)), ""
    try:
        if form.one("act") == "cancel":
            if (job := studio.jobs.last("risk")) is not None:
                studio.jobs.cancel(job.id)
        else:
            refuse_identifiers(studio, (*what.keys, *what.sensitive))
            most = min(max(int(form.one("most") if form.one("most").isdigit() else "3"), 1), 12)
            studio.begin("risk", larger(what, min(most, len(what.keys))), runs_plan=False)
    except (SfumatoError, Problem) as error:
        said = error.detail if isinstance(error, Problem) else str(error)
    return show_part(request, "risk_larger", **(_search(studio, what) | ({"said": said} if said else {})))


def _search(studio: Studio, what: Asked) -> dict[str, Any]:
    job = studio.jobs.last("risk")
    if job is not None:
        same = {**job.work.options, "max_size": 0} == larger(what, 0) and job.work.stamp == studio.opened.stamp
        job = job if same else None
    told_: dict[str, Any] = {"what": what, "job": job, "figures": (), "said": "", "most": min(4, len(what.keys))}
    if job is not None and job.result is not None:
        searched = measures()["special_uniques"].names
        told_["figures"] = [one for _, some in told(of_work(job.result)) for one in some if one.name in searched]
    return told_


@dataclass(frozen=True)
class Cell:
    """A pair of keys in the table of all pairs: the share of the records that are alone by it."""

    share: float
    most: bool


def _drawn(found: StandingOut) -> dict[str, Any]:
    """Pictures and tables."""
    names = found.together.keys
    bars = [(_sized(size), float(size.records)) for size in found.sizes]
    title = "Records by the size of their group"
    by_set = {one.keys: one.alone / found.records for one in (*found.singles, *found.pairs)}
    matrix: dict[tuple[str, str], Cell] = {}
    if 1 < len(names) <= _MOST_MATRIX and found.pairs:
        most = max(by_set.values())
        for a, b in combinations_with_replacement(names, 2):
            share = by_set[a, b] if a != b else by_set[(a,)]
            matrix[a, b] = matrix[b, a] = Cell(share, share == most > 0)
    return {
        "picture": Markup(columns(bars, "sizes", title, risky=3)),  # drawn as XML, which escapes
        "sizes": [(_sized(size), size) for size in found.sizes],
        "singles": sorted(found.singles, key=lambda one: (-one.alone, -one.rare)),
        "top": sorted(found.pairs, key=lambda one: (-one.alone, -one.rare))[:_MOST_TOLD],
        "matrix": matrix,
    }


def _sized(size: Size) -> str:
    if size.high == size.low:
        return str(size.low)
    return f"from {size.low}" if size.high is None else f"{size.low} to {size.high}"
