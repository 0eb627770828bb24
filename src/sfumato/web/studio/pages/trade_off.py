"""The page Trade-off: one number of the plan, a range, and what each value of it costs and buys."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.plan.editing.edits import set_value
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio.jobs import Job
from sfumato.web.studio.lines import called, command, python_read, reading
from sfumato.web.studio.modelling import intended
from sfumato.web.studio.pages.frame import change, problem, show, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["router"]

router = APIRouter()
_GRID = 9
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 480, 300, 92, 44, 16, 44


@router.get("/trade-off")
def page(request: Request, studio: Of) -> HTMLResponse:
    """The page; numbers of the plan and the last search are fetched into it."""
    return show(
        request,
        studio,
        "trade_off",
        "Trade-off",
        closed=studio.closed,
        query=urlencode(request.query_params.multi_items()),
    )


@router.get("/pages/trade-off/form")
def form(request: Request, studio: Of) -> HTMLResponse:
    """What is searched."""
    from sfumato.api.tunable import tunable

    query = request.query_params
    try:
        found = tunable(studio.planned.plan)
    except SfumatoError as error:
        return problem(request, error)
    chosen = {name: query.get(name, "") for name in ("parameter", "low", "high", "limits", "kept", "model", "family")}
    options = [(path, f"{path} (now {value:g})") for path, value in found.items()]
    return show_part(request, "trade_off_form", options=options, chosen=chosen)


@router.get("/pages/trade-off/result")
def result(request: Request, studio: Of) -> HTMLResponse:
    """What runs, or what the last search found."""
    return show_part(request, "trade_off_result", **_result(studio))


@router.post("/pages/trade-off/run")
def run(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """Begin to search."""
    try:
        kept = _number(form.one("kept"), "The probability") if form.one("kept") else None
        options = {
            "parameter": form.one("parameter"),
            "low": _number(form.one("low"), "The lowest value"),
            "high": _number(form.one("high"), "The highest value"),
            "limits": [line.strip() for line in form.whole("limits").splitlines() if line.strip()],
            "kept": kept,
            "grid": _GRID,
            **intended(studio, form.one("model"), form.one("family")),
        }
        studio.begin("tune", options)
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    return show_part(request, "trade_off_result", **_result(studio))


@router.post("/pages/trade-off/take")
def take(request: Request, studio: Of, form: Form) -> Any:
    """Put a value that was tried into the plan."""
    job = studio.jobs.last("tune")
    points = [] if job is None or job.result is None else job.result["path"]
    number = form.one("number")
    if job is None or not number.isdecimal() or int(number) >= len(points):
        return problem(request, "This search is not there any more: load the page again.")
    value = points[int(number)]["value"]
    _, step, name, *column = job.work.options["parameter"].split(".", 3)
    path = ["steps", int(step), name, *column]
    whole = int(value) if float(value).is_integer() else value
    return change(
        request,
        studio,
        lambda: studio.planned.change("*", lambda text: set_value(text, path, whole)),
        "trade_off_taken",
        parameter=job.work.options["parameter"],
        value=whole,
    )


def _number(text: str, what: str) -> float:
    """A number of a form.

    Raises
    ------
    Problem
        422 where it is none.
    """
    try:
        return float(text)
    except ValueError:
        raise Problem(422, f"{what} is a number, for instance 0.1.") from None


def _result(studio: Studio) -> dict[str, Any]:
    running, job = studio.jobs.running, studio.jobs.last("tune")
    mine = running is not None and running.work.task == "tune"
    found = job.result if job is not None and job.state == "done" else None
    return {
        "running": running if mine else None,
        "other": None if mine else running,
        "job": job,
        "found": found,
        "labels": _costs(found) if found else {},
        "pictures": _pictures(found) if found else [],
        "stale": job is not None and job.work.plan != studio.planned.text,
        **(_lines(studio, job) if job is not None else {"lines": "", "python": ""}),
    }


def _costs(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What is lost, by the names of the figures: the title and the sentence of each."""
    from sfumato.measures.registry import figures

    known = figures()
    costs = {}
    for name in found["path"][0]["utility"]:
        figure = known.get(name.partition("[")[0])
        costs[name] = (name, "") if figure is None else (figure.title, figure.what)
    return costs


def _pictures(found: dict[str, Any]) -> list[dict[str, Any]]:
    """A picture for each figure that limits ask for: figures of different measures have no axis in common.

    A value stands in the picture of the limit that it is nearest to, which is the one that decides over it.
    """
    label = next(iter(found["path"][0]["utility"]), None)
    known: dict[str, list[_Point]] = {}
    for number, point in enumerate(found["path"]):
        if label is not None and point["risk"] is not None and point["utility"][label] is not None:
            asked = str(point["limit"]).rsplit(" ", 2)[0]  # without the bound
            known.setdefault(asked, []).append((number, point, point["risk"], point["utility"][label]))
    return [_picture(str(label), asked, some) for asked, some in known.items()]


_Point = tuple[int, dict[str, Any], float, float]


def _picture(label: str, asked: str, known: list[_Point]) -> dict[str, Any]:
    """Where each value stands: risk across, what is lost upwards."""
    x0, x1 = _ends([one[2] for one in known])
    y0, y1 = _ends([one[3] for one in known])

    def across(x: float) -> float:
        return round(_LEFT + (x - x0) / (x1 - x0) * (_WIDTH - _LEFT - _RIGHT), 1)

    def upward(y: float) -> float:
        return round(_HEIGHT - _BOTTOM - (y - y0) / (y1 - y0) * (_HEIGHT - _TOP - _BOTTOM), 1)

    points = [
        {
            "number": number,
            "x": across(x),
            "y": upward(y),
            "risk": x,
            "lost": y,
            **{k: point[k] for k in ("value", "met")},
        }
        for number, point, x, y in known
    ]
    return {
        "label": label,
        "asked": asked,
        "points": points,
        "across": [(across(x), x) for x in (x0, (x0 + x1) / 2, x1)],
        "upward": [(upward(y), y) for y in (y0, (y0 + y1) / 2, y1)],
        "size": (_WIDTH, _HEIGHT, _LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _BOTTOM),
    }


def _ends(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or abs(high) or 1.0
    return low - room, high + room


def _lines(studio: Studio, job: Job) -> dict[str, str]:
    options, source, plan = dict(job.work.options), studio.opened.source, studio.beside.name
    span = f"{options['low']:g}:{options['high']:g}"
    same = {name: options.get(name) for name in ("kept", "grid", "model", "family")}
    told = {"parameter": options["parameter"], "range": span, "limit": options["limits"], **same, **reading(source)}
    call = {
        "parameter": options["parameter"],
        "range": (options["low"], options["high"]),
        "limit": options["limits"],
        **same,
    }
    python = called("sf.tune", [repr(plan), python_read(source)], call)
    return {
        "lines": command(["sfumato", "tune", plan, str(source.path)], told),
        "python": f"import sfumato as sf\n\nfound = {python}\nprint(found.value, found.met)",
    }
