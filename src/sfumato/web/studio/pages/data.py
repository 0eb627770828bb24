"""The page Data: what each variable is, and why it is taken for that."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from sfumato.data.roles import Kind, Role
from sfumato.plan.editing.edits import set_value
from sfumato.web.layout.forms import Form
from sfumato.web.studio.describing import described
from sfumato.web.studio.pages.frame import change, show, show_part
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio

__all__ = ["router"]

router = APIRouter()


@router.get("/data")
def page(request: Request, studio: Of) -> HTMLResponse:
    """The page; its lines come once the guesses are there."""
    return show(request, studio, "data", "Data")


@router.get("/pages/data/variables")
def variables(request: Request, studio: Of) -> HTMLResponse:
    """A line for each variable."""
    return show_part(request, "data_variables", **_lines(studio))


@router.post("/pages/data/variable")
def variable(request: Request, studio: Of, form: Form) -> Any:
    """Change what one variable is."""
    name, key, value = form.one("name"), form.one("key"), form.one("value")
    path = ["variables", name, key]
    return change(
        request, studio, lambda: studio.planned.change("*", lambda text: set_value(text, path, value or None))
    )


def _lines(studio: Studio) -> dict[str, Any]:
    return {
        "lines": described(studio),
        "records": studio.opened.table.frame.height,
        "roles": [str(role) for role in Role],
        "kinds": [str(kind) for kind in Kind],
    }
