"""Long work: begun, looked at, followed, cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field

from sfumato.web.studio.jobs import Job
from sfumato.web.studio.routes.parts import Of

__all__ = ["router"]

router = APIRouter()
_OFTEN = 0.1
"""Seconds between two looks at a job that is followed."""


class Protecting(BaseModel):
    """What `protect` is asked.

    Parameters
    ----------
    force
        Write the release although a limit is exceeded.
    """

    model_config = ConfigDict(extra="forbid")

    force: bool = False


class Tuning(BaseModel):
    """What `tune` is asked.

    Parameters
    ----------
    parameter
        A number of the plan: `steps.0.share`.
    low, high
        Its range.
    limits
        What must hold, else the plan's: `h_rank[h<3] < 0.1`.
    utility
        Figures to report beside.
    kept
        Probability with which one release must keep the limits.
    replications, grid
        Most runs at each value; values to try besides.
    model, family
        The intended model.
    """

    model_config = ConfigDict(extra="forbid")

    parameter: str
    low: float
    high: float
    limits: list[str] = Field(default_factory=list)
    utility: list[str] = Field(default_factory=list)
    kept: float | None = None
    replications: int | None = Field(None, ge=1, le=1000)
    grid: int = Field(9, ge=0, le=100)
    model: str | None = None
    family: Literal["linear", "logistic", "probit"] | None = None


@router.post("/api/protect", status_code=202)
def protect(studio: Of, asked: Protecting) -> dict[str, str]:
    """Begin to run the plan."""
    return {"job": studio.begin("protect", asked.model_dump()).id}


@router.post("/api/tune", status_code=202)
def tune(studio: Of, asked: Tuning) -> dict[str, str]:
    """Begin to search the least protection that meets limits."""
    return {"job": studio.begin("tune", asked.model_dump()).id}


def _found(studio: Of, id_: str) -> Job:
    return studio.jobs.find(id_)


Found = Annotated[Job, Depends(_found)]
"""The job that a path names; where there is none that is said before an answer begins."""


@router.get("/api/jobs/{id_}")
def job(found: Found) -> dict[str, Any]:
    """How far a job is, and what came of it."""
    return found.to_plain()


@router.get("/api/jobs/{id_}/events", response_class=EventSourceResponse)
async def events(studio: Of, followed: Found) -> AsyncIterable[ServerSentEvent]:
    """The same, whenever there is anything new, until it is over."""
    seen = -1
    while not studio.ending.is_set():
        if followed.changes != seen:
            seen = followed.changes
            yield ServerSentEvent(data=followed.to_plain())
            if followed.state != "running":
                return
        await asyncio.sleep(_OFTEN)


@router.delete("/api/jobs/{id_}", status_code=204)
def cancel(studio: Of, id_: str) -> Response:
    """Stop a job."""
    studio.jobs.cancel(id_)
    return Response(status_code=204)
