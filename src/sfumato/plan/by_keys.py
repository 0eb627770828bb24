"""Draft a plan where it is said who knows what: what is known is protected, and all else leaves as it is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sfumato.data.hidden import HIDDEN
from sfumato.data.profile import Guess
from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError
from sfumato.kernels.classes.cell_suppression import suppress_cells
from sfumato.plan.draft import head, id_lines, step_lines, variable_lines
from sfumato.plan.drafted import DraftedPlan, LeftOut
from sfumato.plan.drafting import MOST_CELLS, SHARE, Steps, draft_steps
from sfumato.plan.spelling import yaml_list
from sfumato.plan.unknown import IDS, OTHERS, Unknown
from sfumato.plan.wishes import Wishes

if TYPE_CHECKING:
    from sfumato.plan.edited import Edited

__all__ = ["draft_by_keys"]

_TOO_FEW = "too few people would share it together with the other columns that are known"
_DATES = "how its dates are written could not be told"
_PLACE = "coordinates point to a place"
_WEIGHT = "a weight that is known tells people apart"
_NOTHING = "none of the columns that are known can stay: too few people share any of them"


@dataclass(frozen=True)
class _Asked:
    """What must hold for a purpose: records alike, and the share of the people who may be found."""

    k: int
    linked: float


_SMALL = (0.2, 0.15, 0.1, 0.07, SHARE)
"""Shares of the records in combinations that are too small, as they are tried."""
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
    must_go = {g.name: why for g in guesses if (why := _why_it_goes(g, known, told)) is not None}
    steps = _chosen(frame, [_as_key(g) for g in guesses if g.name in known], asked.k, wishes.keep)
    left_out = [*_known_left_out(steps, known), *(LeftOut(n, why) for n, why in must_go.items())]
    steps = replace(steps, dropped=(*must_go, *steps.dropped))
    gone = {one.column for one in left_out}
    released = [g for g in guesses if g.name not in gone]
    columns = [g.name for g in released if g.variable.role not in IDS]
    unknown = told.stated(columns, known)
    nothing = None if {*known} - gone or not known else _NOTHING
    lines = [
        *_left_out_lines([one for one in left_out if one.column not in must_go], nothing),
        *(head(title) if edited is None else edited.head()),
        *variable_lines(guesses, {} if edited is None else edited.lines(guesses)),
        *step_lines(steps),
        *id_lines([g for g in released if g.variable.role in IDS], ()),
        *_unknown_lines(unknown),
        *_limit_lines(steps, asked),
    ]
    return DraftedPlan(
        text="\n".join(lines) + "\n",
        purpose=wishes.purpose,
        method="keys",
        known=known,
        unknown=tuple(n for n in columns if n not in known),
        kept=tuple(g.name for g in released),
        left_out=tuple(left_out),
        group=asked.k,
        open=not all(each.decided for each in unknown),
        because=nothing,
    )


def _chosen(frame: pl.DataFrame, guesses: Sequence[Guess], k: int, kept: Collection[str]) -> Steps:
    """The steps that leave most keys, and these finest: with few single values gone, or else few records.

    How many records may stand in combinations that are too small is tried from many to few: each of them loses a value
    at least, and of no key more than a share of its values may go.
    """
    found = list(_candidates(frame, guesses, k, kept, average=True))
    if all(steps.crowded for steps in found):  # averages need twice as many alike as bands
        found += _candidates(frame, guesses, k, kept, average=False)
    return min(found, key=lambda steps: len(steps.crowded))  # of as many the first


def _candidates(
    frame: pl.DataFrame, guesses: Sequence[Guess], k: int, kept: Collection[str], average: bool
) -> Iterator[Steps]:
    for share in (part for part in _SMALL if part <= max(SHARE, MOST_CELLS * len(guesses))):
        steps = draft_steps(frame, guesses, k, kept, share, average)
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


def _as_key(guess: Guess) -> Guess:
    """A column that is known, as the choice of steps takes it: texts are categories."""
    update = {"role": Role.KEY} | ({"kind": Kind.CATEGORICAL} if guess.variable.kind == Kind.TEXT else {})
    return replace(guess, variable=guess.variable.model_copy(update=update))


def _cells_are_enough(steps: Steps) -> bool:
    """Whether few single values of keys need to go so that nobody has to be left out."""
    codes = np.column_stack([steps.codes[n] for n in steps.keys]) - 1  # −1: missing, and matches any value
    codes = codes[:, [len(np.unique(column[column >= 0])) > 1 for column in codes.T]]  # as the step has it
    patterns, counts = np.unique(codes, axis=0, return_counts=True)
    caps = np.full(codes.shape[1], MOST_CELLS)
    return not suppress_cells(patterns, counts.astype(np.int64), steps.smallest, caps=caps).below


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
        yield f"# {one.column!a} is left out: {one.because}."


def _unknown_lines(unknown: Sequence[Unknown]) -> Iterator[str]:
    if not unknown:
        return
    yield "# What nobody outside knows of anybody, and why: the reason is published."
    if not all(each.decided for each in unknown):
        yield '# Write it in place of "?".'
    yield "unknown:"
    for each in unknown:
        columns = OTHERS if each.columns == OTHERS else yaml_list(each.columns)
        yield f"  - {{columns: {columns}, because: {json.dumps(each.because, ensure_ascii=False)}}}"


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
