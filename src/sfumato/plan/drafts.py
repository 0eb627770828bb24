"""Draft a plan from what is guessed, what the custodian says, and perhaps a plan that was edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from sfumato.data.profile import Guess
from sfumato.errors import DataError
from sfumato.plan.draft import draft_plan
from sfumato.plan.wishes import Wishes

if TYPE_CHECKING:
    from sfumato.plan.drafted import DraftedPlan
    from sfumato.plan.edited import Edited

__all__ = ["draft_for"]

_NONE = Wishes()


def draft_for(
    frame: pl.DataFrame,
    guesses: Sequence[Guess],
    title: str,
    wishes: Wishes = _NONE,
    edited: Edited | None = None,
) -> tuple[str, tuple[Guess, ...], DraftedPlan | None]:
    """Draft a plan.

    Parameters
    ----------
    frame
        The table.
    guesses
        What `profile` proposes.
    title
        Title of the plan, where no edited one has it.
    wishes
        What the custodian says.
    edited
        An edited plan, whose variables come before what is guessed and after the wishes.

    Returns
    -------
    text
        The plan as YAML.
    guesses
        What each variable is taken for.
    drafted
        What the plan does, where it is said who knows what.

    Raises
    ------
    DataError
        Where wishes name columns that are not there, or contradict each other.
    PlanError
        Where the edited plan does.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.data.profile import profile
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "q1": ["a", "b"] * 50})
    >>> text, _, drafted = draft_for(rows, profile(rows, Codebook()), "answers", Wishes(keys=("sex",)))
    >>> drafted.known, drafted.unknown
    (('sex',), ('q1',))
    """
    wishes = wishes.named(frame.columns)
    if edited is not None:
        edited.check(frame.columns)
        guesses, frame = edited.over(guesses), edited.plan.read(frame)
    guesses = wishes.over(guesses)
    if wishes.record is not None and not _are_ids(frame.get_column(wishes.record)):
        raise DataError(f"{wishes.record!r} is no id of the records: ids are whole numbers or texts, one for each.")
    if wishes.of_keys or (edited is not None and edited.of_keys):
        from sfumato.plan.by_keys import draft_by_keys  # with kernels that no other draft needs

        drafted = draft_by_keys(frame, guesses, wishes, title, edited)
        return drafted.text, guesses, drafted
    return draft_plan(frame, guesses, title, edited), guesses, None


def _are_ids(column: pl.Series) -> bool:
    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum)):
        return False
    return not column.null_count() and column.n_unique() == len(column)
