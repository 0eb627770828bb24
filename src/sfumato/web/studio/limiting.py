"""The limits of the plan: what must hold, each with what its measure says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from sfumato.data.yaml import load_yaml
from sfumato.measures.measure import FAMILIES
from sfumato.measures.registry import figure, measures
from sfumato.plan.editing.edits import remove, set_value
from sfumato.plan.editing.written import flow
from sfumato.web.layout.forms import Given
from sfumato.web.studio.stepped import plain_plan
from sfumato.web.studio.studio import Studio

__all__ = ["Limiting", "bounded_anew", "limits", "offered_measures", "read_bound", "read_narrowing"]

Bound = Literal["at_least", "at_most"]
_BOUNDS: tuple[Bound, ...] = ("at_least", "at_most")
_NARROWING = ("group", "variable", "attack", "at")


@dataclass(frozen=True)
class Limiting:
    """A limit, as the page Protect shows it.

    Parameters
    ----------
    number
        Its position, from 0.
    measure, title, what
        The figure that it binds: its name, that for people, and what it says of whom.
    bound, value
        Which way it binds, and the number.
    narrowed
        What it is narrowed to.
    problems
        What is wrong with it.
    """

    number: int
    measure: str
    title: str
    what: str
    bound: str
    value: str
    narrowed: str
    problems: tuple[str, ...]


def limits(studio: Studio) -> list[Limiting]:
    """The limits, in their order."""
    text = studio.planned.text
    value = plain_plan(text)
    told: dict[int, list[str]] = {}
    for problem in studio.problems(text):
        if len(problem.path) > 1 and problem.path[0] == "limits" and isinstance(problem.path[1], int):
            told.setdefault(problem.path[1], []).append(problem.message)
    made = []
    for i, one in enumerate(value.get("limits") or ()):
        if not isinstance(one, Mapping):
            continue
        name = str(one.get("measure", ""))
        said = figure(name)
        bound = "at_least" if one.get("at_least") is not None else "at_most"
        narrowed = ", ".join(f"{key} {one[key]}" for key in _NARROWING if one.get(key) is not None)
        wrong = tuple(told.get(i, ()))
        made.append(Limiting(i, name, said.title, said.what, bound, flow(one.get(bound)), narrowed, wrong))
    return made


@cache
def offered_measures() -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
    """Every figure that a limit may bind, by family: its name, its title, what it says."""
    return tuple(
        (
            heading,
            tuple((f.name, f.title, f.what) for m in measures().values() if m.family == family for f in m.figures),
        )
        for family, heading in FAMILIES.items()
        if any(m.family == family for m in measures().values())
    )


def read_bound(form: Given) -> tuple[Bound, int | float]:
    """Which way a limit binds, and the number.

    Raises
    ------
    ValueError
        With the sentence.
    """
    bound = next((name for name in _BOUNDS if name == form.one("bound")), None)
    if bound is None:
        raise ValueError("Say whether the figure must be at least or at most the number.")
    return bound, _figure(form.one("value"))


def read_narrowing(form: Given) -> dict[str, Any]:
    """What a limit is narrowed to.

    Raises
    ------
    ValueError
        With the sentence.
    """
    told: dict[str, Any] = {key: form.one(key) for key in _NARROWING if form.one(key)}
    if "at" in told:
        told["at"] = _figure(told["at"])
    return told


def _figure(text: str) -> int | float:
    try:
        number = float(text.replace("−", "-"))
    except ValueError:
        raise ValueError("A limit needs a number, with a point for decimals.") from None
    if not math.isfinite(number):
        raise ValueError("A limit needs a finite number.")
    return int(number) if number == int(number) else number


def bounded_anew(text: str, number: int, bound: Bound, value: float) -> str:
    """A plan's text in which a limit has another bound; all else of it stays."""
    one = (load_yaml(text)[0].get("limits") or ())[number : number + 1]
    other = next(name for name in _BOUNDS if name != bound)
    if one and isinstance(one[0], Mapping) and other in one[0]:
        text = remove(text, ["limits", number, other])
    return set_value(text, ["limits", number, bound], value)
