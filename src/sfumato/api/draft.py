"""Draft a plan for a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.api.read import read
from sfumato.data.looking import Looking
from sfumato.data.profile import Guess, profile
from sfumato.plan.wishes import Wishes
from sfumato.progress import Progress, quiet, split
from sfumato.tuning.drafts import draft_copy_for, draft_for

if TYPE_CHECKING:
    from sfumato.plan.drafted import DraftedPlan
    from sfumato.plan.edited import Edited
    from sfumato.plan.plan import Plan
    from sfumato.plan.relations import Relation
    from sfumato.tuning.synthetic import Trial

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
    relations
        Of a synthetic copy, the relations that were found; those that are not `written` are for the custodian alone.
    trials
        Of a synthetic copy, what settings came to, where they were tried; confidential.
    """

    drafted: DraftedPlan
    guesses: tuple[Guess, ...]
    relations: tuple[Relation, ...] = ()
    trials: tuple[Trial, ...] = ()

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
    synthetic: bool = False,
    trying: bool = False,
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
    synthetic
        Draft a synthetic copy: all values drawn anew, and relations of the table kept.
    trying
        Of a synthetic copy: try three ways to draw it, and choose by what they cost.
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
    given = (table.frame, table.codebook, guesses, title, wishes or Wishes(), edited)
    if synthetic:
        copy, said = draft_copy_for(*given, trying=trying, progress=drafting)
        return Draft(copy.drafted, said, copy.relations, copy.trials)
    return Draft(*draft_for(*given, drafting))


def _edited(roles: Plan) -> Edited:
    from sfumato.plan.edited import Edited  # with all methods, which other drafts do not need

    return Edited(roles)
