"""A regression on a release that was sent, with its noise taken out."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, UploadFile

from sfumato.web.studio.archive import unpacked
from sfumato.web.studio.routes.parts import Of

__all__ = ["router"]

router = APIRouter()


@router.post("/api/fit")
def fit(
    studio: Of,
    release: UploadFile,
    formula: Annotated[str, Form(max_length=10_000)],
    family: Annotated[Literal["linear", "probit", "logit", "poisson", "ordered"], Form()] = "linear",
) -> dict[str, Any]:
    """What `sfumato fit release --formula --family --json` prints."""
    from sfumato.api.fit import fit as estimate

    with tempfile.TemporaryDirectory(prefix="fit-", dir=studio.temporary) as folder:
        found = estimate(formula, unpacked(release.file, Path(folder)), family=family)
    return found.to_plain()
