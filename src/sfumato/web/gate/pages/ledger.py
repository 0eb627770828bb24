"""The page `Ledger`: what was given to whom, and why; searched and exported."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sfumato.gate.ledger import Entry
from sfumato.gate.margin import Margin
from sfumato.web.gate.pages.frame import show
from sfumato.web.gate.pages.words import DECISIONS
from sfumato.web.gate.parts import TheGate

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_PAGE = 50
Text = Annotated[str, Query(max_length=200)]
Number = Annotated[str, Query(max_length=18, pattern=r"^[0-9]*$")]


@router.get("/pages/ledger")
def ledger_page(
    request: Request, gate: TheGate, dataset: Text = "", who: Text = "", after: Number = "", limit: Number = ""
) -> Response:
    """Entries in order, of a data set or about somebody; the newest where nothing is asked."""
    seq, digest = gate.head()
    many = min(int(limit or _PAGE), _PAGE) or 1
    start = int(after) if after else 0 if dataset or who else max(seq - many, 0)
    found = gate.search(dataset or None, who or None, start, many + 1)
    shown = found[:many]
    return show(
        request,
        "ledger",
        "Ledger",
        head=(seq, digest),
        entries=[_line(entry) for entry in shown],
        next=shown[-1].seq if len(found) > many else None,
        before=max(start - many, 0) if start else None,
        dataset=dataset,
        who=who,
        datasets=sorted(gate.datasets()),
        people=sorted(gate.people()),
    )


def _line(entry: Entry) -> dict[str, Any]:
    body = entry.body
    decision = str(body.get("decision", ""))
    return {
        "entry": entry,
        "at": entry.at[:19].replace("T", " "),
        "decision": DECISIONS.get(decision, decision),
        "kind": {"granted": "ok", "refused": "bad", "undecided": "warn"}.get(decision, ""),
        "what": _what(entry),
        "reasons": ", ".join(body.get("reasons", ())) if isinstance(body.get("reasons"), list) else "",
        "text": json.dumps(body, indent=1, ensure_ascii=False, sort_keys=True),
    }


def _what(entry: Entry) -> str:
    body = entry.body
    if isinstance(body.get("margin"), dict):
        return Margin.from_plain(body["margin"]).label.replace(",", ", ") or "all together"
    if isinstance(body.get("chance"), list):
        return f"by chance, {body.get('step')}: {', '.join(map(str, body['chance']))}"
    if entry.kind == "edge":
        return f"{body.get('step')} {body.get('to')}"
    if entry.kind == "policy":
        return f"{body.get('name')}, version {body.get('version')}"
    return " ".join(str(body[key]) for key in ("step", "kind", "version") if body.get(key))
