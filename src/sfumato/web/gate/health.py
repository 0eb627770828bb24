"""Whether it answers."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sfumato.web.gate.parts import TheGate

__all__ = ["router"]

router = APIRouter(tags=["health"])


@router.get("/health")
def health(gate: TheGate) -> dict[str, Any]:
    """Whether the store can be read."""
    gate.alive()
    return {"status": "ok"}
