"""What was counted, for this machine alone."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

__all__ = ["router"]

router = APIRouter(tags=["metrics"])


@router.get("/metrics", response_class=Response)
def metrics(request: Request) -> Response:
    """Answers by route and status."""
    return Response(request.app.state.watch.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")
