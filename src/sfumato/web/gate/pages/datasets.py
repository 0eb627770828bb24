"""The page `Datasets`: what there is to ask for."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataStopped
from sfumato.web.gate.pages.frame import show
from sfumato.web.gate.parts import TheGate

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/pages/datasets")
def datasets_page(request: Request, gate: TheGate) -> Response:
    """Data sets, their variables, codes and levels: the codebook, and nothing of the records."""
    books, stopped = [], []
    for name in sorted(gate.datasets()):
        try:
            books.append(gate.codebook(name))
        except DataStopped as error:
            stopped.append((name, str(error)))
    return show(request, "datasets", "Datasets", books=books, stopped=stopped)
