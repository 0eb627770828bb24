"""The variables of the file, as the plan takes them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sfumato.data.codebook import Missing
from sfumato.web.studio.describing import described
from sfumato.web.studio.routes.parts import Of

__all__ = ["router"]

router = APIRouter()


@router.get("/api/data")
def data(studio: Of) -> dict[str, Any]:
    """Every variable with its role, its kind, and why; no value of any record."""
    columns = [
        {
            "name": one.name,
            "label": one.variable.label,
            "kind": one.variable.kind,
            "role": one.variable.role,
            "missing": [_code(missing) for missing in one.variable.missing],
            "reason": one.reason,
        }
        for one in described(studio)
    ]
    return {"columns": columns, "records": studio.opened.table.frame.height}


def _code(missing: Missing) -> Any:
    """A code, or the two ends of a range of codes."""
    return missing.code if missing.code is not None else [missing.low, missing.high]
