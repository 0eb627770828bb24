"""The studio's application: its routes, behind its door, in the shell."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from sfumato.errors import FileError
from sfumato.web.problems import Problem
from sfumato.web.routing import quiet_app
from sfumato.web.shell import Face, application
from sfumato.web.static_files import StaticFiles
from sfumato.web.studio.door import Door
from sfumato.web.studio.pages import ROUTERS as PAGES
from sfumato.web.studio.pages.refusal import refusal
from sfumato.web.studio.routes import ROUTERS
from sfumato.web.studio.routes.parts import MOST_PLAN
from sfumato.web.studio.studio import Studio

__all__ = ["serve"]

STATIC = Path(__file__).parents[1] / "static"
_SMALL = 64 << 10
_UPLOADS = ("/api/fit", "/pages/data/upload", "/pages/analyse/upload")
"""Where files are sent to: these are counted by what reads them."""


def serve(studio: Studio, port: int) -> ASGIApp:
    """What a server runs.

    Parameters
    ----------
    studio
        Which answers.
    port
        Where it listens.
    """
    static = StaticFiles([STATIC])
    door = partial(Door, keys=studio.keys, port=port, refused=partial(refusal, static))
    return application(Face("studio", _routes(studio, static), door, static, largest=_largest, closed=True))


def _routes(studio: Studio, static: StaticFiles) -> FastAPI:
    app = quiet_app(lambda request, problem: refusal(static, request.scope, problem), title="sfumato studio")

    def unfit(request: Request, error: Exception) -> Response:
        """A file that cannot be read is whoever opened it to mend: no fault of the server, that goes by itself."""
        return refusal(static, request.scope, Problem(422, str(error)))

    app.add_exception_handler(FileError, unfit)
    for router in (*ROUTERS, *PAGES):
        app.include_router(router)
    app.state.studio, app.state.static = studio, static
    return app


def _largest(method: str, path: str) -> int | None:
    if path in _UPLOADS:
        return None
    if path == "/pages/release/secret":
        return MOST_PLAN + _SMALL  # a file as long as the command line takes, and the form around it
    if path.startswith("/pages/plan"):
        return 3 * MOST_PLAN  # a form writes a letter as three
    return MOST_PLAN if path in ("/api/plan", "/api/check", "/api/edit") else _SMALL
