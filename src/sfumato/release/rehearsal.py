"""A rehearsal: the plan run on half of the people, so that the others show what a release tells of anybody.

What a release tells of its people can only be told from what the data teach about everybody where there are people of
the same kind who are not in it. A release of all people has none left, so the plan is run once more on a keyed half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Synthetic
from sfumato.data.hidden import ROW
from sfumato.data.roles import IDS, Role
from sfumato.data.traces import keys_of
from sfumato.draws import Draws, Purpose, units
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.kernels.rows import row_hash, singled
from sfumato.measures.intruding import PAIRS_OF_RELEASES
from sfumato.measures.known import Known, whole_units
from sfumato.measures.registry import measure_of
from sfumato.measures.risk.inference_released import ATTACK_RELEASED
from sfumato.measures.risk.linkers.coding import categories
from sfumato.methods.base import Method
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan
from sfumato.release.intruder import comparable
from sfumato.release.run import repeat_step, run_step

__all__ = ["Rehearsed", "asks_for_rehearsal", "rehearse"]

Words = NDArray[np.uint64]

NOT_POSSIBLE = "Half of the people are too few for this plan, so that it could not be rehearsed: {why}"
REHEARSED = (
    "inference and membership are of a rehearsal: the plan was run on half of the people, and the others are the "
    "control. Among all people each is a little better hidden."
)


class _Apart(Draws):
    """The draws of the same secret for other purposes, so that a rehearsal repeats nothing of a release."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def words(
        self, unit: NDArray[np.uint64], what: Purpose, value: NDArray[np.uint64] | None = None
    ) -> NDArray[np.uint64]:
        """As in `Draws`; nobody remembers what was drawn, for nothing of it is released."""
        other = Purpose(f"rehearsal of {what.method}", what.column, what.strength, what.draw)
        return Draws.words(self._draws, unit, other, value)


class Rehearsed:
    """What a rehearsal came to.

    Parameters
    ----------
    known
        What is true of both halves, beside what was released of one; None where the plan cannot run on half.
    notes
        What is to be said of it.
    """

    def __init__(self, known: Known | None, notes: Sequence[str] = ()) -> None:
        self.known, self.notes = known, tuple(notes)


def asks_for_rehearsal(limits: Sequence[Limit]) -> bool:
    """Whether a limit speaks of a figure that needs people who are not in the release.

    Examples
    --------
    >>> asks_for_rehearsal([Limit(measure="inference", group="risk", at_most=0.1)])
    True
    """
    return any(_needs_others(limit) for limit in limits)


def _needs_others(limit: Limit) -> bool:
    """Whether a figure is of a control; what the nearest records of a release say has one of its own."""
    if limit.measure == "inference":
        return limit.attack != ATTACK_RELEASED
    measure = measure_of(limit.measure)
    return measure is not None and "control" in measure.needs


def rehearse(plan: Plan, steps: Sequence[Method], data: PolarsDataset, draws: Draws) -> Rehearsed:
    """Run steps on a keyed half of the people.

    Households stay together. Steps that mask nothing are done with the true values of all people, too, with what they
    have learned from the half: whoever knows a value can coarsen it.

    Parameters
    ----------
    plan
        The plan that the steps are of.
    steps
        The steps.
    data
        The table as it enters them, with the run's own numbers of records.
    draws
        The draws of the release; the rehearsal has others of the same secret.
    """
    apart = _Apart(draws)
    inside = _half(data, apart)
    if inside.all() or not inside.any():
        return Rehearsed(None, (NOT_POSSIBLE.format(why="one half holds nobody."),))
    told = {"table": plan.table_name, "plan": plan.digest}
    members = pl.Series(data.frame[ROW]).filter(pl.Series(inside))
    released = PolarsDataset(data.frame.filter(pl.Series(inside)), data.codebook, data.suffix)
    truth = data
    masked: set[str] = set()
    nobodys = False
    try:
        for step in steps:
            released, parts = run_step(step, released, apart, **told)
            said = (part for one, states in parts for part in one.disclose(states))
            nobodys |= any(isinstance(part, Synthetic) and part.kind == "full" for part in said)
            if step.masks:
                masked |= {*step.changes}
            elif not (step.replaces or masked & {*step.changes}):
                for one, states in parts:
                    truth = _emptied_not(truth, repeat_step(one, truth, states, apart, **told))
    except DataError as error:
        return Rehearsed(None, (NOT_POSSIBLE.format(why=error),))
    if not released.frame.height:
        return Rehearsed(None, (NOT_POSSIBLE.format(why="no record is left."),))
    there = truth.frame.filter(pl.col(ROW).is_in(members.implode()))
    left = there if nobodys else there.join(released.frame.select(ROW), on=ROW, how="semi", maintain_order="left")
    beside = truth.frame.filter(~pl.col(ROW).is_in(members.implode()))
    belong = _belonging(data, left[ROW], beside[ROW])
    people, others = left.drop(ROW), beside.drop(ROW)
    after = released.frame.drop(ROW)
    book = released.codebook.without(ROW)
    keys = keys_of(plan.traces, book)
    strange = [n for n in people.columns if n in after.columns and not comparable(people.schema[n], after.schema[n])]
    record = book.the(Role.RECORD)
    people, others = people.drop(strange), others.drop(strange)
    known = Known(people, after, book, keys, False, others, record, PAIRS_OF_RELEASES, belong)
    return Rehearsed(known, (REHEARSED,))


def _belonging(data: PolarsDataset, people: pl.Series, others: pl.Series) -> tuple[Words, Words] | None:
    """Who belongs together among the rows of both sides, as the file says it; ids may have gone, or be new, since."""
    one, two = (
        pl.DataFrame(side).join(data.frame, on=ROW, how="left", maintain_order="left") for side in (people, others)
    )
    return whole_units(one, two, data.codebook)


def _half(data: PolarsDataset, draws: Draws) -> NDArray[np.bool_]:
    """Who is in the half: a keyed draw for each household, else each record."""
    word = draws.words(_units(data), Purpose("half"))[:, 0]
    return np.asarray(word < np.uint64(2**63))


def _units(data: PolarsDataset) -> NDArray[np.uint64]:
    """What the draws of records are keyed on: ids, else their values, with equal rows told apart by a number.

    Equal rows are people whom nobody can tell apart. Were they all on one side, nobody of the control would be equal
    to a member, and members would be told for that alone.
    """
    for column in _ids(data):
        if not data.frame[column].null_count():
            return units(data.frame[column])
    columns = [n for n in data.columns if n != ROW and not data.frame.schema[n].is_nested()]
    (codes,), _ = categories([data.frame], columns, wildcard=False)
    return singled(row_hash(np.ascontiguousarray(codes.T.astype(np.float64))))


def _ids(data: PolarsDataset) -> Iterator[str]:
    for role in reversed(IDS):  # the widest first
        if (column := data.codebook.the(role)) is not None:
            yield column


def _emptied_not(before: PolarsDataset, after: PolarsDataset) -> PolarsDataset:
    """What is true after a step: where it only emptied cells of a column, the values are known all the same."""
    frame = after.frame
    left = before.frame.join(frame.select(ROW), on=ROW, how="semi", maintain_order="left")
    if left.height != frame.height or not left[ROW].equals(frame[ROW]):
        return after
    for n in (n for n in frame.columns if n in left.columns and frame.schema[n] == left.schema[n]):
        if frame[n].null_count() > left[n].null_count() and ((left[n] == frame[n]) | frame[n].is_null()).all():
            frame = frame.with_columns(left[n])
    return PolarsDataset(frame, after.codebook, after.suffix)
