"""The steps of the plan as cards, and what is known of the table as it enters each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sfumato.data.codebook import Codebook
from sfumato.data.docstring import summary
from sfumato.data.yaml import load_yaml
from sfumato.errors import DataError, PlanError
from sfumato.methods.registry import methods
from sfumato.plan.editing.off import switched_off
from sfumato.plan.editing.written import flow
from sfumato.plan.plan import Plan
from sfumato.web.studio.source import Opened
from sfumato.web.studio.studio import Studio

if TYPE_CHECKING:
    from sfumato.api.preview import Previewer

__all__ = ["Card", "book_before", "cards", "plain_plan", "plain_steps", "previewer"]


@dataclass(frozen=True)
class Card:
    """A step, as the page Protect shows it.

    Parameters
    ----------
    number
        Its position from 0; of one that is off, its position among those that are off.
    off
        Whether it is switched off.
    name, sentence
        The method, and what it does.
    facts
        Its parameters and their values as YAML.
    problems
        What is wrong with it.
    """

    number: int
    off: bool
    name: str
    sentence: str
    facts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...] = ()


def cards(studio: Studio) -> list[Card]:
    """Every step in its order, those that are off in their places."""
    text = studio.planned.text
    told: dict[int, list[str]] = {}
    for problem in studio.problems(text):
        if len(problem.path) > 1 and problem.path[0] == "steps" and isinstance(problem.path[1], int):
            told.setdefault(problem.path[1], []).append(problem.message)
    steps, off = plain_steps(text), switched_off(text, ["steps"])
    made: list[Card] = []
    for at in range(len(steps) + 1):
        made += [_card(i, one.value, off=True) for i, one in enumerate(off) if one.at == at]
        if at < len(steps):
            made.append(_card(at, steps[at], problems=tuple(told.get(at, ()))))
    return made


def _card(number: int, value: Any, *, off: bool = False, problems: tuple[str, ...] = ()) -> Card:
    said = value if isinstance(value, Mapping) else {}
    name = str(said.get("do", "a step"))
    method = methods().get(name)
    sentence = "" if method is None else summary(method)
    facts = tuple((str(key), _brief(part)) for key, part in said.items() if key != "do")
    return Card(number, off, name, sentence, facts, problems)


def _brief(value: Any) -> str:
    return ", ".join(map(str, value)) if _is_names(value) else value if isinstance(value, str) else flow(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(n, str) for n in value)


def plain_steps(text: str) -> list[dict[str, Any]]:
    """What the steps of a plan's text say; none of a plan of several tables."""
    value = plain_plan(text)
    steps = value.get("steps") if isinstance(value, Mapping) else None
    return [step for step in steps or () if isinstance(step, dict)]


@lru_cache(maxsize=4)
def plain_plan(text: str) -> Any:
    """What a plan's text says, to be looked at and not to be changed; a long one takes a while to read."""
    return load_yaml(text)[0]


def _book(opened: Opened, variables: str) -> Codebook:
    """What plan and file know of the variables before any step; kept with the file, and gone with it."""

    def read() -> Codebook:
        return Plan.model_validate_json(variables).codebook(opened.table.frame, opened.table.codebook)

    return opened.remember(("book", variables), read)


def book_before(studio: Studio, step: int) -> Codebook:
    """What is known of the table as it enters a step; of steps that cannot be described nothing is taken in."""
    plan = studio.planned.plan
    own = plan.model_copy(update={"steps": (), "limits": ()})
    try:
        book = _book(studio.opened, own.model_dump_json(include={"variables"}, exclude_unset=True))
    except PlanError:
        return studio.opened.table.codebook
    for one in plan.steps[:step]:
        with suppress(DataError, KeyError):
            book = one.describe(book)
    return book


def previewer(opened: Opened) -> Previewer:
    """What tries steps on the file that is open."""
    from sfumato.api.preview import Previewer

    return opened.remember("previewer", lambda: Previewer(opened.table))
