"""The page `Datasets`: what there is to ask for; and, for stewards and auditors, what hangs together in the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataStopped, SfumatoError
from sfumato.gate.dependences.words import CONSEQUENCE
from sfumato.gate.service import Gate
from sfumato.gate.serving.chances import Hanging
from sfumato.web.gate.pages.frame import problem, show, show_part, visitor_of
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_KINDS = {
    "tells": "One tells another",
    "tells_together": "Two tell a third",
    "never": "Combinations that never occur",
    "band": "A band of a number",
    "adds": "Numbers that add up",
}


@dataclass(frozen=True)
class _Line:
    """A dependence, as the page shows it."""

    own: Hanging
    kind: str
    expected: str

    @classmethod
    def of(cls, own: Hanging) -> _Line:
        """Rows that add up are no people expected."""
        one = own.dependence
        return cls(own, _KINDS[one.kind], "" if one.kind == "adds" else f"{one.expected:,.0f}")


@router.get("/pages/datasets")
def datasets_page(request: Request, gate: TheGate) -> Response:
    """Data sets, their variables, codes and levels: the codebook, and nothing of the records.

    Stewards and auditors see which dependences were found; analysts see nothing of it.
    """
    books, stopped, found = [], [], {}
    visitor = visitor_of(request)
    may_see = visitor is not None and visitor.role in ("steward", "auditor")
    for name in sorted(gate.datasets()):
        try:
            books.append(gate.codebook(name))
            if may_see:
                found[name] = _found(gate, name)
        except DataStopped as error:
            stopped.append((name, str(error)))
    return show(request, "datasets", "Datasets", books=books, stopped=stopped, found=found, may_see=may_see)


@router.post("/pages/datasets/chance")
def propose(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Propose that a dependence counts as chance."""
    dataset = form.one("dataset")
    try:
        gate.propose_chance(dataset, form.many("column"), who.who, form.one("reason"))
    except SfumatoError as error:
        return problem(request, error)
    return _done(request, gate, dataset, "It is proposed. It counts as known until a second steward confirms it.")


@router.post("/pages/datasets/withdraw")
def withdraw(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Let a dependence count again."""
    dataset = form.one("dataset")
    try:
        gate.withdraw_chance(dataset, form.many("column"), who.who, form.one("reason"))
    except SfumatoError as error:
        return problem(request, error)
    return _done(request, gate, dataset, "It counts as known to everybody.")


def _done(request: Request, gate: Gate, dataset: str, told: str) -> Response:
    return show_part(request, "datasets_done", name=dataset, told=told, own=_found(gate, dataset))


def _found(gate: Gate, name: str) -> dict[str, Any]:
    lines = [_Line.of(one) for one in gate.dependences(name)]
    chance = sum(one.own.chance == "confirmed" for one in lines)
    return {
        "at": sorted(gate.datasets()).index(name),
        "lines": lines,
        "counting": len(lines) - chance,
        "chance": chance,
        "idle": gate.idle_chances(name),
        "means": CONSEQUENCE,
    }
