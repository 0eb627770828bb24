"""What was given to whom, and why: for stewards and auditors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from sfumato.gate.ledger import to_line
from sfumato.gate.service import Gate
from sfumato.web.gate.parts import Limit, Name, TheGate, Who

__all__ = ["router"]

router = APIRouter(tags=["ledger"])
_LINES = 1_000
After = Annotated[int, Query(ge=0, lt=10**18, description="The number of an entry: those behind it are given.")]


@router.get("/ledger")
def search(
    gate: TheGate,
    visitor: Who,
    dataset: Annotated[Name | None, Query()] = None,
    who: Annotated[Name | None, Query()] = None,
    after: After = 0,
    limit: Limit = 100,
) -> dict[str, Any]:
    """Entries in order, of a data set or about somebody."""
    found = gate.search(dataset, who, after, limit + 1)
    shown = found[:limit]
    return {"items": [asdict(one) for one in shown], "next": shown[-1].seq if len(found) > limit else None}


@router.get("/ledger/export", response_class=StreamingResponse)
def export(gate: TheGate, visitor: Who) -> StreamingResponse:
    """The whole ledger, a line of JSON for each entry, as it stands now."""
    headers = {"Content-Disposition": 'attachment; filename="ledger.jsonl"'}
    return StreamingResponse(iterate_in_threadpool(_lines(gate)), media_type="application/jsonl", headers=headers)


def _lines(gate: Gate) -> Iterator[str]:
    after, (end, _) = 0, gate.head()
    while after < end:
        entries = gate.entries(after, min(after + _LINES, end))
        yield "".join(to_line(entry) + "\n" for entry in entries)
        after += _LINES
