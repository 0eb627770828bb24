"""The risk of the file as it is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from sfumato.web.problems import Problem
from sfumato.web.studio.describing import refuse_identifiers
from sfumato.web.studio.routes.parts import Of

__all__ = ["names", "router"]

router = APIRouter()


@router.get("/api/risk")
def risk(
    studio: Of,
    keys: str,
    sensitive: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    person: str | None = None,
    missing: str | None = None,
    fraction: float | None = None,
) -> dict[str, Any]:
    """What `sfumato risk FILE --keys a,b --json` prints, and with its options of the same names.

    Identifiers are refused as keys: whose value a class has is told in the figures.
    """
    by, what = names(keys), names(sensitive or "")
    refuse_identifiers(studio, (*by, *what))
    found = studio.risk_of(
        keys=by,
        sensitive=what or None,
        weight=weight,
        household=household,
        person=person,
        missing=missing,
        fraction=fraction,
    )
    return found.to_plain()


def names(text: str) -> tuple[str, ...]:
    """Columns from a list with commas between; a backslash before a comma keeps it.

    Raises
    ------
    Problem
        422 where it is longer than any list of columns.
    """
    if len(text) > 100_000:
        raise Problem(422, "The list of columns is too long.")
    parts = text.replace("\\,", "\0").split(",")
    return tuple(part.strip().replace("\0", ",") for part in parts if part.strip())
