"""What is left to who asks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from sfumato.web.gate.answers import BUDGET
from sfumato.web.gate.parts import Name, TheGate, Who, refuse_absent_dataset

__all__ = ["router"]

router = APIRouter(tags=["budget"])
DataSet = Annotated[Name, Query(description="Name of the data set.")]


@router.get("/me/budget", responses=BUDGET)
def show_budget(dataset: DataSet, gate: TheGate, who: Who) -> dict[str, Any]:
    """What is left to who asks: of the budget of noise, and of the day. Nothing is counted for it.

    A model's cost comes with its answer alone.
    """
    refuse_absent_dataset(gate, dataset)
    return gate.budget(who.who, dataset).to_plain()
