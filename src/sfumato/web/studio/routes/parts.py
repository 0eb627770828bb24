"""What routes share: the studio that they are of."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from sfumato.web.problems import Problem
from sfumato.web.studio.studio import Studio

__all__ = ["MOST_PLAN", "Body", "Of"]

MOST_PLAN = 1 << 20
"""Most bytes of a plan."""


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


async def _body(request: Request) -> str:
    try:
        return (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise Problem(422, "A plan is a text in UTF-8.", {"problems": []}) from None


Of = Annotated[Studio, Depends(_studio)]
"""The studio."""
Body = Annotated[str, Depends(_body)]
"""The body as a text."""
