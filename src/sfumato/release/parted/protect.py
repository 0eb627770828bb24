"""From a plan and data that are not in memory to a release in parts: run, measure, judge."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from importlib.metadata import version

from sfumato.data.dataset import Parted
from sfumato.data.hidden import leaving
from sfumato.data.query import COUNT, Counts
from sfumato.draws import Watched
from sfumato.measures.measuring import Measuring
from sfumato.plan.limits import apply_limits
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.release.classes import refusals
from sfumato.release.earlier import Before
from sfumato.release.measure import EFFORT
from sfumato.release.parted.check import entered, guesses
from sfumato.release.parted.exposing import exposed_off_memory
from sfumato.release.parted.measure import EARLIER_LEFT_OUT, measure_few, measure_many
from sfumato.release.parted.release import PartedRelease
from sfumato.release.parted.run import PartedRun, as_released, run_parted
from sfumato.release.secret import Secret
from sfumato.release.warnings import warnings_of
from sfumato.report.report import Renderer, Report

__all__ = ["protect_parted"]


def protect_parted(
    plan: Plan,
    data: Parted,
    secret: Secret,
    *,
    how: Measuring | None = None,
    renderer: Renderer | None = None,
    progress: Progress = quiet,
    engine: str = "",
    earlier: Callable[[], Before | None] = lambda: None,
) -> PartedRelease:
    """Run a plan over a table that is not in memory and measure what came of it.

    Released values equal those of `sfumato.release.protect.protect` to the bit. Measures that need all records at once
    are left out, with a note, and a limit on them counts as not met.

    Parameters
    ----------
    plan
        The plan, of one table.
    data
        The table; it is left as it was. It needs a record column.
    secret
        What draws are keyed with.
    how
        How things are measured.
    renderer
        Draws the reports.
    progress
        Called with what is being done, and the share of the work that is done.
    engine
        What the engine is called.
    earlier
        Opens the earlier releases that the plan names. Beside a large table they are not measured, and the release is
        refused.

    Raises
    ------
    PlanError
        Where the plan cannot run on these columns, or not off memory; every problem at once.
    DataError
        Where the data are not fit for it, or change while they are read.
    """
    how, draws = how or Measuring(), Watched(secret.value)
    progress("looking at the columns", 0)
    entering = entered(plan, data)
    told = (*getattr(data, "notes", ()), *guesses(plan, entering.codebook))
    plan = plan.bound(entering.codebook)
    running, measuring = split(progress, [sum(step.effort for step in plan.steps), EFFORT])
    ran = run_parted(plan, entering, draws, running)
    entered_rows = int(entering.ask(Counts(())).item(0, COUNT))
    after = ran.after.kept() if entered_rows > how.most else ran.after
    after = as_released(plan, entering, after, int(after.ask(Counts(())).item(0, COUNT)) != entered_rows)
    ran = PartedRun(ran.given, ran.before, after, ran.steps, ran.disclosure, ran.suppression)
    few = measure_few(plan, ran, how, measuring, earlier=earlier)
    findings = apply_limits(measure_many(plan, ran, how, measuring) if few is None else few, plan.limits)
    keys = exposed_off_memory(plan, after).keys
    drawn = draws.drawn | {step.name for step in plan.steps if step.draws_by_id}
    report = Report(
        title=plan.title,
        created=datetime.date.today(),
        version=version("sfumato"),
        steps=ran.steps,
        disclosure=ran.disclosure,
        findings=findings,
        plan_yaml=plan.to_yaml(),
        fingerprint=secret.fingerprint,
        repeatable=secret.repeatable,
        refusals=(
            *refusals(plan, after.codebook.only(leaving(after.codebook)), keys, findings),
            *((EARLIER_LEFT_OUT.format(most=how.most),) if plan.earlier and few is None else ()),
        ),
        warnings=(
            *warnings_of(plan, entering, after, keys, secret, drawn),
            *(warning for step in ran.steps for warning in step.warnings),
        ),
        access=plan.access,
        consent=plan.consent,
    )
    return PartedRelease(after, report, plan, draws, renderer, engine, told)
