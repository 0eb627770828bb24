"""What was given: own releases, and those of the public."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from sfumato.errors import NotThere
from sfumato.gate.downloads import TYPES, download
from sfumato.gate.world import PUBLIC
from sfumato.web.gate.answers import RELEASE
from sfumato.web.gate.door import own_release
from sfumato.web.gate.parts import Cursor, Limit, PathName, TheGate, Who, answered, page, papers

__all__ = ["router"]

router = APIRouter(tags=["releases"])
Format = Annotated[Literal["json", "csv", "xlsx", "parquet"], Query()]


@router.get("/me/releases")
def list_own(gate: TheGate, who: Who, cursor: Cursor = "", limit: Limit = 100) -> dict[str, Any]:
    """What was given to who asks."""
    found = page(lambda after, most: gate.releases(who.who, after, most), cursor, limit, lambda one: one.ledger[0])
    return found | {"items": [papers(one) for one in found["items"]]}


@router.get("/releases/{release}", response_model=None, responses=RELEASE)
def show_release(release: PathName, request: Request, gate: TheGate, format: Format = "json") -> Response:
    """A release with its papers, as JSON or as a file."""
    visitor = request.state.visitor
    found = gate.release(release)
    if found is None or found.who != PUBLIC:
        if (problem := own_release(visitor)) is not None:
            raise problem
        if found is None or found.who != visitor.who:
            raise NotThere("There is no such release.")
    if format == "json":
        return answered(papers(found) | found.to_plain())
    seq, digest = found.ledger
    headers = {
        "Content-Disposition": f'attachment; filename="release-{seq}.{format}"',
        "X-Sfumato-Ledger": f"{seq}:{digest}",
    }
    return Response(download(found, format), media_type=TYPES[format], headers=headers)
