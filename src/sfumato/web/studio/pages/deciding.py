"""What is still to be decided on a release: which columns nobody outside knows, and why; and which ids are replaced."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError

from sfumato.data.plain_errors import plain_errors
from sfumato.plan.editing.apply import apply
from sfumato.plan.unknown import ORDER, Unknown
from sfumato.web.layout.forms import Form
from sfumato.web.studio.pages.frame import change, problem
from sfumato.web.studio.pages.release import result_later, told
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["router"]

router = APIRouter()
_OTHER_RUN = "These columns are of another run: load the page again."


@router.post("/pages/release/unknown")
def unknown(request: Request, studio: Of, form: Form) -> Any:
    """Write into the plan which columns nobody outside knows, and why."""
    names = form.many("column")
    if not names:
        return problem(request, "Tick the columns that nobody outside can know of anybody.")
    if not set(names) <= set(_told(studio)["undecided"]):
        return problem(request, _OTHER_RUN)
    said = {"columns": names, "because": form.one("because")}
    try:
        if not Unknown.model_validate(said).decided:
            return problem(request, "Say why nobody outside knows them.")
    except ValidationError as error:
        return problem(
            request, "; ".join(f"{sentence[0].upper()}{sentence[1:]}." for _, sentence in plain_errors(error, said))
        )

    def stated(text: str) -> str:
        decided = [each.model_dump(mode="json") for each in studio.planned.plan.unknown if each.decided]
        return apply(text, {"op": "set", "path": ["unknown"], "value": [*decided, said]})

    return _changed(request, studio, stated)


@router.post("/pages/release/ids")
def ids(request: Request, studio: Of) -> Any:
    """Give the ids that leave others, by last steps of the plan."""
    names = [n for n in _told(studio)["ids"] if n != ORDER]
    if not names:
        return problem(request, _OTHER_RUN)

    def replaced(text: str) -> str:
        for n in names:
            step = {"do": "pseudonymise", "columns": [n], "scope": "table", "format": "number"}
            text = apply(text, {"op": "add", "path": ["steps"], "value": step})
        return text

    return _changed(request, studio, replaced)


def _told(studio: Studio) -> dict[str, Any]:
    job = studio.jobs.last("protect")
    return {"undecided": (), "ids": ()} if job is None else told(job)


def _changed(request: Request, studio: Studio, edit: Any) -> Any:
    return change(request, studio, lambda: studio.planned.change("*", edit), "release_result", **result_later(studio))
