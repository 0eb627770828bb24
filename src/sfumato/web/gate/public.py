"""What was given to the public: for anybody, without a login."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sfumato.gate.world import PUBLIC
from sfumato.web.gate.parts import Cursor, Limit, TheGate, page, papers

__all__ = ["router"]

router = APIRouter(tags=["public"])


@router.get("/public")
def list_public(gate: TheGate, cursor: Cursor = "", limit: Limit = 100) -> dict[str, Any]:
    """Public releases, oldest first."""
    found = page(lambda after, most: gate.releases(PUBLIC, after, most), cursor, limit, lambda one: one.ledger[0])
    return found | {"items": [papers(one) for one in found["items"]]}
