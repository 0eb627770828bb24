"""The release of the last run, as an archive."""

from __future__ import annotations

from fastapi import APIRouter, Response

from sfumato.web.studio.archive import packed
from sfumato.web.studio.beside import carried
from sfumato.web.studio.routes.parts import Of

__all__ = ["router"]

router = APIRouter()


@router.get("/api/release.zip")
def release(studio: Of) -> Response:
    """The folder of the last run with the plan and its files beside it, if data, plan and secret are still the same."""
    job = studio.released()
    assert job.work.out is not None
    beside = {**carried(studio.planned.plan, studio.planned.base), "plan.yaml": job.work.plan.encode()}
    headers = {"Content-Disposition": 'attachment; filename="release.zip"'}
    return Response(packed(job.work.out / "release", beside), 200, headers, "application/zip")
