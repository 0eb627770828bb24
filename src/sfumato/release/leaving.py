"""The steps run once more without one person: would the next release draw everybody anew, or tell who left?"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.hidden import HIDDEN, ROW
from sfumato.data.pair import numbers
from sfumato.data.roles import Role
from sfumato.draws import Draws, Purpose, units
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.leaving import Leaving
from sfumato.plan.plan import Plan
from sfumato.release.run import Ran, run_plan
from sfumato.release.taking import Taking

__all__ = ["NOT_IN_MEMORY", "NOT_RUN", "without_a_person"]

Bools = NDArray[np.bool_]

UNASKED = True
"""Whether it is done where nobody says so."""
MOST_RECORDS = 100_000
MOST_WORK = 400_000.0
"""Records times columns times effort of the steps that are run again unasked: about a second each time."""
NOT_RUN = "The steps were not run again without one person, which would take long: --leaver does it."
NOT_IN_MEMORY = (
    "The steps are run again without one person on tables in memory alone: redrawn and leaver were not measured."
)
_FEWEST = 10


def without_a_person(
    plan: Plan,
    entering: PolarsDataset,
    ran: Ran[PolarsDataset],
    draws: Draws,
    taking: Taking | None = None,
    wanted: bool | None = None,
) -> tuple[tuple[Leaving, ...], tuple[str, ...]]:
    """Run the steps without a random person, chosen by a keyed draw, and without the one farthest out.

    A person is whom the role `person` says, else a record. Farthest out is who has the largest squared distance from
    the medians of what is masked, in interquartile ranges.

    Parameters
    ----------
    plan, entering, ran
        The plan, the table with the run's own numbers of records, and what its run left behind.
    draws
        Of the release: another release has the same.
    taking
        From which earlier releases steps take what they disclosed.
    wanted
        Whether it is done; None: where that is little work, which hangs on records, columns and steps alone.

    Returns
    -------
    tuple
        What came of it, and a note where it was not done for the work that it would be.
    """
    steps = [step for step in plan.steps if step.masks or step.coarsens]
    learns = any(step.masks or _replaces(step) for step in steps) and not ran.disclosure.synthetic
    if not learns or not (UNASKED if wanted is None else wanted):
        return (), ()
    records = entering.frame.height
    work = records * sum(step.effort * max(len(step.changes), 1) for step in steps)
    if wanted is None and (records > MOST_RECORDS or work > MOST_WORK):
        return (), (NOT_RUN,)
    changed = [n for n in dict.fromkeys(n for step in steps for n in step.changes) if n in ran.after.codebook]
    found = []
    for attack, gone in _leavers(plan, entering, ran, draws, changed):
        less = PolarsDataset(entering.frame.filter(~pl.Series(gone)), entering.codebook, entering.suffix)
        try:
            again = run_plan(plan, less, draws, taking=taking)
        except DataError:  # too few are left of something
            continue
        found.append(_beside(attack, gone, entering, ran, again, changed))
    return tuple(found), ()


def _replaces(step: object) -> bool:
    """Whether a step puts a figure of several people in the place of their values."""
    return getattr(step, "replace", None) in ("mean", "median")


def _leavers(
    plan: Plan, entering: PolarsDataset, ran: Ran[PolarsDataset], draws: Draws, changed: list[str]
) -> list[tuple[Literal["random", "extreme"], Bools]]:
    """Whose records are left out: two persons, or one where that is the same."""
    column = entering.codebook.the(Role.PERSON) or entering.codebook.the(Role.RECORD)
    rows = ran.after.frame[ROW]
    there = entering.frame.filter(pl.col(ROW).is_in(rows.implode()))
    ids = there[column] if column is not None else there[ROW]
    if ids.drop_nulls().n_unique() < _FEWEST:
        return []
    known = ids.is_not_null().to_numpy()
    word = Draws.words(draws, units(ids.fill_null(strategy="max")), Purpose("leaver"))[:, 0]
    random = ids[int(np.flatnonzero(known)[np.argmin(word[known])])]
    amounts = [n for n in changed if n in there.columns and entering.codebook[n].numeric]
    chosen: list[tuple[Literal["random", "extreme"], object]] = [("random", random)]
    if amounts:
        x = numbers(there, amounts, entering.codebook)
        low, middle, high = np.nanquantile(x, (0.25, 0.5, 0.75), axis=0)
        far = np.nansum(((x - middle) / np.where(high > low, high - low, 1.0)) ** 2, axis=1)
        chosen.append(("extreme", ids[int(np.argmax(np.where(known, far, -1.0)))]))
    every = entering.frame[column if column is not None else ROW]
    return [(attack, (every == one).fill_null(False).to_numpy()) for attack, one in chosen]


def _beside(
    attack: Literal["random", "extreme"],
    gone: Bools,
    entering: PolarsDataset,
    ran: Ran[PolarsDataset],
    again: Ran[PolarsDataset],
    changed: list[str],
) -> Leaving:
    """Both releases row by row, with what was true."""
    then, frames = ran.after.frame, []
    left = then[ROW].is_in(entering.frame.filter(pl.Series(gone))[ROW].implode())
    for data in (ran.given, again.after):
        there = [n for n in changed if n in data.frame.columns and not n.startswith(HIDDEN)]
        frames.append(then.select(ROW).join(data.frame.select(ROW, *there), on=ROW, how="left", maintain_order="left"))
    true, now = frames
    return Leaving(
        attack, true, then.select(ROW, *changed), now, left, ran.after.codebook, (ran.disclosure, again.disclosure)
    )
