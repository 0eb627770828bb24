"""What hangs on a custodian's word: how many fewer people are found if nobody outside knows a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.profile import Guess
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.linkage_released import found_by
from sfumato.measures.subject import RELEASED
from sfumato.plan.by_groups import FEWEST_RECORDS, GROUPS, exchange_of
from sfumato.plan.wishes import Wishes
from sfumato.progress import quiet
from sfumato.tuning.drafting import Trying, chosen_records, unit_of

__all__ = ["Hanging", "what_hangs_on"]

_QUESTIONS, _LOOKED_AT = 5, 12


@dataclass(frozen=True)
class Hanging:
    """What hangs on one column.

    Parameters
    ----------
    column
        Its name.
    now, then
        Share of the people who are found by the nearest record if all that leaves is known, and if this column is not.
    """

    column: str
    now: float
    then: float


def what_hangs_on(
    frame: pl.DataFrame, codebook: Codebook, guesses: Sequence[Guess], wishes: Wishes
) -> tuple[Hanging, ...]:
    """The columns on which most hangs, at most five; nothing where the file is too small to tell.

    An exchange in the smallest groups is tried, with draws that are thrown away; of the columns with most values each
    is taken from what is known.

    Parameters
    ----------
    frame, codebook
        The table, and what its file says of it.
    guesses
        What `profile` proposes.
    wishes
        What was said already; of these columns nothing is asked.
    """
    guesses = wishes.named(frame.columns).over(guesses)
    chosen = exchange_of(frame, guesses)
    if len(chosen.columns) < 2 or frame.height < FEWEST_RECORDS:
        return ()
    some = chosen_records(frame, unit_of(guesses))
    measured = Trying(PolarsDataset(some, codebook), wishes, quiet).measured(chosen, GROUPS[0])
    outsider = next((each for each in measured.seen.knowing if each.group == RELEASED), None)
    if measured.pair is None or outsider is None:
        return ()
    everything = found_by(measured.pair, outsider)
    if everything is None or everything.value is None:
        return ()
    said = {*wishes.keys, *wishes.unknown, *wishes.leave_out}
    free = [n for n in chosen.columns if n not in said]
    many = sorted(free, key=lambda n: (-some[n].n_unique(), n))[:_LOOKED_AT]
    found = []
    for column in many:
        less = replace(outsider, masked=tuple(n for n in outsider.masked if n != column))
        then = found_by(measured.pair, less)
        found.append(Hanging(column, everything.value, 0.0 if then is None or then.value is None else then.value))
    return tuple(sorted(found, key=lambda each: each.then)[:_QUESTIONS])
