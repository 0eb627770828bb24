"""What is tuned in a plan: a number (`steps.0.share`, `steps.0.variance.bmi`), or a choice (`steps.0.method`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import ValidationError

from sfumato.data.plain_errors import plain_errors
from sfumato.errors import PlanError, Problem
from sfumato.methods.base import Method
from sfumato.plan.plan import Plan

__all__ = ["Parameter"]

_PATH = re.compile(r"steps\.(\d{1,4})\.([A-Za-z_]\w*)(?:\.(.+))?", re.DOTALL)
_CHOSEN = {"false": False, "true": True}


@dataclass(frozen=True)
class Parameter:
    """A numeric parameter of one step of a plan, or one that is chosen among a few words.

    Parameters
    ----------
    path
        `steps.<number from 0>.<parameter>`, with `.<column>` where the plan gives the parameter by column.
    plan
        The plan.

    Raises
    ------
    PlanError
        Where the plan has no such parameter.

    Notes
    -----
    The values of a choice are numbered from 0, in the order in which its method gives them: these numbers are tuned.

    Examples
    --------
    >>> from sfumato.methods.centroids.method import Centroids
    >>> plan = Plan(steps=[Centroids(columns=["age"], k=3)])
    >>> Parameter("steps.0.k", plan).tuned(5).steps[0].min_stratum
    10
    >>> from sfumato.methods.synthesise.method import Synthesise
    >>> knob = Parameter("steps.0.method", Plan(steps=[Synthesise(columns="all", copies=1)]))
    >>> knob.choices, knob.tuned(knob.number("parametric")).steps[0].method
    (('cart', 'parametric'), 'parametric')
    """

    path: str
    plan: Plan

    def __post_init__(self) -> None:
        found = _PATH.fullmatch(self.path)
        if not found:
            raise PlanError(
                [f"{self.path!r} names no parameter: write steps.<number from 0>.<parameter>, for instance steps.0.k"]
            )
        if int(found[1]) >= len(self.plan.steps):
            raise PlanError([f"{self.path!r}: the plan's steps are numbered from 0 to {len(self.plan.steps) - 1}"])
        self._check(found[2], found[3])

    def _check(self, field: str, column: str | None) -> None:
        step = self.plan.steps[self.step]
        if field in step.choices and column is None:
            return
        known = {name: _numbers(f.annotation) for name, f in type(step).model_fields.items()}
        single, by_column = known.get(field, (frozenset(), frozenset()))
        value = getattr(step, field, None)
        by = value if isinstance(value, Mapping) and by_column else {}
        entries = [n for n in by if n in step.changes]  # else it is of categories, such as a map of codes
        if column is None and entries:
            named = ", ".join(f"steps.{self.step}.{field}.{n}" for n in entries)
            raise PlanError([f"{self.path}: {field} is given by column; name one: {named}"])
        if column is not None and column not in entries:
            allowed = f"columns: {', '.join(entries)}" if entries else f"the plan does not give {field} by column"
            raise PlanError([f"{self.path}: there is no such number; {allowed}"])
        if not (by_column if column is not None else single):
            numeric = [name for name, takes in known.items() if takes[0] or takes[1]] + [*step.choices]
            allowed = f"numbers of {step.name}: {', '.join(numeric)}" if numeric else f"{step.name} has none"
            raise PlanError([f"{self.path}: there is no such number; {allowed}"])

    @property
    def step(self) -> int:
        """Number of the step, from 0."""
        return int(self.path.split(".")[1])

    @property
    def field(self) -> str:
        """Name of the parameter."""
        return self.path.split(".")[2]

    @property
    def column(self) -> str | None:
        """The column, where the plan gives the parameter by column."""
        parts = self.path.split(".", 3)
        return parts[3] if len(parts) > 3 else None

    @property
    def choices(self) -> tuple[str, ...]:
        """Of a choice its values, as a plan writes them; of a number none."""
        return () if self.column is not None else tuple(self.plan.steps[self.step].choices.get(self.field, ()))

    def number(self, text: str) -> int:
        """Number of a value of a choice.

        Raises
        ------
        PlanError
            Where it has no such value.
        """
        if text not in self.choices:
            raise PlanError([f"{self.path} is none of: {', '.join(self.choices)}"])
        return self.choices.index(text)

    def text(self, value: float) -> str:
        """A value as people read it."""
        return self.choices[int(value)] if self.choices else f"{value:g}"

    @property
    def whole(self) -> bool:
        """Whether it takes whole numbers only, as those of choices are."""
        if self.choices:
            return True
        single, by_column = _numbers(type(self.plan.steps[self.step]).model_fields[self.field].annotation)
        return (single if self.column is None else by_column) == {int}

    def tuned(self, value: float) -> Plan:
        """The plan with this value; defaults that follow from it (`min_stratum` from `k`) follow.

        Raises
        ------
        PlanError
            Where the step refuses the value.
        """
        step = self.plan.steps[self.step]
        given = _given(self.plan, self.step)
        number: Any = int(value) if self.whole else float(value)
        if self.choices:
            number = _CHOSEN.get(self.text(value), self.text(value))
        given[self.field] = number if self.column is None else {**given[self.field], self.column: number}
        try:
            changed = type(step).model_validate(given)
        except ValidationError as error:
            said = [sentence for _, sentence in plain_errors(error, given)]
            where, place = ("steps", self.step, self.field), f"{self.path} = {self.text(value)}"
            raise PlanError([Problem(sentence, path=where, place=place) for sentence in said]) from None
        steps = [changed if i == self.step else s for i, s in enumerate(self.plan.steps)]
        return Plan(**{**{name: getattr(self.plan, name) for name in Plan.model_fields}, "steps": steps}).beside(
            self.plan
        )


def _given(plan: Plan, number: int) -> dict[str, Any]:
    """What the plan itself says of a step: what its file states, else all that is not as its defaults have it."""
    step = plan.steps[number]
    stated = plan.stated(number)
    if stated and _made(step, given := step.model_dump(include={*stated})) == step:
        return given
    given = step.model_dump(include=step.model_fields_set | {"do"})
    for name in [n for n in given if n != "do"]:
        fewer = {n: v for n, v in given.items() if n != name}
        if _made(step, fewer) == step:
            given = fewer
    return given


def _made(step: Method, given: Mapping[str, Any]) -> Method | None:
    try:
        return type(step).model_validate(dict(given))
    except ValidationError:
        return None


def _numbers(annotation: Any) -> tuple[frozenset[type], frozenset[type]]:
    """The types of number that a parameter takes by itself, and by column."""
    if annotation in (int, float):
        return frozenset({annotation}), frozenset()
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _numbers(parts[0])
    if origin in (Union, UnionType):
        found = [_numbers(part) for part in parts]
        return frozenset().union(*(f[0] for f in found)), frozenset().union(*(f[1] for f in found))
    if origin is dict:
        return frozenset(), _numbers(parts[1])[0]
    return frozenset(), frozenset()
