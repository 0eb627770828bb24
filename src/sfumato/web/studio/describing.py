"""The variables of the file as the plan takes them, each with the reason of its guess."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.data.codebook import Variable
from sfumato.errors import PlanError
from sfumato.plan.plan import Plan
from sfumato.web.studio.studio import Studio

__all__ = ["Described", "described"]

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
        Why `init` guesses this; or that the plan says otherwise.
    """

    name: str
    variable: Variable
    reason: str


def described(studio: Studio) -> list[Described]:
    """Every variable, in the file's order."""
    table, guesses = studio.opened.table, studio.opened.draft.guesses
    try:
        book = studio.planned.plan.codebook(table.frame, table.codebook)
    except PlanError:  # of several tables, or of other columns: the file's own
        book = Plan().codebook(table.frame, table.codebook)
    lines = []
    for guess in guesses:
        variable = book.get(guess.name, guess.variable)
        as_guessed = (variable.role, variable.kind) == (guess.variable.role, guess.variable.kind)
        lines.append(Described(guess.name, variable, guess.reason if as_guessed else _STATED))
    return lines
