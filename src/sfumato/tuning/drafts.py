"""Draft a plan from what is guessed, what the custodian says, and perhaps a plan that was edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.profile import Guess
from sfumato.errors import DataError
from sfumato.plan.wishes import Wishes
from sfumato.progress import Progress, quiet

if TYPE_CHECKING:
    from sfumato.plan.drafted import DraftedPlan
    from sfumato.plan.edited import Edited
    from sfumato.tuning.synthetic import DraftedCopy

__all__ = ["draft_copy_for", "draft_for"]

_NONE = Wishes()


def draft_for(
    frame: pl.DataFrame,
    codebook: Codebook,
    guesses: Sequence[Guess],
    title: str,
    wishes: Wishes = _NONE,
    edited: Edited | None = None,
    progress: Progress = quiet,
) -> tuple[DraftedPlan, tuple[Guess, ...]]:
    """Draft a plan: where it is said who knows what, one that protects that alone; else an exchange within groups.

    Parameters
    ----------
    frame, codebook
        The table, and what its file says of it.
    guesses
        What `profile` proposes.
    title
        Title of the plan, where no edited one has it.
    wishes
        What the custodian says.
    edited
        An edited plan, whose variables come before what is guessed and after the wishes.
    progress
        Called before each trial.

    Returns
    -------
    drafted
        The plan, and what it does.
    guesses
        What each variable is taken for.

    Raises
    ------
    DataError
        Where wishes name columns that are not there, or contradict each other.
    PlanError
        Where the edited plan does.

    Examples
    --------
    >>> from sfumato.data.profile import profile
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "q1": ["a", "b"] * 50})
    >>> guessed = profile(rows, Codebook())
    >>> drafted, _ = draft_for(rows, Codebook(), guessed, "answers", Wishes(keys=("sex",)))
    >>> drafted.known, drafted.unknown
    (('sex',), ('q1',))
    """
    frame, guesses, wishes = _said(frame, guesses, wishes, edited)
    if wishes.of_keys or (edited is not None and edited.of_keys):
        from sfumato.plan.by_keys import draft_by_keys  # with kernels that no other draft needs

        return draft_by_keys(frame, guesses, wishes, title, edited), guesses
    from sfumato.tuning.drafting import draft_by_groups  # runs and measures, which a draft by keys does not

    return draft_by_groups(frame, codebook, guesses, wishes, title, edited, progress), guesses


def draft_copy_for(
    frame: pl.DataFrame,
    codebook: Codebook,
    guesses: Sequence[Guess],
    title: str,
    wishes: Wishes = _NONE,
    edited: Edited | None = None,
    *,
    trying: bool = False,
    progress: Progress = quiet,
) -> tuple[DraftedCopy, tuple[Guess, ...]]:
    """Draft a plan for a synthetic copy.

    Parameters
    ----------
    frame, codebook, guesses, title, wishes, edited, progress
        As of `draft_for`.
    trying
        Whether settings are tried.

    Returns
    -------
    copy
        The plan, and what was found on the way.
    guesses
        What each variable is taken for.

    Raises
    ------
    DataError, PlanError
        As in `draft_for`.

    Examples
    --------
    >>> from sfumato.data.profile import profile
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "q1": ["a", "b"] * 50})
    >>> copy, _ = draft_copy_for(rows, Codebook(), profile(rows, Codebook()), "answers")
    >>> copy.drafted.method, copy.settings.method
    ('synthesise', 'cart')
    """
    from sfumato.tuning.synthetic import draft_synthetic  # with methods that other drafts do not need

    frame, guesses, wishes = _said(frame, guesses, wishes, edited)
    made = draft_synthetic(frame, codebook, guesses, title, wishes, edited, trying=trying, progress=progress)
    return made, made.guesses


def _said(
    frame: pl.DataFrame, guesses: Sequence[Guess], wishes: Wishes, edited: Edited | None
) -> tuple[pl.DataFrame, tuple[Guess, ...], Wishes]:
    """The table as an edited plan reads it, what each variable is taken for, and wishes with names for patterns."""
    wishes = wishes.named(frame.columns)
    if edited is not None:
        edited.check(frame.columns)
        guesses, frame = edited.over(guesses), edited.plan.read(frame)
    guesses = wishes.over(guesses)
    if wishes.record is not None and not _are_ids(frame.get_column(wishes.record)):
        raise DataError(f"{wishes.record!r} is no id of the records: ids are whole numbers or texts, one for each.")
    return frame, guesses, wishes


def _are_ids(column: pl.Series) -> bool:
    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum)):
        return False
    return not column.null_count() and column.n_unique() == len(column)
