"""The page Analyse: a release that was received, its noise card, and models with the noise taken out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio import fitting, uploads
from sfumato.web.studio.lines import called, command
from sfumato.web.studio.modelling import LONGEST, built
from sfumato.web.studio.pages.frame import problem, show, show_part
from sfumato.web.studio.receiving import received, release_of
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["router"]

router = APIRouter()


@router.get("/analyse")
def page(request: Request, studio: Of, id: str = "", folder: str = "") -> HTMLResponse:
    """The page; the card of the release that the address names is fetched into it."""
    query = request.query_params.multi_items()
    return show(request, studio, "analyse", "Analyse", chosen={"id": id, "folder": folder}, query=urlencode(query))


@router.post("/pages/analyse/upload")
async def upload(request: Request, studio: Of) -> Response:
    """Take an archive, and go on at the address of what is in it; where it holds no release nothing of it stays."""
    try:
        sent = (await uploads.received(request, studio.uploads)).path
        if sent is None:
            return problem(request, "Choose an archive first.")
        id_ = await run_in_threadpool(_opened, studio, sent)
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    return Response(status_code=204, headers={"HX-Redirect": f"/analyse?id={id_}"})


def _opened(studio: Studio, sent: Path) -> str:
    try:
        with sent.open("rb") as file:
            return received(studio.temporary, file)
    finally:
        shutil.rmtree(sent.parent, ignore_errors=True)


@router.get("/pages/analyse/card")
def card(request: Request, studio: Of) -> HTMLResponse:
    """The noise card, and the form of a model."""
    from sfumato.api.card import card as read
    from sfumato.inference.outcome import Family

    try:
        asked = _asked(request.query_params, studio)
        found = read(asked["release"])
    except SfumatoError as error:
        return problem(request, error)
    columns = [name for name in found.papers.columns if name != _record(found.papers)]
    return show_part(
        request,
        "analyse_card",
        card=found.to_plain(),
        columns=columns,
        asked=asked,
        families=[(name, name) for name in get_args(Family)],
    )


@router.get("/pages/analyse/fit")
def fit(request: Request, studio: Of) -> HTMLResponse:
    """The model that the address names: as it was fitted before, or as it is fitted now."""
    return _model(request, studio, request.query_params, again=False)


@router.post("/pages/analyse/fit")
def fit_again(request: Request, studio: Of, form: Form) -> HTMLResponse:
    """The model of a form; one that came to nothing is fitted anew."""
    return _model(request, studio, QueryParams(list(form.fields)), again=True)


@router.get("/pages/analyse/fit.csv")
def table(request: Request, studio: Of) -> Response:
    """The table as a file."""
    asked = _asked(request.query_params, studio)
    job = fitting.found(studio, *_model_of(asked))
    if job is None or job.state != "done":
        raise Problem(404, "This model is not here any more: fit it again.")
    headers = {"Content-Disposition": 'attachment; filename="coefficients.csv"'}
    return Response(fitting.table(job), 200, headers, "text/csv; charset=utf-8")


def _model(request: Request, studio: Studio, query: QueryParams, *, again: bool) -> HTMLResponse:
    """Corrected beside naive, or how far the work is."""
    try:
        asked = _asked(query, studio)
        model = _model_of(asked)
        job = fitting.found(studio, *model)
        if job is None or (again and job.state in ("failed", "cancelled")):
            job = fitting.begun(studio, *model)
        if job.state == "failed":
            return problem(request, job.message)
        shown = fitting.told(job) if job.state == "done" else None
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    address = urlencode(query.multi_items())
    told: dict[str, Any] = {"job": job, "fit": shown, "then": f"/pages/analyse/fit?{address}"}
    if shown is not None:
        release = "release" if asked["id"] else str(asked["release"])
        line = {"formula": asked["formula"], "family": asked["family"]}
        call = called("sf.fit", [repr(asked["formula"]), repr(release)], {"family": asked["family"]})
        told |= {
            "drawing": Markup(shown["drawing"]),  # drawn here, its text escaped
            "lines": command(["sfumato", "fit", release], line),
            "python": f"import sfumato as sf\n\nfit = {call}\nprint(fit.summary())",
            "csv": f"/pages/analyse/fit.csv?{address}",
        }
    return show_part(request, "analyse_fit", **told)


def _record(papers: Any) -> str | None:
    """The column of record ids, which no model has."""
    return next((name for name, one in papers.codebook.items() if one.role == "record"), None)


def _asked(query: QueryParams, studio: Studio) -> dict[str, Any]:
    """What the address asks for.

    Raises
    ------
    FileError
        The release is not there.
    """
    id_, folder = query.get("id", ""), query.get("folder", "")
    typed, response = query.get("formula", "").strip(), query.get("response", "")
    covariates = query.getlist("by")
    return {
        "id": id_,
        "folder": folder,
        "release": release_of(studio.temporary, studio.folder, id_, folder),
        "typed": typed[:LONGEST],
        "formula": (typed or built(response, covariates))[:LONGEST],
        "family": query.get("family", "linear"),
        "response": response,
        "by": covariates,
    }


def _model_of(asked: dict[str, Any]) -> tuple[Path, str, str]:
    """The release, the formula and the family.

    Raises
    ------
    Problem
        422 where there is none.
    """
    from sfumato.inference.outcome import Family

    if asked["family"] not in get_args(Family):
        raise Problem(422, "Choose one of the families.")
    if not asked["formula"]:
        raise Problem(422, "Choose an outcome, or type a formula.")
    return Path(asked["release"]), asked["formula"], asked["family"]
