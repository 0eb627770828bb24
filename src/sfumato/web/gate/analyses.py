"""Requests for analyses."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from sfumato.web.gate.answers import ANSWER
from sfumato.web.gate.parts import Body, Name, PathName, TheGate, Who, answered, refuse_absent_dataset
from sfumato.web.gate.tables import Key, Where

__all__ = ["AnalysisRequest", "router"]

router = APIRouter(tags=["analyses"])
_Text = Annotated[str, StringConstraints(max_length=200)]
Option = bool | int | float | _Text | Annotated[list[_Text], Field(max_length=200)]


class AnalysisRequest(Body):
    """An analysis."""

    kind: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    formula: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(description="`y ~ a + C(b)`")
    where: Where = Field(default_factory=dict)
    version: Name | None = Field(default=None, description="The newest where it is null.")
    event: Name | None = Field(default=None, description="For survival: the variable that says who had the event.")
    cluster: Name | None = Field(default=None, description="For mixed models: the variable of the clusters.")
    complete_cases: _Text | Annotated[list[_Text], Field(max_length=200)] | None = Field(
        default=None, description="`model`, `project` (known in all variables), or a list of variables; as in options."
    )
    options: dict[Annotated[str, StringConstraints(min_length=1, max_length=40)], Option] = Field(
        default_factory=dict, max_length=20
    )


@router.post("/datasets/{dataset}/analyses", status_code=201, responses=ANSWER)
def ask_analysis(dataset: PathName, body: AnalysisRequest, gate: TheGate, who: Who, key: Key = None) -> Response:
    """Ask for an analysis: it is decided, written into the ledger, and given where it is granted."""
    refuse_absent_dataset(gate, dataset)
    answer = gate.analyse(
        who.who,
        dataset,
        body.kind,
        body.formula,
        where=body.where,
        version=body.version,
        event=body.event,
        cluster=body.cluster,
        key=key,
        options=body.options | ({} if body.complete_cases is None else {"complete_cases": body.complete_cases}),
    )
    return answered(answer.to_plain(), 201)
