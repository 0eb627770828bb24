"""Draft a plan where it is said who knows what: what is known is protected, and all else leaves as it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.hidden import HIDDEN
from sfumato.data.kinds import Facts
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, Kind, Role
from sfumato.data.unseen import seen
from sfumato.errors import DataError
from sfumato.kernels.classes.cell_suppression import Suppression, suppress_cells
from sfumato.kernels.classes.missing_keys import count_with_missing
from sfumato.plan.draft import head, id_lines, refuse_betrayal, step_lines, unknown_lines, variable_lines
from sfumato.plan.drafted import DraftedPlan, LeftOut
from sfumato.plan.drafting import MOST_CELLS, SHARE, Steps, draft_steps
from sfumato.plan.wishes import Wishes

if TYPE_CHECKING:
    from sfumato.plan.edited import Edited

__all__ = ["draft_by_keys"]

Ints = NDArray[np.int64]

_TOO_FEW = "too few people would share it together with the other columns that are known"
_DATES = "how its dates are written could not be told"
_PLACE = "coordinates point to a place"
_WEIGHT = "a weight that is known tells people apart"
_EMPTY = "it holds no values"
_NOTHING = "none of the columns that are known can stay: too few people share any of them"
_NOBODY = "nobody is said to know anything of it: name at least one column that others may know"
_SHORT = "it holds fewer than {least} records"


@dataclass(frozen=True)
class _Asked:
    """What must hold for a purpose: records alike, and the share of the people who may be found."""

    k: int
    linked: float


_SMALL = (0.2, 0.15, 0.1, 0.07, SHARE)
"""Shares of the records in combinations that are too small, as they are tried."""
_MOST_KEYS = 62
"""Most keys of a step `suppress_cells`."""
_SHARED = 1.5
"""How much larger groups are where equal records share several: they are found as those of groups of k are."""
_ASKED = MappingProxyType({"scientific-use": _Asked(5, 0.2), "public-use": _Asked(12, 0.09)})


def draft_by_keys(
    frame: pl.DataFrame,
    guesses: Sequence[Guess],
    wishes: Wishes,
    title: str,
    edited: Edited | None = None,
) -> DraftedPlan:
    """Draft a plan that protects the columns that are known, and leaves all others as they are.

    What is done to a known column is as little as is enough, in this order: numbers are averaged among similar records,
    or cut into bands where they have few values or many gaps; rare categories are merged and bands widened; of at most
    one record in twenty single values are taken out, or such records are left out; and last a column leaves.

    Parameters
    ----------
    frame
        The table.
    guesses
        What `Wishes.over` gives.
    wishes
        What is known, what is not and why, and what for.
    title
        Title of the plan.
    edited
        An edited plan, which says it where the wishes do not, and whose title and variables stay.

    Raises
    ------
    DataError
        Where the reason holds the value of an identifier or id, or names of columns are sfumato's own.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.data.profile import profile
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "q1": [f"answer {i % 30}" for i in range(100)]})
    >>> wishes = Wishes(keys=("sex",))
    >>> drafted = draft_by_keys(rows, wishes.over(profile(rows, Codebook())), wishes, "answers")
    >>> drafted.known, drafted.unknown, drafted.left_out
    (('sex',), ('q1',), ())
    """
    if any(n.startswith(HIDDEN) for n in frame.columns):
        raise DataError(f"Names of columns that begin with {HIDDEN!r} are sfumato's own. Rename them first.")
    asked = _ASKED[wishes.purpose]
    told: Wishes | Edited = edited if edited is not None and not wishes.of_keys else wishes
    known = told.known(guesses)
    guesses = [_of_one_value(frame, g) if g.name in known else g for g in guesses]
    must_go = _must_go(frame, guesses, known, told)
    looked_up = [_as_key(g) for g in guesses if g.name in known and g.name not in must_go]
    apart = any(g.variable.role == Role.RECORD and g.name not in must_go for g in guesses)
    steps = _chosen(frame, looked_up, asked.k, wishes.keep, apart)
    left_out = (*_known_left_out(steps, known), *(LeftOut(n, why) for n, why in must_go.items()))
    steps = replace(steps, dropped=(*must_go, *steps.dropped))
    released = [g for g in guesses if g.name not in {one.column for one in left_out}]
    columns = [g.name for g in released if g.variable.role not in IDS]
    unknown = told.stated(columns, known)
    refuse_betrayal(unknown, frame, guesses)
    nothing = _why_nothing(frame.height, known, columns, asked)
    lines = [
        *_left_out_lines([one for one in left_out if one.column in known], nothing),
        *(head(title) if edited is None else edited.head()),
        *variable_lines(guesses, {} if edited is None else edited.lines(guesses)),
        *step_lines(steps),
        *id_lines([g for g in released if g.variable.role in IDS], ()),
        *unknown_lines(unknown),
        *_limit_lines(steps, asked),
    ]
    return DraftedPlan(
        text=seen("\n".join(lines) + "\n", lines=True),
        purpose=wishes.purpose,
        method="keys",
        known=known,
        unknown=tuple(n for n in columns if n not in known),
        kept=tuple(g.name for g in released),
        left_out=left_out,
        group=asked.k,
        open=not all(each.decided for each in unknown),
        because=nothing,
    )


def _must_go(
    frame: pl.DataFrame, guesses: Sequence[Guess], known: Collection[str], told: Wishes | Edited
) -> dict[str, str]:
    """Columns that leave for what they are, each with the reason."""
    found = {g.name: why for g in guesses if (why := _why_it_goes(g, known, told)) is not None}
    empty = (g for g in guesses if g.name in known and Facts(frame.get_column(g.name), g.variable).values.is_empty())
    return found | {g.name: _EMPTY for g in empty if g.name not in found}


def _why_nothing(records: int, known: Collection[str], released: Sequence[str], asked: _Asked) -> str | None:
    """Why nothing can be released in this way; None where something can."""
    if records < 2 * asked.k:
        return _SHORT.format(least=2 * asked.k)
    if not known:
        return _NOBODY
    return None if set(known) & set(released) else _NOTHING


def _chosen(frame: pl.DataFrame, guesses: Sequence[Guess], k: int, kept: Collection[str], apart: bool) -> Steps:
    """The steps that leave most keys, and these finest: with few single values gone, or else few records.

    How many records may stand in combinations that are too small is tried from many to few: each of them loses a value
    at least, and of no key more than a share of its values may go.

    Parameters
    ----------
    frame, guesses, k, kept
        As in `draft_steps`.
    apart
        Whether ids tell equal records apart.
    """
    averages = partial(draft_steps, frame, guesses, kept=kept, average=True)
    found = list(_candidates(lambda share: _averaged(averages, frame, k, share, apart), len(guesses)))
    if all(steps.crowded for steps in found):  # averages need twice as many alike as bands
        found += _candidates(lambda share: draft_steps(frame, guesses, k, kept, share, average=False), len(guesses))
    return min(found, key=lambda steps: len(steps.crowded))  # of as many the first


def _averaged(draft: Callable[..., Steps], frame: pl.DataFrame, k: int, share: float, apart: bool) -> Steps:
    """Steps with averages: where nothing tells equal records apart they share, so that groups must be larger."""
    steps = draft(k=k, share=share)
    tied = (n in steps.years or frame.get_column(n).drop_nulls().is_duplicated().any() for n in steps.averaged)
    return draft(k=math.ceil(_SHARED * k), share=share) if not apart and any(tied) else steps


def _candidates(draft: Callable[[float], Steps], keys: int) -> Iterator[Steps]:
    for share in (part for part in _SMALL if part <= max(SHARE, MOST_CELLS * keys)):
        steps = draft(share)
        cells = steps.some_small and not steps.averaged and _cells_are_enough(steps)
        if cells or not steps.some_small or share == SHARE:
            yield replace(steps, cells=cells)


def _why_it_goes(guess: Guess, known: Collection[str], told: Wishes | Edited) -> str | None:
    """Why a column leaves for what it is; None where it stays, or is known and looked at with the others."""
    variable = guess.variable
    if guess.leaves or variable.role == Role.IDENTIFIER:
        return guess.reason
    if guess.name in known or variable.role in IDS:
        return None
    if variable.kind == Kind.TEXT:
        return guess.reason
    return _WEIGHT if variable.role == Role.WEIGHT and not told.says_unknown(guess.name) else None


def _of_one_value(frame: pl.DataFrame, guess: Guess) -> Guess:
    """A number that has one value, and gaps that tell people apart, is a category."""
    facts = Facts(frame.get_column(guess.name), guess.variable)
    if not guess.variable.numeric or not 0 < len(facts.values) < frame.height or facts.values.n_unique() > 1:
        return guess
    return replace(guess, variable=guess.variable.model_copy(update={"kind": Kind.CATEGORICAL, "range": None}))


def _as_key(guess: Guess) -> Guess:
    """A column that is known, as the choice of steps takes it: texts are categories."""
    update = {"role": Role.KEY} | ({"kind": Kind.CATEGORICAL} if guess.variable.kind == Kind.TEXT else {})
    return replace(guess, variable=guess.variable.model_copy(update=update))


def _cells_are_enough(steps: Steps) -> bool:
    """Whether few single values of keys need to go so that nobody has to be left out.

    The step takes a gap for any value, those of the file too. Nobody may be hidden by these alone: who knows that a
    person has a value looks for it first among the records that show it.
    """
    codes = np.column_stack([steps.codes[n] for n in steps.keys]) - 1  # −1: missing
    differ = np.array([len(np.unique(column[column >= 0])) > 1 for column in codes.T])
    alone = (codes[:, ~differ] < 0).any()  # keys of one value take no part in the step, and who has it stands out
    if len(steps.keys) > _MOST_KEYS or alone:
        return False
    codes = codes[:, differ]
    patterns, counts = np.unique(codes, axis=0, return_counts=True)
    counts, caps = counts.astype(np.int64), np.full(codes.shape[1], MOST_CELLS)
    done = suppress_cells(patterns, counts, steps.smallest, caps=caps)
    return not done.below and not _hidden_by_gaps(patterns, counts, done, steps.smallest)


def _hidden_by_gaps(patterns: Ints, counts: Ints, done: Suppression, k: int) -> int:
    """Records without gaps of the file that fewer than k of these match: only what was taken out may be any value."""
    left = counts.copy()
    np.subtract.at(left, done.pattern, done.records)
    whole = np.asarray((patterns >= 0).all(axis=1))
    after = np.concatenate([patterns, np.where(done.blank, -1, patterns[done.pattern])])
    records = np.concatenate([left * whole, done.records * whole[done.pattern]])
    after, which = np.unique(after[records > 0], axis=0, return_inverse=True)
    each = np.bincount(which.ravel(), weights=records[records > 0], minlength=len(after)).astype(np.int64)
    return int(each[count_with_missing(after, each, alpha=1.0).f < k].sum())


def _known_left_out(steps: Steps, known: Collection[str]) -> Iterator[LeftOut]:
    for n in known:
        if n in steps.crowded:
            yield LeftOut(n, _TOO_FEW)
        elif n in steps.dropped:
            yield LeftOut(n, _DATES if n in steps.unread else _PLACE if n in steps.coordinates else _TOO_FEW)


def _left_out_lines(left_out: Sequence[LeftOut], nothing: str | None) -> Iterator[str]:
    if nothing is not None:
        yield f"# This file cannot be released in this way because {nothing}."
        return
    for one in left_out:
        yield f"# {one.column!r} is left out: {one.because}."


def _limit_lines(steps: Steps, asked: _Asked) -> Iterator[str]:
    rows = [f"  - {{measure: k_anonymity, at_least: {asked.k}}}"] if steps.keys or steps.constant else []
    if steps.averaged:
        rows += [
            f"  - {{measure: {name}, at_most: {asked.linked}}}" for name in ("linkage_nearest", "linkage_one_to_one")
        ]
    if rows:
        yield "# What must hold, or the release is not written."
        yield "limits:"
        yield from rows
