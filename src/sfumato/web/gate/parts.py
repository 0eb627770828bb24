"""What the gate's routers share: who asks, the gate, names in bodies and paths, cursors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path, Query, Request
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from sfumato.errors import NotThere
from sfumato.gate.service import Gate, Release, Visitor

__all__ = [
    "Body",
    "Code",
    "Cursor",
    "Limit",
    "Name",
    "PathName",
    "Text",
    "TheGate",
    "Who",
    "answered",
    "page",
    "papers",
    "refuse_absent",
    "refuse_absent_dataset",
]

T = TypeVar("T")


class Body(BaseModel):
    """A body: its keys and no others, of their types and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def _printable(text: str) -> str:
    if any(ord(one) < 32 or ord(one) == 127 for one in text):
        raise ValueError("it has characters that cannot be printed")
    return text


Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
"""A name of a variable, a user, a policy."""
Code = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_printable)]
"""A code of a variable, or a group of a level."""
Text = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""Words."""
PathName = Annotated[str, Path(max_length=200), AfterValidator(_printable)]
"""A name that stands in the address."""
Cursor = Annotated[str, Query(max_length=20, pattern=r"^[0-9]{0,18}$", description="As `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")]


def _visitor(request: Request) -> Visitor:
    visitor: Visitor = request.state.visitor  # the door lets nobody else through
    return visitor


def _gate(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


Who = Annotated[Visitor, Depends(_visitor)]
"""Who asks."""
TheGate = Annotated[Gate, Depends(_gate)]


def answered(value: Any, status: int = 200) -> JSONResponse:
    """An answer as it is: a table may have a million rows, which are not looked at one by one again.

    Parameters
    ----------
    value
        Plain values.
    status
        Of HTTP.
    """
    return JSONResponse(value, status)


def page(read: Callable[[int, int], Sequence[T]], cursor: str, limit: int, at: Callable[[T], int]) -> dict[str, Any]:
    """One page: its items, and where the next begins; None at the end.

    Parameters
    ----------
    read
        Gives at most so many items behind a number.
    cursor
        As the page before told.
    limit
        Most items.
    at
        The number of an item.
    """
    found = list(read(int(cursor or 0), limit + 1))
    more = len(found) > limit
    return {"items": found[:limit], "next": str(at(found[limit - 1])) if more else None}


def papers(release: Release) -> dict[str, Any]:
    """What goes with a release, without its rows."""
    seq, digest = release.ledger
    return {
        "id": release.id,
        "dataset": release.dataset,
        "version": release.content["version"],
        "table": release.content.get("table", ""),
        "at": release.at,
        "columns": release.columns,
        "exact": release.content["exact"],
        "disclosure": release.content["disclosure"],
        "ledger": {"seq": seq, "hash": digest},
    }


def refuse_absent(gate: Gate, *names: str) -> None:
    """Refuse names in an address that nobody has.

    Raises
    ------
    NotThere
        Without the name.
    """
    people = gate.people()
    if any(name not in people or not people[name].active for name in names):
        raise NotThere("There is nobody of this name.")


def refuse_absent_dataset(gate: Gate, name: str) -> None:
    """Refuse a data set in an address that there is not.

    Raises
    ------
    NotThere
        Without the name.
    """
    if name not in gate.datasets():
        raise NotThere("There is no such data set.")
