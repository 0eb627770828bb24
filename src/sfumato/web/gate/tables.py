"""Requests for tables."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header
from fastapi.responses import Response
from pydantic import Field

from sfumato.web.gate.answers import ANSWER
from sfumato.web.gate.parts import Body, Code, Name, PathName, TheGate, Who, answered, refuse_absent_dataset

__all__ = ["Mean", "Sum", "TableRequest", "router"]

router = APIRouter(tags=["tables"])
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="Of the request: the same key gets the same answer."),
]
By = Annotated[list[Name], Field(max_length=50, description="Variables, and levels: `sex`, `age@band10`.")]
Where = Annotated[
    dict[Name, Annotated[list[Code], Field(min_length=1, max_length=10_000)]],
    Field(max_length=50, description="By variable or level the groups that are shown. Decided is the whole table."),
]


class Sum(Body):
    """A sum of a variable."""

    sum: Name


class Mean(Body):
    """A mean of a variable: its sum, and the count."""

    mean: Name


class TableRequest(Body):
    """A table."""

    by: By
    where: Where = Field(default_factory=dict)
    value: Literal["count"] | Sum | Mean = "count"
    weight: Name | None = None
    version: Name | None = Field(default=None, description="The newest where it is null.")
    perturbed: bool = Field(default=False, description="Counts with noise, where the policy allows it.")

    @property
    def summed(self) -> str:
        """The variable that is summed; empty for counts."""
        if isinstance(self.value, Sum):
            return self.value.sum
        return self.value.mean if isinstance(self.value, Mean) else ""


@router.post("/datasets/{dataset}/tables", status_code=201, responses=ANSWER)
def ask_table(dataset: PathName, body: TableRequest, gate: TheGate, who: Who, key: Key = None) -> Response:
    """Ask for a table: it is decided, written into the ledger, and given where it is granted."""
    refuse_absent_dataset(gate, dataset)
    margin, where = gate.request(
        dataset, body.by, body.where, value=body.summed, weight=body.weight or "", version=body.version
    )
    mean = isinstance(body.value, Mean)
    answer = gate.ask(who.who, dataset, margin, where, key, perturbed=body.perturbed, mean=mean)
    return answered(answer.to_plain(), 201)
