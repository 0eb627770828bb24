"""Files opened from the page Data: one of the start folder, one that is sent, the invented one, the same one anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from sfumato.errors import SfumatoError
from sfumato.web.layout.forms import Form
from sfumato.web.problems import Problem
from sfumato.web.studio.opening import HOW, demo, how_of, listed, opened, reopened, table_opened
from sfumato.web.studio.pages.frame import problem
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.uploads import received

__all__ = ["router"]

router = APIRouter()


@router.post("/pages/data/open")
def open_listed(request: Request, studio: Of, form: Form) -> Response:
    """Open a file of the start folder."""
    name, fields = form.one("name"), {key: form.one(key) for key in (*HOW, "keep")}

    def act() -> None:
        if name not in listed(studio)[0]:
            raise Problem(404, "Choose a file of the list.")
        opened(studio, studio.folder / name, how_of(fields), fields["keep"])

    return _answer(request, studio, act)


@router.post("/pages/data/demo")
def open_demo(request: Request, studio: Of, form: Form) -> Response:
    """Open an invented cohort."""
    return _answer(request, studio, lambda: opened(studio, demo(studio), {}, form.one("keep")))


@router.post("/pages/data/table")
def open_table(request: Request, studio: Of, form: Form) -> Response:
    """Open the file of one of the plan's tables; the plan stays."""
    return _answer(request, studio, lambda: table_opened(studio, form.one("table")))


@router.post("/pages/data/reread")
def reread(request: Request, studio: Of, form: Form) -> Response:
    """Read the file that is open anew."""
    said: dict[str, str] = {}
    as_before = form.one("as") == "before"
    fields = {key: form.one(key) for key in HOW}

    def act() -> None:
        how: Mapping[str, Any] = studio.opened.source.how if as_before else how_of(fields)
        said["plan"] = "kept" if reopened(studio, how) else "drafted"

    return _answer(request, studio, act, said)


@router.post("/pages/data/upload")
async def upload(request: Request, studio: Of) -> Response:
    """Take a file that is sent, and open it; where it cannot be read nothing of it stays."""
    try:
        sent = await received(request, studio.uploads)
    except Problem as error:
        return problem(request, error)
    path = sent.path
    if path is None:
        return problem(request, "Choose a file first.")

    def act() -> None:
        try:
            opened(studio, path, how_of(sent.fields), sent.fields.get("keep", ""))
        except BaseException:
            path.unlink(missing_ok=True)
            path.parent.rmdir()
            raise

    return await run_in_threadpool(lambda: _answer(request, studio, act))


def _answer(
    request: Request, studio: Studio, act: Callable[[], None], said: Mapping[str, str] | None = None
) -> Response:
    """Open something, and go to the page that shows it; what is wrong is told where the form is."""
    try:
        act()
    except (SfumatoError, Problem) as error:
        return problem(request, error)
    address = urlencode({"file": studio.opened.source.path.name, **(said or {})})
    return Response(status_code=204, headers={"HX-Redirect": f"/data?{address}"})
