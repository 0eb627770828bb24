"""The page `People`: who is there, who shares with whom, and what a change would do before it is done."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataError, SfumatoError
from sfumato.gate.derived import Person
from sfumato.gate.service import Gate
from sfumato.gate.serving.core import Settled
from sfumato.gate.serving.surveying import Foreseen
from sfumato.gate.world import PUBLIC
from sfumato.web.gate.pages.frame import problem, show, show_part, visitor_of
from sfumato.web.gate.pages.policies import in_words
from sfumato.web.gate.pages.words import DECISIONS, reasons
from sfumato.web.gate.parts import TheGate, Who
from sfumato.web.layout.forms import Form, Given

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_DONE = {
    "join": "{who} is a member of {where} now.",
    "guest": "{who} is a guest of {where} now.",
    "share": "{who} shares with {where} now.",
    "leave": "{who} is no member of {where} any more. What is known stays known.",
    "withdraw": "{who} shares with {where} no more. What is known stays known.",
    "remove": "{who} has no account any more. What is known stays known.",
}


@dataclass(frozen=True)
class _Line:
    """Somebody, as the table lists them."""

    name: str
    kind: str
    role: str
    policy: str
    both: tuple[str, ...]
    receives: tuple[str, ...]
    gives: tuple[str, ...]


@router.get("/pages/people")
def people_page(request: Request, gate: TheGate) -> Response:
    """Everybody, as a picture and as a list; and the forms."""
    visitor = visitor_of(request)
    return show(request, "people", "People", keeper=visitor is not None and visitor.role == "steward", **_seen(gate))


@router.post("/pages/people/foresee")
def foresee(request: Request, gate: TheGate, form: Form) -> Response:
    """What a change would do; nothing is done."""
    try:
        step, who, where = _named(form)
        if step == "share":
            seen = gate.foresee_share(who, where)
        elif step in ("join", "guest"):
            seen = gate.foresee_join(who, where, guest=step == "guest")
        else:
            raise DataError("Leaving takes nothing from anybody: what is known stays known.")
    except SfumatoError as error:
        return problem(request, error)
    return _foreseen(request, gate, step, who, where, seen)


@router.post("/pages/people/change")
def change(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Do it, if it is granted."""
    try:
        step, name, where = _named(form)
        settled = _changed(gate, step, name, where, who.who)
    except SfumatoError as error:
        return problem(request, error)
    return _settled(request, gate, settled, _DONE[step].format(who=name, where=where))


@router.post("/pages/people/add")
def add(request: Request, gate: TheGate, who: Who, form: Form) -> Response:
    """Declare a user, an organisation or a group."""
    kind, name, policy = form.one("kind"), form.one("name"), form.one("policy")
    try:
        if kind == "user":
            password = gate.add_user(name, form.one("organisation") or None, form.one("role"), policy, by=who.who)
            told = f"{name} has an account now."
            return show_part(request, "people_done", settled=None, told=told, password=password, **_seen(gate))
        add_place = gate.add_group if kind == "group" else gate.add_organisation
        settled = add_place(name, policy, by=who.who)
    except SfumatoError as error:
        return problem(request, error)
    return _settled(request, gate, settled, f"{name} is there now.")


def _named(form: Given) -> tuple[str, str, str]:
    step, who, where = form.one("step"), form.one("who"), form.one("where")
    if step not in _DONE or not who or (not where and step != "remove"):
        raise DataError("Choose who, and with whom.")
    return step, who, where


def _changed(gate: Gate, step: str, who: str, where: str, by: str) -> Settled:
    if step in ("join", "guest"):
        return gate.join(who, where, step == "guest", by=by)
    if step == "remove":
        return gate.remove_user(who, by=by)
    return {"share": gate.share, "leave": gate.leave, "withdraw": gate.withdraw}[step](who, where, by=by)


def _seen(gate: Gate, proposed: Collection[tuple[str, str]] = (), reached: Collection[str] = ()) -> dict[str, Any]:
    """What the page shows of everybody."""
    from sfumato.render.sharing import Member, sharing  # loaded when it is needed: a server starts sooner

    people, edges = gate.people(), gate.edges()
    active = [one for one in people.values() if one.active]
    lines = sorted((_line(one, edges) for one in active), key=lambda one: (_ORDER.index(one.kind), one.name))
    members = [Member(one.name, one.kind) for one in lines if one.role in ("", "analyst")]
    words = {name: in_words(policy) for name, policy in sorted(gate.policies().items())}
    return {
        "lines": lines,
        "picture": sharing(members, edges, proposed, reached),
        "users": [one.name for one in lines if one.kind == "user"],
        "places": [one.name for one in lines if one.kind in ("organisation", "group")],
        "organisations": [one.name for one in lines if one.kind == "organisation"],
        "everybody": [one.name for one in lines],
        "policies": words,
    }


_ORDER = ("organisation", "group", "user", "public")


def _line(person: Person, edges: Collection[tuple[str, str]]) -> _Line:
    one = person.principal
    gives = {y for x, y in edges if x == one.name}
    receives = {x for x, y in edges if y == one.name}
    both = gives & receives
    return _Line(
        one.name,
        one.kind,
        person.role,
        one.policy,
        tuple(sorted(both)),
        tuple(sorted(receives - both)),
        tuple(sorted(gives - both)),
    )


def _foreseen(request: Request, gate: Gate, step: str, who: str, where: str, seen: Foreseen) -> Response:
    people = gate.people()
    new = {name: sorted(then - now) for name, (now, then) in seen.reach.items()}
    return show_part(
        request,
        "people_foreseen",
        step=step,
        who=who,
        where=where,
        seen=seen,
        word=DECISIONS[seen.decision],
        reasons=reasons(seen.reasons),
        new=new,
        policy=people[who].principal.policy,
        public=PUBLIC,
        **_seen(gate, seen.edges, seen.learn),
    )


def _settled(request: Request, gate: Gate, settled: Settled, told: str) -> Response:
    context = {"settled": settled, "told": told, "password": "", "reasons": reasons(settled.reasons)}
    return show_part(request, "people_done", word=DECISIONS[settled.decision], **context, **_seen(gate))
