"""The page Analyse: a release that was received, its noise card, and models with the noise taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response, UploadFile
from markupsafe import Markup
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.web.problems import Problem
from sfumato.web.studio.lines import called, command
from sfumato.web.studio.pages.frame import problem, show, show_part
from sfumato.web.studio.receiving import received, release_of
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["router"]

router = APIRouter()
_LONGEST = 10_000


@router.get("/analyse")
def page(request: Request, studio: Of, id: str = "", folder: str = "") -> HTMLResponse:
    """The page; the card of the release that the address names is fetched into it."""
    query = request.query_params.multi_items()
    return show(request, studio, "analyse", "Analyse", chosen={"id": id, "folder": folder}, query=urlencode(query))


@router.post("/pages/analyse/upload")
def upload(request: Request, studio: Of, release: UploadFile) -> Response:
    """Take an archive, and go on at the address of what is in it."""
    try:
        id_ = received(studio.temporary, release.file)
    except SfumatoError as error:
        return problem(request, error)
    return Response(status_code=204, headers={"HX-Redirect": f"/analyse?id={id_}"})


@router.get("/pages/analyse/card")
def card(request: Request, studio: Of) -> HTMLResponse:
    """The noise card, and the form of a model."""
    from sfumato.api.card import card as read
    from sfumato.inference.outcome import Family

    try:
        asked = _asked(request, studio)
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
    """A model: corrected beside naive."""
    from sfumato.render.forest import forest_svg

    try:
        asked = _asked(request, studio)
        found = _fitted(asked)
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    release = "release" if asked["id"] else str(asked["release"])
    line = {"formula": asked["formula"], "family": asked["family"]}
    call = called("sf.fit", [repr(asked["formula"]), repr(release)], {"family": asked["family"]})
    python = f"import sfumato as sf\n\nfit = {call}"
    python += "\nprint(fit.summary())"
    return show_part(
        request,
        "analyse_fit",
        fit=found,
        rows=found.tidy().to_dicts(),
        sentences=found.noise_sentences(),
        more=[*found.hidden_sentences(), *found.notes],
        drawing=Markup(forest_svg(found)),  # drawn here, its text escaped
        lines=command(["sfumato", "fit", release], line),
        python=python,
        csv="/pages/analyse/fit.csv?" + urlencode(request.query_params.multi_items()),
    )


@router.get("/pages/analyse/fit.csv")
def table(request: Request, studio: Of) -> Response:
    """The table as a file."""
    found = _fitted(_asked(request, studio))
    headers = {"Content-Disposition": 'attachment; filename="coefficients.csv"'}
    return Response(found.tidy().write_csv(), 200, headers, "text/csv; charset=utf-8")


def _record(papers: Any) -> str | None:
    """The column of record ids, which no model has."""
    return next((name for name, one in papers.codebook.items() if one.role == "record"), None)


def _asked(request: Request, studio: Studio) -> dict[str, Any]:
    """What the address asks for.

    Raises
    ------
    FileError
        The release is not there.
    """
    query = request.query_params
    id_, folder = query.get("id", ""), query.get("folder", "")
    typed, response = query.get("formula", "").strip(), query.get("response", "")
    covariates = query.getlist("by")
    built = f"{_term(response)} ~ {' + '.join(map(_term, covariates)) or '1'}" if response else ""
    return {
        "id": id_,
        "folder": folder,
        "release": release_of(studio.temporary, studio.folder, id_, folder),
        "typed": typed[:_LONGEST],
        "formula": (typed or built)[:_LONGEST],
        "family": query.get("family", "linear"),
        "response": response,
        "by": covariates,
    }


def _term(name: str) -> str:
    """A column as a formula names it."""
    return name if name.isidentifier() else f"`{name}`"


def _fitted(asked: dict[str, Any]) -> Any:
    from sfumato.api.fit import fit as estimate
    from sfumato.inference.outcome import Family

    if asked["family"] not in get_args(Family):
        raise Problem(422, "Choose one of the families.")
    if not asked["formula"]:
        raise Problem(422, "Choose an outcome, or type a formula.")
    return estimate(asked["formula"], Path(asked["release"]), family=asked["family"])
