"""A regression on a release that was sent, with its noise taken out."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, get_args

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from sfumato.web.problems import Problem
from sfumato.web.studio.archive import unpacked
from sfumato.web.studio.routes.parts import Of
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.uploads import received

__all__ = ["router"]

router = APIRouter()
_LONGEST = 10_000


@router.post("/api/fit")
async def fit(request: Request, studio: Of) -> dict[str, Any]:
    """What `sfumato fit release --formula --family --json` prints, of the fields `release`, `formula`, `family`."""
    sent = await received(request, studio.uploads, _LONGEST)
    try:
        return await run_in_threadpool(_fitted, studio, sent.path, sent.fields)
    finally:
        if sent.path is not None:
            shutil.rmtree(sent.path.parent, ignore_errors=True)


def _fitted(studio: Studio, archive: Path | None, fields: dict[str, str]) -> dict[str, Any]:
    from sfumato.api.fit import fit as estimate
    from sfumato.inference.outcome import Family

    formula = fields.get("formula", "")
    family: Any = fields.get("family", "linear")
    families = get_args(Family)
    if archive is None or not formula:
        raise Problem(422, "A fit needs the fields `release`, a zip, and `formula`.")
    if family not in families:
        raise Problem(422, f"`family` is one of {', '.join(families)}.")
    with (
        archive.open("rb") as file,
        tempfile.TemporaryDirectory(prefix="fit-", dir=studio.temporary) as folder,
    ):
        found = estimate(formula, unpacked(file, Path(folder)), family=family)
    return found.to_plain()
