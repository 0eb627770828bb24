"""Data sets, as their codebooks describe them; and, for stewards, what hangs together in them.

Analysts are told nothing of how many people there are, nor of what was found in the data.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from sfumato.web.gate.answers import CODEBOOK, SETTLED
from sfumato.web.gate.parts import Body, Name, PathName, TheGate, Who, refuse_absent_dataset
from sfumato.web.gate.queue import Reason

__all__ = ["ChanceProposal", "router"]

router = APIRouter(tags=["datasets"])


class ChanceProposal(Body):
    """Columns that hang together by chance, and why."""

    columns: list[Name] = Field(min_length=2, max_length=3, description="All columns of the dependence.")
    reason: Reason


@router.get("/datasets")
def list_datasets(gate: TheGate, who: Who) -> dict[str, Any]:
    """Data sets and their versions."""
    found = gate.datasets()
    items = [{"id": name, "versions": [one.name for one in own.versions]} for name, own in sorted(found.items())]
    return {"items": items, "next": None}


@router.get("/datasets/{dataset}", responses=CODEBOOK)
def show_dataset(dataset: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """The codebook: variables, their codes and levels."""
    refuse_absent_dataset(gate, dataset)
    return gate.codebook(dataset).to_plain()


@router.get("/datasets/{dataset}/dependences")
def list_dependences(dataset: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """What was found to hang together, most telling first. All of it counts but what two stewards called chance."""
    refuse_absent_dataset(gate, dataset)
    return {"items": [one.to_plain() for one in gate.dependences(dataset)], "next": None}


@router.post("/datasets/{dataset}/chance", status_code=201)
def propose_chance(dataset: PathName, body: ChanceProposal, gate: TheGate, who: Who) -> dict[str, Any]:
    """Propose that a dependence counts as chance. It is an exception, which a second steward confirms."""
    refuse_absent_dataset(gate, dataset)
    return {"id": gate.propose_chance(dataset, body.columns, who.who, body.reason)}


@router.post("/datasets/{dataset}/chance/withdraw", responses=SETTLED)
def withdraw_chance(dataset: PathName, body: ChanceProposal, gate: TheGate, who: Who) -> dict[str, Any]:
    """Let a dependence count again that was called chance, or take back that it was proposed. It takes one steward."""
    refuse_absent_dataset(gate, dataset)
    return gate.withdraw_chance(dataset, body.columns, who.who, body.reason).to_plain()
