"""Users, organisations and groups, and who is a member of what. Every change is a decision."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from sfumato.gate.derived import Person
from sfumato.gate.service import Gate
from sfumato.gate.world import PUBLIC
from sfumato.web.gate.answers import SETTLED
from sfumato.web.gate.parts import Body, Name, PathName, TheGate, Who, refuse_absent

__all__ = ["Membership", "PlaceRequest", "UserRequest", "router"]

router = APIRouter(tags=["people"])


class UserRequest(Body):
    """A user."""

    id: Name
    organisation: Name | None = None
    role: Literal["analyst", "steward", "auditor"] = "analyst"
    policy: Name


class PlaceRequest(Body):
    """An organisation, or a group of people of several."""

    id: Name
    policy: Name


class Membership(Body):
    """How somebody is a member."""

    guest: bool = Field(default=False, description="Receives what the others hold, and gives nothing back.")


@router.get("/users")
def list_users(gate: TheGate, who: Who) -> dict[str, Any]:
    """Everybody who has an account."""
    return {"items": _listed(gate, "user"), "next": None}


@router.post("/users", status_code=201)
def add_user(body: UserRequest, gate: TheGate, who: Who) -> dict[str, Any]:
    """Declare a user. The answer has a password for the first login; it is not shown again."""
    password = gate.add_user(body.id, body.organisation, body.role, body.policy, by=who.who)
    return body.model_dump() | {"password": password}


@router.delete("/users/{user}", responses=SETTLED)
def remove_user(user: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """Take somebody's account and memberships; their sessions and tokens end. What they know stays known."""
    refuse_absent(gate, user)
    return gate.remove_user(user, by=who.who).to_plain()


@router.get("/organisations")
def list_organisations(gate: TheGate, who: Who) -> dict[str, Any]:
    """Organisations and their members."""
    return {"items": _listed(gate, "organisation"), "next": None}


@router.post("/organisations", status_code=201)
def add_organisation(body: PlaceRequest, gate: TheGate, who: Who) -> dict[str, Any]:
    """Declare an organisation, whose members share all that they know."""
    return body.model_dump() | gate.add_organisation(body.id, body.policy, by=who.who).to_plain()


@router.get("/groups")
def list_groups(gate: TheGate, who: Who) -> dict[str, Any]:
    """Groups and their members."""
    return {"items": _listed(gate, "group"), "next": None}


@router.post("/groups", status_code=201)
def add_group(body: PlaceRequest, gate: TheGate, who: Who) -> dict[str, Any]:
    """Declare a group of people of several organisations."""
    return body.model_dump() | gate.add_group(body.id, body.policy, by=who.who).to_plain()


@router.put("/organisations/{place}/members/{user}", responses=SETTLED)
@router.put("/groups/{place}/members/{user}", responses=SETTLED)
def join(place: PathName, user: PathName, gate: TheGate, who: Who, body: Membership | None = None) -> dict[str, Any]:
    """Decide whether somebody may become a member."""
    refuse_absent(gate, place, user)
    return gate.join(user, place, body is not None and body.guest, by=who.who).to_plain()


@router.delete("/organisations/{place}/members/{user}", responses=SETTLED)
@router.delete("/groups/{place}/members/{user}", responses=SETTLED)
def leave(place: PathName, user: PathName, gate: TheGate, who: Who) -> dict[str, Any]:
    """End a membership; what is known stays known."""
    refuse_absent(gate, place, user)
    return gate.leave(user, place, by=who.who).to_plain()


def _listed(gate: Gate, kind: str) -> list[dict[str, Any]]:
    people, edges = gate.people(), gate.edges()
    found = [one for one in people.values() if one.principal.kind == kind and one.principal.name != PUBLIC]
    return [_plain(one, edges) for one in sorted(found, key=lambda one: one.principal.name)]


def _plain(person: Person, edges: frozenset[tuple[str, str]]) -> dict[str, Any]:
    one = person.principal
    plain: dict[str, Any] = {"id": one.name, "policy": one.policy, "active": person.active}
    if one.kind == "user":
        return plain | {"role": person.role, "organisations": sorted(x for x, y in edges if y == one.name)}
    members = sorted({y for x, y in edges if x == one.name})
    return plain | {"members": [{"id": name, "guest": (name, one.name) not in edges} for name in members]}
