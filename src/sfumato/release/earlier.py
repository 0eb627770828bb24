"""Earlier releases of the same people, made ready to be compared with a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure
from sfumato.data.roles import Role
from sfumato.draws import PUBLIC
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.earlier import MOST_EARLIER, Earlier
from sfumato.plan.plan import Plan
from sfumato.release.pairing import refuse_unknown
from sfumato.release.run import run_steps

__all__ = ["Before", "as_entered", "before", "refuse_without", "with_record"]

_LEAVES_OUT = ("complete_cases", "sample", "suppress_strata")
"""Steps after which a table lacks people, whose true values are wanted all the same."""


@dataclass(frozen=True)
class Before:
    """What a new release is compared with.

    Parameters
    ----------
    releases
        The earlier releases, newest first.
    truth
        True values of the people in the new one; None where they come from elsewhere.
    """

    releases: tuple[Earlier, ...]
    truth: pl.DataFrame | None = None


def before(
    releases: Sequence[tuple[PolarsDataset, Disclosure]],
    truths: Sequence[PolarsDataset],
    plan: Plan | None,
    now: PolarsDataset | None = None,
) -> Before:
    """Put earlier releases and true values together.

    Parameters
    ----------
    releases
        Each earlier release with what it tells, newest first.
    truths
        True values, newest first: one table for all releases, or one for the new release and one for each earlier one.
    plan
        The new release's plan: its preparing steps are run on true values that have the columns.
    now
        True values of the new release, where they are known apart from `truths`, which are then those of the others.

    Raises
    ------
    DataError
        Where there are too many releases, or too few or too many tables of true values.

    Examples
    --------
    >>> then = PolarsDataset(pl.DataFrame({"id": [1], "age": [40]}), Codebook())
    >>> before([(then, Disclosure())], [then], None).truth.columns
    ['id', 'age']
    """
    if len(releases) > MOST_EARLIER:
        raise DataError(f"At most {MOST_EARLIER} earlier releases are compared with one. Leave the oldest out.")
    given = list(truths) if now is None else [now, *truths]
    if not given or len(given) not in (1, len(releases) + 1):
        raise DataError(
            "Give the true values (--truth, truth=) once for all releases, or once for the new release and once for "
            "each earlier one, newest first."
        )
    entered = [as_entered(t, plan) for t in given]
    of = entered[1:] if len(entered) > 1 else entered * len(releases)
    earlier = tuple(
        Earlier(data.frame, truth, told, data.codebook) for (data, told), truth in zip(releases, of, strict=True)
    )
    return Before(earlier, entered[0])


def as_entered(truth: PolarsDataset, plan: Plan | None) -> pl.DataFrame:
    """True values as they enter the first step that masks, as far as they have the columns; nobody is left out.

    Examples
    --------
    >>> plan = Plan.from_yaml("sfumato: 1\\nsteps:\\n- {do: derive, column: age, formula: 'min(age, 80)'}\\n")
    >>> as_entered(PolarsDataset(pl.DataFrame({"age": [40, 95]}), Codebook()), plan)["age"].to_list()
    [40, 80]
    """
    if plan is None:
        return truth.frame
    frame = plan.read(truth.frame)
    data = PolarsDataset(frame, plan.codebook(frame, truth.codebook))
    for step in plan.preparing():
        if step.name not in _LEAVES_OUT and step.name != "drop" and not step.check(data.codebook):
            data = run_steps([step], data, PUBLIC).after
    return data.frame


def refuse_without(record: str, now: pl.DataFrame, past: Before) -> None:
    """Refuse a record column that some of the tables lack.

    Raises
    ------
    DataError
        With the columns that there are.
    """
    refuse_unknown((record,), now, "the new release")
    for each in past.releases:
        refuse_unknown((record,), each.table, "an earlier release")
        refuse_unknown((record,), each.truth, "the true values")
    if past.truth is not None:
        refuse_unknown((record,), past.truth, "the true values")


def with_record(data: PolarsDataset, record: str | None) -> PolarsDataset:
    """A table whose codebook says which column holds the record's id."""
    if record is None or record not in data.columns:
        return data
    book = {n: v for n, v in data.codebook.items() if v.role != Role.RECORD or n == record}
    known = book.get(record, Variable()).model_copy(update={"role": Role.RECORD})
    return replace(data, codebook=Codebook({**book, record: known}))
