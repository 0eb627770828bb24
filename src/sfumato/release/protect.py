"""From a plan and data to a release: run, measure, judge; wherever the rows are."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from importlib.metadata import version
from typing import cast

from sfumato.data.dataset import Parted
from sfumato.data.finding import Findings
from sfumato.data.hidden import ROW, leaving
from sfumato.draws import Draws, Watched
from sfumato.engines.polars import PolarsDataset, held
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import entered, guesses
from sfumato.plan.limits import apply_limits
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.release.classes import assumed, refusals
from sfumato.release.crosswalk import crosswalk_of
from sfumato.release.earlier import Before
from sfumato.release.large import measure_off_memory
from sfumato.release.leaving import NOT_IN_MEMORY, without_a_person
from sfumato.release.measure import EFFORT
from sfumato.release.measured import Measured, measure_run
from sfumato.release.order import in_release_order
from sfumato.release.rehearsal import asks_for_rehearsal, rehearse
from sfumato.release.release import Release
from sfumato.release.remaining import as_released
from sfumato.release.run import Ran, run_plan
from sfumato.release.secret import Secret
from sfumato.release.taking import Published, Taking
from sfumato.release.verdict import judge, open_columns, open_ids
from sfumato.release.warnings import warnings_of
from sfumato.report.pictures import draw_pictures
from sfumato.report.report import Renderer, Report

__all__ = ["protect"]

_DRAWING = 4.0
"""How long pictures take, as efforts of steps and measures are counted."""
Table = PolarsDataset | Parted


def protect(
    plan: Plan,
    data: Table,
    secret: Secret,
    *,
    how: Measuring | None = None,
    renderer: Renderer | None = None,
    earlier: Callable[[], Before | None] = lambda: None,
    published: Sequence[Published] = (),
    leaver: bool | None = None,
    only: Set[str] | None = None,
    progress: Progress = quiet,
) -> Release:
    """Run a plan over a table and measure what came of it.

    Released values are equal to the bit wherever the rows are. Off memory a table above `Measuring.most` records is
    measured by the forms that measures have for it; those that have none are left out, with a note, and a limit on them
    counts as not met.

    Parameters
    ----------
    plan
        The plan, of one table.
    data
        The table; it is left as it was. Off memory it needs a record column.
    secret
        What draws are keyed with.
    how
        How things are measured; with no model named, the first outcome is explained by all other variables.
    renderer
        Draws the reports.
    earlier
        Opens the earlier releases that the plan names. Beside a large table they are not measured, and the release is
        refused.
    published
        What earlier releases say of themselves, newest first: what their steps disclosed is taken over.
    leaver
        Whether the steps are run twice more, without one person; None: where that is little work.
    only
        The figures that are asked for, in memory; None: all.
    progress
        Called with what is being done, and the share of the work that is done.

    Raises
    ------
    PlanError
        Where the plan cannot run on these columns, or not off memory; every problem at once.
    DataError
        Where the data are not fit for a step, or change while they are read.
    """
    how, draws = how or Measuring(), Watched(secret.value)
    progress("looking at the columns", 0)
    entering: Table = entered(plan, data)
    told = () if held(data) else (*getattr(data, "notes", ()), *guesses(plan, entering.codebook))
    plan = plan.bound(entering.codebook)
    first = sum(step.effort for step in plan.steps)
    pictures = renderer is not None and held(data)
    running, measuring, drawing = split(progress, [first, EFFORT, _DRAWING if pictures else 0])
    past = earlier() if held(data) else None  # what is wrong with them is said before anything is run
    taking = Taking(secret.fingerprint, tuple(published)) if published else None
    ran = run_plan(plan, entering, draws, running, taking)
    after = as_released(plan, data, entering, ran.after, kept_above=how.most)
    drawn = draws.drawn | (set() if held(after) else {step.name for step in plan.steps if step.draws_by_id})
    if held(entering):
        rehearsed = rehearse(plan, plan.steps, entering, draws) if asks_for_rehearsal(plan.limits) else None
        frames = cast(Ran[PolarsDataset], ran)
        leavers, said = without_a_person(plan, entering, frames, Draws(secret.value), taking, leaver)
        measured = measure_run(
            plan, frames, how, measuring, only=only, earlier=past, rehearsed=rehearsed, leaving=leavers
        )
        measured = replace(measured, findings=Findings(notes=said) + measured.findings)
    else:
        parts = cast(Ran[Parted], replace(ran, after=after))
        measured = measure_off_memory(plan, parts, how, measuring, earlier)
        said = (NOT_IN_MEMORY,) if leaver else ()
        measured = replace(measured, findings=Findings(notes=said) + measured.findings)
    if pictures:
        drawing("drawing pictures", 0)
    report = _report(plan, secret, ran, entering, after, measured, drawn, pictures)
    if taking is not None:
        report = replace(report, warnings=(*report.warnings, *taking.warnings()))
    if held(after):
        assert held(entering), "what leaves in memory was there from the beginning"
        crosswalk = crosswalk_of(plan, entering, cast(PolarsDataset, ran.after))
        return Release(
            in_release_order(after, plan, draws, ran.disclosure.synthetic), report, plan, renderer, crosswalk=crosswalk
        )
    return Release(after, report, plan, renderer, told, draws)


def _report(
    plan: Plan,
    secret: Secret,
    ran: Ran[Table],
    entering: Table,
    after: Table,
    measured: Measured,
    drawn: Set[str],
    pictures: bool,
) -> Report:
    """What was done and measured, with limits applied, and what speaks against the release."""
    findings = apply_limits(measured.findings, plan.limits)
    leaves = after.codebook.only(leaving(after.codebook))
    seen = measured.seen
    against = (*refusals(plan, leaves, seen.keys, findings, seen.masked), *measured.refusals)
    copies = ran.disclosure.synthetic
    nobodys = copies is not None and copies.kind == "full"  # whose ids are new
    ids = () if nobodys else open_ids(plan, entering.codebook, leaves, _rows(entering))
    judged = judge(
        measured.findings, plan.limits, against, open_columns(plan, measured.seen, ids), ids, measured.again or _nothing
    )
    return Report(
        title=plan.title,
        created=datetime.date.today(),
        version=version("sfumato"),
        steps=ran.steps,
        disclosure=ran.disclosure,
        findings=findings,
        plan_yaml=plan.to_yaml(),
        fingerprint=secret.fingerprint,
        repeatable=secret.repeatable,
        refusals=against,
        warnings=(
            *warnings_of(plan, entering, after, secret, drawn),
            *(warning for step in ran.steps for warning in step.warnings),
        ),
        pictures=draw_pictures(measured.pair, measured.how, measured.findings) if pictures and measured.pair else (),
        access=plan.access,
        consent=plan.consent,
        assumed=assumed(plan, measured.seen),
        verdict=judged.verdict,
        undecided=judged.undecided,
        open_ids=ids,
    )


def _nothing(unknown: Sequence[str]) -> Findings:
    """What is found where nothing is measured again: off memory, where it would be all once more."""
    return Findings()


def _rows(entering: Table) -> PolarsDataset | None:
    """The table without the run's own numbers of records, where it is in memory."""
    return replace(entering, frame=entering.frame.drop(ROW)) if held(entering) else None
