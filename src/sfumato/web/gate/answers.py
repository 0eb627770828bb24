"""What answers look like, for the description of the routes. They leave as they are made: nothing is checked by it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = ["ANSWER", "BUDGET", "CHANGED", "CODEBOOK", "RELEASE", "SETTLED", "AnswerOut", "SettledOut", "documented"]


class Stood(BaseModel):
    """An entry of the ledger."""

    seq: int
    hash: str


class Offered(BaseModel):
    """What could be had instead."""

    kind: str = Field(description="`coarser`, `smaller`, `perturbed` or `analysis`.")
    by: list[str]


class Given(BaseModel):
    """A table, or the terms of a fit."""

    id: str
    columns: list[str] = Field(description="by, count, sum, mean; or term, estimate, se, se_added, low, high, p.")
    rows: list[list[Any]]
    exact: bool
    disclosure: Any = Field(description="What protects it.")


class AnswerOut(BaseModel):
    """What was decided about a request."""

    id: str
    decision: Literal["granted", "refused", "undecided"]
    reasons: list[str] = Field(description="`known`, or the criteria that do not hold or are not proved to.")
    offers: list[Offered]
    release: Given | None
    ledger: Stood


class ReleaseOut(Given):
    """A release with its papers."""

    dataset: str
    version: str
    table: str
    at: str
    ledger: Stood


class SettledOut(BaseModel):
    """What came of a change."""

    decision: Literal["granted", "refused", "undecided"]
    reasons: list[str]
    ledger: Stood


class VariableOut(BaseModel):
    """A variable of a codebook."""

    name: str
    role: str
    kind: str
    label: str
    codes: list[str]
    levels: dict[str, list[str]] = Field(description="By name of a level its groups.")
    summed: bool


class CodebookOut(BaseModel):
    """A data set, as analysts see it."""

    id: str
    versions: list[str]
    variables: list[VariableOut]


class PerturbedOut(BaseModel):
    """What tables with noise cost."""

    variance: float = Field(description="Of the noise of each cell.")
    cost: float = Field(description="How much larger the next one makes `mu`.")
    left: int = Field(description="How many more fit into the budget.")


class BudgetOut(BaseModel):
    """What is left."""

    mu: float = Field(description="What all noisy answers tell together, those that others may pass on among them.")
    mu_at_most: float = Field(description="What they may tell.")
    perturbed: PerturbedOut | None = Field(description="Null where no table with noise can be had.")
    requests_left: int | None = Field(description="Today (UTC); null where there is no limit.")
    grants_left: int | None = Field(description="Today (UTC); null where there is no limit.")


class ChangedOut(BaseModel):
    """A decision of the ledger that would be another one."""

    seq: int
    who: str
    dataset: str
    decision: str
    would: str


class TriedOut(BaseModel):
    """What a policy would have decided otherwise."""

    version: int
    changed: list[ChangedOut]
    looked_at: int
    all: int


def documented(status: int, model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """What a route says that it answers.

    Parameters
    ----------
    status
        Of HTTP.
    model
        How its body looks.
    """
    return {status: {"model": model}}


ANSWER = documented(201, AnswerOut)
BUDGET = documented(200, BudgetOut)
RELEASE = documented(200, ReleaseOut)
SETTLED = documented(200, SettledOut)
CODEBOOK = documented(200, CodebookOut)
CHANGED = documented(200, TriedOut)
