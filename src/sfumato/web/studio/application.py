"""The studio's application: its routes, behind its door, in the shell."""

from __future__ import annotations

import errno
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from sfumato.errors import DataError, FileError
from sfumato.web.problems import Problem
from sfumato.web.routing import quiet_app
from sfumato.web.shell import Face, application, told
from sfumato.web.static_files import StaticFiles
from sfumato.web.studio.door import Door
from sfumato.web.studio.opening import sentence
from sfumato.web.studio.pages import ROUTERS as PAGES
from sfumato.web.studio.pages.recode import MOST_TREE
from sfumato.web.studio.pages.refusal import refusal
from sfumato.web.studio.routes import ROUTERS
from sfumato.web.studio.routes.parts import MOST_PLAN
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.tabling import LARGEST

__all__ = ["serve"]

STATIC = Path(__file__).parents[1] / "static"
_SMALL = 64 << 10
_NO_MEMORY = "The memory of this machine does not do for it. Take a smaller file, or fewer columns."
_NO_ROOM = "The disk of this machine is full. Make room on it, then try again."
_UPLOADS = ("/api/fit", "/pages/data/upload", "/pages/analyse/upload")
"""Where files are sent to: these are counted by what reads them."""
_PACKED_FROM = 16 << 10
"""Bytes from which an answer is packed: the page of 1,000 variables is six times shorter so."""
_AS_IT_IS = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "text/yaml", "text/csv", "text/plain", "application/octet-stream")
"""What is not packed: streams of events, archives, pictures; files that are saved, and the plan, whose tag is of its
bytes."""


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

    def answered(request: Request, error: Exception) -> Response:
        return refusal(static, request.scope, _problem(studio, error))

    for kind in (FileError, DataError, MemoryError, OSError):
        app.add_exception_handler(kind, answered)
    for router in (*ROUTERS, *PAGES):
        app.include_router(router)
    # The length of a packed answer tells of a secret beside text that a stranger chose (BREACH). None is here: tokens
    # and the cookie stand in no page, nor does the secret of draws; the door refuses whatever another site sends, so
    # that no stranger chooses a part of an answer; and what goes over the loopback device nobody else can measure.
    app.add_middleware(GZipMiddleware, minimum_size=_PACKED_FROM, compresslevel=4, exclude_content_types=_AS_IT_IS)
    app.state.studio, app.state.static = studio, static
    return app


def _problem(studio: Studio, error: Exception) -> Problem:
    """What is told of an error that whoever sits at this machine can mend: of the file, of its memory, of its disk."""
    if isinstance(error, FileError | DataError):
        return Problem(422, sentence(studio, error))
    if isinstance(error, MemoryError):
        return Problem(507, _NO_MEMORY)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem(507, _NO_ROOM)
    return told(error)


def _largest(method: str, path: str) -> int | None:
    if path in _UPLOADS:
        return None
    if path == "/pages/release/secret":
        return MOST_PLAN + _SMALL  # a file as long as the command line takes, and the form around it
    if path == "/pages/protect/recode/import":
        return MOST_TREE + _SMALL
    if path == "/pages/tables/hierarchy":
        return LARGEST + _SMALL
    if path.startswith("/pages/plan"):
        return 3 * MOST_PLAN  # a form writes a letter as three
    return MOST_PLAN if path in ("/api/plan", "/api/check", "/api/edit") else _SMALL
