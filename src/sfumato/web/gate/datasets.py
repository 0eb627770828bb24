"""Data sets, as their codebooks describe them. Nothing is said of how many people they have."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sfumato.web.gate.answers import CODEBOOK
from sfumato.web.gate.parts import PathName, TheGate, Who, refuse_absent_dataset

__all__ = ["router"]

router = APIRouter(tags=["datasets"])


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
