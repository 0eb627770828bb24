"""The variables of the file as the plan takes them, each with the reason of its guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.roles import Role
from sfumato.errors import PlanError
from sfumato.plan.plan import Plan
from sfumato.web.problems import Problem
from sfumato.web.studio.planned import stands_alone
from sfumato.web.studio.studio import Studio

if TYPE_CHECKING:
    from sfumato.api.sketch import Gaps, Sketch

__all__ = ["Described", "described", "gaps_of", "place_of", "refuse_identifiers", "sketch_of"]

_STATED = "as the plan says"


@dataclass(frozen=True)
class Described:
    """A variable, as a line of the page Data has it.

    Parameters
    ----------
    name
        The column.
    variable
        As the plan takes it.
    reason
        Why `init` guesses this; or that the plan says otherwise. Empty until it is guessed.
    """

    name: str
    variable: Variable
    reason: str


def described(studio: Studio, *, wait: bool = True) -> list[Described]:
    """Every variable, in the file's order.

    Parameters
    ----------
    studio
        Whose file it is.
    wait
        For guesses that are not there yet; else names come with what the file says of them.
    """
    opened = studio.opened
    if not (wait or opened.drafted):
        table = opened.table
        return [Described(n, table.codebook.get(n, Variable()), "") for n in table.columns]
    guesses, planned = opened.draft.guesses, studio.planned
    try:
        plan = planned.plan
        name = studio.table_of(plan)
        plan = plan.table(name) if name is not None else Plan() if plan.tables else plan
    except PlanError:
        plan = Plan()
    table = opened.table

    def book() -> Codebook:
        try:
            return plan.codebook(table.frame, table.codebook)
        except PlanError:  # files that it names are not there
            return Plan().codebook(table.frame, table.codebook)

    known = opened.remember(("codebook", planned.text), book) if stands_alone(plan) else book()
    lines = []
    for guess in guesses:
        variable = known.get(guess.name, guess.variable)
        as_guessed = (variable.role, variable.kind) == (guess.variable.role, guess.variable.kind)
        lines.append(Described(guess.name, variable, guess.reason if as_guessed else _STATED))
    return lines


def refuse_identifiers(studio: Studio, names: Iterable[str]) -> None:
    """Refuse to measure classes by identifiers: their figures name each class, which would show every value.

    Raises
    ------
    Problem
        422 where the plan, or the draft, has a column for an identifier.
    """
    identifiers = {one.name for one in described(studio) if one.variable.role == Role.IDENTIFIER}
    if found := [name for name in names if name in identifiers]:
        raise Problem(
            422,
            f"{', '.join(map(repr, found))}: an identifier, whose values would be shown. Whoever knows it finds the "
            "person at once: give it another role in the plan to measure it.",
        )


def place_of(studio: Studio) -> tuple[str, ...]:
    """Where the plan speaks of the variables of the file that is open.

    Raises
    ------
    PlanError
        It has several tables, and the file is none of theirs.
    """
    plan = studio.planned.plan
    if not plan.tables:
        return ("variables",)
    if (name := studio.table_of(plan)) is None:
        raise PlanError(["the plan has several tables, and the file that is open is none of theirs"])
    return ("tables", name, "variables")


def sketch_of(studio: Studio, one: Described, *, everything: bool = False) -> Sketch:
    """The picture of a variable, as figures."""
    from sfumato.api.sketch import sketch

    opened = studio.opened
    key = ("sketch", one.name, one.variable.model_dump_json(exclude={"hierarchy", "label", "unit"}), everything)
    return opened.remember(key, lambda: sketch(opened.table, one.name, one.variable, everything=everything))


def gaps_of(studio: Studio, one: Described, *, everything: bool = False) -> Gaps | None:
    """Which values of a variable its hierarchy does not list; None where it has none."""
    from sfumato.api.sketch import gaps

    if not one.variable.hierarchy:
        return None
    opened = studio.opened
    key = ("gaps", one.name, one.variable.model_dump_json(), everything)
    return opened.remember(key, lambda: gaps(opened.table, one.name, one.variable, everything=everything))
