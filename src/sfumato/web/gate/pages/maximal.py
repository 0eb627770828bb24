"""The page `Maximal releases`: what could be given together, what is given, what could still be; what is recovered."""

from __future__ import annotations

import itertools
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sfumato.errors import DataError, DataStopped, SfumatoError
from sfumato.gate.service import Gate
from sfumato.gate.serving.surveying import MOST_DRAWN, Surveyed
from sfumato.gate.world import PUBLIC
from sfumato.web.gate.pages.frame import problem, show, show_part
from sfumato.web.gate.parts import TheGate
from sfumato.web.layout.forms import Form

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_FIRST = 4
_WORDS = {"granted": "known", "possible": "could be given", "closed": "cannot be given now"}


@router.get("/pages/maximal")
def maximal_page(request: Request, gate: TheGate) -> Response:
    """The form."""
    books = []
    for name in sorted(gate.datasets()):
        try:
            book = gate.codebook(name)
        except DataStopped:
            continue
        books.append({"id": name, "variables": [one.name for one in book.variables if one.codes]})
    people = [name for name, one in sorted(gate.people().items()) if one.active and one.role in ("", "analyst")]
    people = sorted(people, key=lambda name: (name == PUBLIC, name))
    return show(
        request,
        "maximal",
        "Maximal releases",
        books=books,
        people=people,
        policies=sorted(gate.policies()),
        first=_FIRST,
        most=MOST_DRAWN,
    )


@router.post("/pages/maximal/look")
def look(request: Request, gate: TheGate, form: Form) -> Response:
    """The maximal safe releases of some variables, and how their tables stand for somebody."""
    dataset, policy, who = form.one("dataset"), form.one("policy"), form.one("who")
    try:
        variables = _chosen(gate, dataset, form.many("variable"))
        found = gate.surveyed(dataset, policy, variables, who)
    except SfumatoError as error:
        return problem(request, error)
    return show_part(request, "maximal_found", who=who, policy=policy, **_told(found, variables))


@router.post("/pages/maximal/recover")
def recover(request: Request, gate: TheGate, form: Form) -> Response:
    """What somebody can recover now from all that they may know."""
    try:
        found = gate.recovered(form.one("who"), form.one("dataset"), shown=10)
    except SfumatoError as error:
        return problem(request, error)
    cells = found.narrowest
    return show_part(
        request, "maximal_recovered", who=form.one("who"), found=found, columns=cells.columns, rows=cells.rows()
    )


def _chosen(gate: Gate, dataset: str, names: list[str]) -> list[str]:
    if dataset not in gate.datasets():
        raise DataError("Choose a data set.")
    known = [one.name for one in gate.codebook(dataset).variables if one.codes]
    chosen = [name for name in known if name in names]
    if not chosen:
        raise DataError("Choose at least one variable.")
    return chosen


def _told(found: Surveyed, variables: list[str]) -> dict[str, Any]:
    from sfumato.render.lattice import lattice, letters  # loaded when it is needed: a server starts sooner

    maximal = found.maximal
    contained = {frozenset(name.split(",")): many for name, many in maximal.contained.items()}
    drawn = lattice(variables, found.states, contained) if found.states else ""
    few = (frozenset(own) for many in (1, 2) for own in itertools.combinations(maximal.variables, many))
    wanted: dict[frozenset[str], str] = dict(found.states) or dict.fromkeys(few, "")
    order = {name: i for i, name in enumerate(variables)}
    rows = [
        {
            "table": ", ".join(sorted(table, key=order.__getitem__)),
            "size": len(table),
            "contained": contained.get(table, 0),
            "state": _WORDS.get(state, ""),
            "kind": {"granted": "ok", "closed": "bad"}.get(state, ""),
        }
        for table, state in wanted.items()
    ]
    return {
        "maximal": maximal,
        "picture": drawn,
        "letters": letters(variables),
        "rows": sorted(rows, key=lambda row: (row["size"], -row["contained"], row["table"])),
        "states": bool(found.states),
    }
