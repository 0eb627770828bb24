"""What a run leaves behind where rows are not in memory: true values travel beside released ones, in hidden columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from sfumato.data.dataset import Parted, with_codebook
from sfumato.data.disclosure import Disclosure
from sfumato.data.hidden import leaving
from sfumato.data.query import Counts
from sfumato.data.suppression import Suppression
from sfumato.draws import Draws
from sfumato.engines.hidden_columns import HiddenColumns
from sfumato.plan.plan import Plan
from sfumato.progress import Progress
from sfumato.release.remaining import remaining
from sfumato.release.run import run_steps
from sfumato.report.report import StepDone

__all__ = ["PartedRun", "as_released", "carried", "run_parted"]


@dataclass(frozen=True)
class PartedRun:
    """What a run of steps leaves behind.

    Parameters
    ----------
    given
        The data as they entered the first step that coarsens or masks; the result where none does.
    before
        The data as they entered the first step that masks; `given` where none does.
    after
        The result. In hidden columns `sfumato:was:NAME` it holds the values as in `before` of what later steps changed
        or dropped, in `sfumato:view:VIEW:NAME` what an attacker could compute.
    steps
        Each step as it was run.
    disclosure
        What analysts are told.
    suppression
        How many records and cells steps took out, from `given` on.
    """

    given: Parted
    before: Parted
    after: Parted
    steps: tuple[StepDone, ...] = ()
    disclosure: Disclosure = field(default_factory=Disclosure)
    suppression: Suppression = field(default_factory=Suppression, repr=False)

    @cached_property
    def sides(self) -> HiddenColumns:
        """What its records were, and what is released of them, as measures ask for it."""
        return HiddenColumns(self.given, self.before, self.after, self.disclosure)


def carried(plan: Plan) -> tuple[str, ...]:
    """The columns whose true values travel beside the released ones: those that steps change from the first that masks.

    Examples
    --------
    >>> carried(Plan(steps=[{"do": "noise", "columns": ["age"], "sd": 2}]))
    ('age',)
    """
    return tuple(dict.fromkeys(n for step in plan.late for n in step.changes))


def run_parted(plan: Plan, entering: Parted, draws: Draws, progress: Progress) -> PartedRun:
    """Run a plan's steps.

    Parameters
    ----------
    plan
        The plan, bound to the columns.
    entering
        The data with the plan's codebook.
    draws, progress
        As for `sfumato.release.run.run_steps`.
    """
    told = {"table": plan.table_name, "plan": plan.digest}
    ran = run_steps(plan.steps, entering, draws, progress, was=carried(plan), **told)
    return PartedRun(ran.given, ran.before, ran.after, ran.steps, ran.disclosure, ran.suppression)


def as_released(plan: Plan, entering: Parted, result: Parted, fewer: bool) -> Parted:
    """The result of a run as it leaves: without what tells of categories that are gone, in codebook and types.

    Hidden columns stay; they do not leave with parts that are written.

    Parameters
    ----------
    plan
        The plan.
    entering
        The data as they entered.
    result
        The data after all steps.
    fewer
        Whether records were left out, which may take a category of any column with them.
    """
    columns = leaving(result.codebook)
    changed = {n for step in plan.steps for n in step.changes}
    book = result.codebook
    looked = [n for n in columns if fewer or n in changed]
    tells = [n for n in looked if book[n].labels or book[n].order or book[n].hierarchy]
    lists = [n for n in columns if isinstance(result.schema[n], pl.Enum)]
    held = {n: _held(result, n) for n in dict.fromkeys([*tells, *lists])}
    book = remaining(held, book, entering.codebook, tells)
    types = {n: pl.Enum(_in_order(result.schema[n], held[n])) for n in lists}
    if types:
        return result.map(
            lambda batch: batch.with_columns(_listed(batch[n], t) for n, t in types.items()), codebook=book
        )
    return with_codebook(result, book)


def _held(data: Parted, column: str) -> pl.Series:
    """The categories that a column holds."""
    return data.ask(Counts((column,)))[column]


def _in_order(dtype: pl.DataType, held: pl.Series) -> list[str]:
    present = set(held.drop_nulls().cast(pl.String).to_list())
    known: Sequence[str] = dtype.categories.to_list()  # type: ignore[attr-defined]
    return [category for category in known if category in present]


def _listed(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    return column.cast(pl.String).cast(dtype)
