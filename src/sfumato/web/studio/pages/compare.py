"""The page Compare: the pictures and figures of the custodian's report, and a model before beside after."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio.jobs import Job
from sfumato.web.studio.lines import command, reading
from sfumato.web.studio.modelling import FAMILIES, chosen, intended, modelled
from sfumato.web.studio.pages.frame import problem, show, show_part
from sfumato.web.studio.pages.release import begun, is_stale, run_lines, told
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.tasks import KEPT_BACK

__all__ = ["router"]

router = APIRouter()
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_WITHOUT_NOISE = {"linear": "linear", "logistic": "logit", "probit": "probit"}
_GONE = "This is of a run that is not there any more: load the page again."


@router.get("/compare")
def page(request: Request, studio: Of, model: str = "", family: str = "") -> HTMLResponse:
    """The page; what came of the last run is fetched into it."""
    query = _query(model, family)
    return show(request, studio, "compare", "Compare", closed=studio.closed, query=query)


@router.get("/pages/compare/result")
def result(request: Request, studio: Of, model: str = "", family: str = "", ended: str = "") -> HTMLResponse:
    """What runs, or the parts of what came of the last run, to be fetched as they come into view."""
    return show_part(request, "compare_result", **_result(studio, model, family), ended=bool(ended))


@router.post("/pages/compare/run")
def run(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """Begin to run the plan, as the page Release does."""
    model, family = form.one("model"), form.one("family")
    refused = begun(request, studio, form)
    if refused is not None:
        return refused
    return show_part(request, "compare_result", **_result(studio, model, family), ended=False)


@router.get("/pages/compare/picture/{run_}/{plot}/{panel}")
def picture(request: Request, studio: Of, run_: str, plot: int, panel: int) -> HTMLResponse:
    """A picture of the report."""
    found = _part(studio, run_, "plots", plot, "panels", panel)
    return show_part(request, "compare_picture", svg=None if found is None else Markup(found["svg"]), gone=_GONE)


@router.get("/pages/compare/figures/{run_}/{plot}/{panel}")
def figures(request: Request, studio: Of, run_: str, plot: int, panel: int) -> HTMLResponse:
    """The figures of a picture."""
    found = _part(studio, run_, "plots", plot, "panels", panel)
    return show_part(request, "compare_figures", panel=found, gone=_GONE)


@router.get("/pages/compare/groups/{run_}/{plot}/{which}")
def groups(request: Request, studio: Of, run_: str, plot: int, which: int) -> HTMLResponse:
    """The strata of a run with their sizes."""
    found = _part(studio, run_, "plots", plot, "strata", which)
    return show_part(request, "compare_groups", strata=found, gone=_GONE)


@router.get("/pages/compare/family/{run_}/{which}")
def family_(request: Request, studio: Of, run_: str, which: int) -> HTMLResponse:
    """The figures of a family of measures."""
    return show_part(request, "compare_family", family=_part(studio, run_, "families", which), gone=_GONE)


@router.get("/pages/compare/model")
def model_(request: Request, studio: Of, model: str = "", family: str = "", ended: str = "") -> HTMLResponse:
    """The model that the address names: what runs, its coefficients, or that it is to be fitted.

    At its end who asked for it is led to it (`ended=led`); somebody who reads the page is told and left where they are.
    """
    return show_part(request, "compare_model", **_model(studio, model, family), ended=ended)


@router.post("/pages/compare/fit")
def fit(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """Begin to fit a model to the original and to what the last run made of it."""
    model, family = form.one("model"), form.one("family")
    try:
        job = _last(studio)
        folder = None if job is None or is_stale(studio, job) else _released(job)
        if job is None or folder is None:
            raise Problem(422, "The plan or the data were changed since the last run: run it again.")
        options = {"run": job.id, "release": str(folder), **intended(studio, model, family)}
        studio.begin("model", options, runs_plan=False)
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    ended = "told" if form.one("by") == "page" else "led"
    return show_part(request, "compare_model", **_model(studio, model, family), ended=ended)


def _query(model: str, family: str) -> str:
    return urlencode([(name, value) for name, value in (("model", model), ("family", family)) if value])


def _last(studio: Studio) -> Job | None:
    """The last run of the plan on the file that is open, if it came to its end."""
    job = studio.jobs.last("protect")
    mine = job is not None and job.state == "done" and job.work.source.path == studio.opened.source.path
    return job if mine else None


def _part(studio: Studio, run_: str, *path: str | int) -> Any:
    """A part of what a run handed over; None where it is gone."""
    job = studio.jobs.last("protect")
    found: Any = None if job is None or job.id != run_ else told(job)
    for step in path:
        try:
            found = found[step]
        except (TypeError, KeyError, IndexError):
            return None
    return found


def _released(job: Job) -> Path | None:
    """The folder of what a run made, whether it may leave or not."""
    places = [] if job.work.out is None else [job.work.out / name for name in ("release", KEPT_BACK)]
    return next((place for place in places if place.is_dir()), None)


def _result(studio: Studio, model: str, family: str) -> dict[str, Any]:
    running, job = studio.jobs.running, studio.jobs.last("protect")
    done = _last(studio)
    said = None if done is None else told(done)
    if said is not None and said["verdict"] is None:  # its folder is gone
        said = None
    outcome, covariates = chosen(model)
    mine = running is not None and running.work.task == "protect"
    return {
        "running": running if mine else None,
        "other": None if mine or (running is not None and running.work.task == "model") else running,
        "job": job,
        "run": None if done is None else done.id,
        "told": said,
        "plots": [] if said is None else [_plot(plot) for plot in said["plots"]],
        "stale": done is not None and is_stale(studio, done),
        "fits": said is not None and done is not None and not is_stale(studio, done) and _released(done) is not None,
        "columns": modelled(studio),
        "families": FAMILIES,
        "asked": {"model": model, "family": family, "response": outcome, "by": covariates},
        "query": _query(model, family),
        "lines": run_lines(studio, done, **{"internal-report": "internal.html"})["lines"],
    }


def _plot(plot: dict[str, Any]) -> dict[str, Any]:
    """What is shown of a plot before its pictures come: their titles and sizes, so that nothing moves."""
    panels = []
    for panel in plot["panels"]:
        size = _SIZE.search(panel["svg"])
        panels.append({"title": panel["title"], "size": size.groups() if size else ("4", "3")})
    strata = [", ".join(one["by"]) for one in plot["strata"]]
    return {**{name: plot[name] for name in ("title", "how", "key")}, "panels": panels, "strata": strata}


def _model(studio: Studio, model: str, family: str) -> dict[str, Any]:
    """What is said of a model."""
    done, running = _last(studio), studio.jobs.running
    asked = intended(studio, model, family)
    mine = running is not None and running.work.task == "model"
    wanted = {"run": None if done is None else done.id, **asked}
    fits = studio.jobs.all("model")
    job = next((one for one in fits if all(one.work.options[name] == wanted[name] for name in wanted)), None)
    found = job.result if job is not None and job.state == "done" else None
    released = None if done is None else _released(done)
    able = done is not None and not is_stale(studio, done) and released is not None
    data = "data" if released is None else next((one.name for one in released.glob("data.*")), "data")
    return {
        "running": running if mine else None,
        "job": job,
        "found": found,
        "kept_back": done is not None and done.result is not None and done.result["release"] is None,
        "start": bool(asked["model"]) and able and job is None and running is None,
        "other": None if mine else running,
        "asked": {"model": model, "family": family},
        "query": _query(model, family),
        "picture": None if found is None else _picture(found),
        "lines": "" if found is None else _lines(studio, found, data),
    }


def _picture(found: dict[str, Any]) -> Markup | None:
    """The coefficients as a forest, but the intercept."""
    from sfumato.render.beside import Line, beside

    def side(one: dict[str, Any] | None) -> tuple[float, float | None, float | None] | None:
        return None if one is None else (one["estimate"], one["low"], one["high"])

    lines = []
    for one in found["terms"]:
        original = side(one["original"])
        if one["term"] != "Intercept" and original is not None and one["original"]["se"]:
            sides = (side(one["released"]), side(one["corrected"]))
            lines.append(Line(one["term"], one["original"]["se"], original, *sides))
    return Markup(beside(lines, "beside")) if lines else None  # drawn as XML, which escapes


def _lines(studio: Studio, found: dict[str, Any], file: str) -> str:
    """The commands that say how far coefficients moved, and that take the noise out."""
    source, plan = studio.opened.source, studio.beside.name
    data = f"release/{file}"
    model = {"model": found["formula"], "family": found["family"]}
    compare = command(["sfumato", "compare", str(source.path), data], {"plan": plan, **model, **reading(source)})
    without = {"formula": found["formula"], "family": _WITHOUT_NOISE[found["family"]]}
    return f"{compare}\n{command(['sfumato', 'fit', 'release'], without)}"
