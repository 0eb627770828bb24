"""Draft a plan for a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.api.read import read
from sfumato.data.looking import Looking
from sfumato.data.profile import Guess, profile
from sfumato.plan.wishes import Wishes
from sfumato.progress import Progress, quiet, split
from sfumato.tuning.drafts import draft_for

if TYPE_CHECKING:
    from sfumato.plan.drafted import DraftedPlan
    from sfumato.plan.edited import Edited
    from sfumato.plan.plan import Plan

__all__ = ["Draft", "draft"]

_USUAL = Looking()


@dataclass(frozen=True)
class Draft:
    """A drafted plan, and what it was drafted from.

    Parameters
    ----------
    drafted
        The plan, and what it does.
    guesses
        What each variable seems to be.
    """

    drafted: DraftedPlan
    guesses: tuple[Guess, ...]

    @property
    def text(self) -> str:
        """The plan as YAML, with a reason on every line of a variable."""
        return self.drafted.text


def draft(
    data: Any,
    title: str,
    *,
    wishes: Wishes | None = None,
    roles: Plan | None = None,
    looking: Looking = _USUAL,
    progress: Progress = quiet,
) -> Draft:
    """Draft a commented plan for a table: a role and a kind for each variable, steps that protect, and limits.

    Nothing is guessed silently: every guess is a line with its reason, for the custodian to change. The plan holds no
    count and no rare value.

    Parameters
    ----------
    data
        What `read` gives or takes.
    title
        Title of the plan; of a file its name without ending.
    wishes
        What the custodian says: who knows what, which columns matter, what for.
    roles
        An edited plan: its title, its variables and what it says that nobody knows stay.
    looking
        Which personal data are looked for in texts and labels.
    progress
        As in `protect`.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"email": ["a@example.org", "b@example.org"], "age": [31, 45]})
    >>> [(guess.name, str(guess.variable.role)) for guess in draft(frame, "people").guesses]
    [('email', 'identifier'), ('age', 'key')]
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "q1": ["a", "b"] * 50})
    >>> draft(rows, "answers", wishes=Wishes(keys=("sex",))).drafted.unknown
    ('q1',)
    """
    table = read(data)
    looked, drafting = split(progress, (3, 7))
    guesses = profile(table.frame, table.codebook, looked, looking)
    drafting("drafting a plan", 0)
    edited = None if roles is None else _edited(roles)
    return Draft(*draft_for(table.frame, table.codebook, guesses, title, wishes or Wishes(), edited, drafting))


def _edited(roles: Plan) -> Edited:
    from sfumato.plan.edited import Edited  # with all methods, which other drafts do not need

    return Edited(roles)
