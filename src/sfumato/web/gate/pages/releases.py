"""The pages `My releases` and `Public releases`, and one release with its papers."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import NotThere
from sfumato.gate.service import Release
from sfumato.gate.world import PUBLIC
from sfumato.web.gate.door import own_release
from sfumato.web.gate.pages.frame import show, told, visitor_of
from sfumato.web.gate.parts import Cursor, PathName, TheGate, Who, page

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_PAGE = 50


@router.get("/pages/releases")
def own_page(request: Request, gate: TheGate, who: Who, cursor: Cursor = "") -> Response:
    """What was given to who looks."""
    found = page(lambda after, most: gate.releases(who.who, after, most), cursor, _PAGE, _seq)
    items = [told(one, picture=False) for one in found["items"]]
    return show(request, "releases", "My releases", items=items, next=found["next"], public=False)


@router.get("/pages/public")
def public_page(request: Request, gate: TheGate, cursor: Cursor = "") -> Response:
    """What was given to the public, for anybody."""
    found = page(lambda after, most: gate.releases(PUBLIC, after, most), cursor, _PAGE, _seq)
    items = [told(one, picture=False) for one in found["items"]]
    return show(request, "releases", "Public releases", items=items, next=found["next"], public=True)


@router.get("/pages/releases/{release}")
def release_page(request: Request, gate: TheGate, release: PathName) -> Response:
    """One release: its own for an analyst, those of the public for anybody."""
    visitor = visitor_of(request)
    found = gate.release(release)
    if found is None or found.who != PUBLIC:
        if (refused := own_release(visitor)) is not None:
            raise refused
        if visitor is None or found is None or found.who != visitor.who:
            raise NotThere("There is no such release.")
    return show(request, "release", f"Release {found.ledger[0]}", release=told(found), public=found.who == PUBLIC)


def _seq(release: Release) -> int:
    return release.ledger[0]
