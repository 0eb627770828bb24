"""Whether it answers."""

from __future__ import annotations

from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from sfumato.web.gate.parts import TheGate

__all__ = ["router"]

router = APIRouter(tags=["health"])


@router.get("/health")
async def health(request: Request, gate: TheGate) -> JSONResponse:
    """Whether the store can be read, when all that was given was proved, and whether anything is answered."""
    state: Any = request.app.state
    if not hasattr(state, "looks"):
        state.looks = CapacityLimiter(1)  # apart from the threads that decisions wait in
    await to_thread.run_sync(gate.alive, limiter=state.looks)
    told = gate.health
    return JSONResponse({"status": "ok" if told["ok"] else "stopped", **told}, 200 if told["ok"] else 503)
