"""Runs of small plans, measured by what was lost, in memory and in scattered batches."""

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import measures
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import Exposed
from sfumato.release.large import everybody_of
from sfumato.release.measured import measure_run
from sfumato.release.run import run_plan
from tests.release.scattered import Scattered

LOST = frozenset(f for each in measures().values() if each.family == "lost" for f in each.names)
SECRET = bytes(range(32))


def plan_of(steps, **variables):
    """A plan of some steps; what is not said of a variable is guessed."""
    return Plan(variables={"id": {"role": "record"}, **variables}, steps=steps)


def lost(steps, frame, **variables):
    """What was lost of a table in memory."""
    plan = plan_of(steps, **variables)
    entering = entered(plan, PolarsDataset(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    return measure_run(plan, run_plan(plan, entering, Draws(SECRET)), Measuring(), quiet, only=LOST).findings


def lost_in_batches(steps, frame, only, **variables):
    """What some measures tell of the same table where rows come in batches."""
    plan = plan_of(steps, **variables)
    entering = entered(plan, Scattered.of(frame))
    plan = plan.bound(entering.codebook)
    ran = run_plan(plan, entering, Draws(SECRET))
    subject = everybody_of(plan, ran, ran.sides, Measuring(), Exposed(()))
    return Findings.together([measures()[name].compute(subject) for name in only])


def told(found, *names):
    """Value and baseline by figure and variable."""
    return {(f.measure, f.variable): (f.value, f.baseline) for f in found if f.measure in names}


def with_ids(**columns):
    """A table with an id."""
    return pl.DataFrame({"id": range(len(next(iter(columns.values()))))} | columns)
