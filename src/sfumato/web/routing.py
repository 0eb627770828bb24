"""An application of FastAPI that tells nothing of itself: no pages of documentation, no traces; errors in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from sfumato.errors import SfumatoError
from sfumato.web.problems import Problem, from_validation
from sfumato.web.shell import told

__all__ = ["quiet_app"]

_SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


def quiet_app(refused: Callable[[Request, Problem], Response], **more: Any) -> FastAPI:
    """An application without routes.

    Parameters
    ----------
    refused
        What is sent of a problem.
    more
        Further arguments of FastAPI.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, telemetry=_SILENT, **more)

    def error(request: Request, raised: Exception) -> Response:
        return refused(request, told(raised))

    def invalid(request: Request, raised: Exception) -> Response:
        assert isinstance(raised, RequestValidationError)
        return refused(request, from_validation(raised.errors()))

    def not_had(request: Request, raised: Exception) -> Response:
        assert isinstance(raised, HTTPException)
        detail = "The body cannot be read." if raised.status_code == 400 else "This cannot be had."
        return refused(request, Problem(raised.status_code, detail, {}, dict(raised.headers or {})))

    for kind in (SfumatoError, Problem, Exception):
        app.add_exception_handler(kind, error)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, not_had)
    return app
