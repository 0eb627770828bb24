"""Whether it answers."""

from __future__ import annotations

from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request

from sfumato.web.gate.parts import TheGate

__all__ = ["router"]

router = APIRouter(tags=["health"])


@router.get("/health")
async def health(request: Request, gate: TheGate) -> dict[str, Any]:
    """Whether the store can be read."""
    state: Any = request.app.state
    if not hasattr(state, "looks"):
        state.looks = CapacityLimiter(1)  # apart from the threads that decisions wait in
    await to_thread.run_sync(gate.alive, limiter=state.looks)
    return {"status": "ok"}
