"""Who is found by the nearest record among all, told batch by batch, is found as in memory."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.roles import Role
from sfumato.draws import Draws
from sfumato.kernels.neighbours import assignment
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.scenarios.people import ERRS
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import Exposed
from sfumato.release.forms import by_forms
from sfumato.release.large import measure_many, sampled_of
from sfumato.release.run import run_plan
from tests.methods.tables import people
from tests.release.scattered import Scattered
from tests.release.test_large import SECRET, figures, in_memory, plan_of, refuse_other

N = 200  # three batches, the third of six
LINE = ("match_correct", None, "nearest", None, "neighbour")
NOISE = {"do": "noise", "columns": ["x", "y"], "sd": 0.5}
PRAM = {"do": "pram", "columns": ["h"], "retention": 0.8}
KEYS = ("x", "y", "n", "h", "town")


def keyed(steps, **more):
    """A plan under which an intruder knows numbers and categories."""
    plan = plan_of(steps)
    variables = {n: v.model_copy(update={"role": Role.KEY}) if n in KEYS else v for n, v in plan.variables.items()}
    return Plan(variables=variables, steps=steps, **more)


def gaps(frame):
    """Some values missing, in numbers and categories; and a list of categories."""
    gone = [pl.Series(np.random.default_rng(i).random(frame.height) < 0.15) for i in range(3)]
    return frame.with_columns(pl.col("town").cast(pl.Enum(["P", "Q", "R", "S"]))).with_columns(
        pl.when(~g).then(n).alias(n) for n, g in zip(("x", "h", "n"), gone, strict=True)
    )


def dated(frame):
    """A date among the numbers, and a number that all share."""
    days = pl.date(2000, 1, 1) + pl.duration(days=pl.col("n") * 10)
    return frame.with_columns(n=days, y=pl.lit(3.0))


def looked_for(frame, plan, most, wanted):
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    ran = run_plan(plan, entering, Draws(SECRET.value), quiet)
    subject = sampled_of(plan, ran, ran.sides.sample(most), Measuring(people=wanted), Exposed(()))
    return by_forms({"people": subject}, quiet).findings


TRIED = {
    "noise": [NOISE],
    "noise and exchanged categories": [NOISE, PRAM],
    "only categories": [PRAM],
    "rows left out": [NOISE, {"do": "suppress_strata", "by": ["g", "town"], "min_count": 32, "max_suppressed": 0.9}],
    "generalised since": [NOISE, {"do": "anonymise", "keys": ["h", "town"], "k": 16, "suppression_limit": 0.9}],
    "wildcards, cells emptied before": [{"do": "suppress_cells", "keys": ["h", "town"], "k": 24}, NOISE],
    "wildcards, cells emptied since": [NOISE, {"do": "suppress_cells", "keys": ["h", "town"], "k": 24}],
    "coarsened since": [NOISE, {"do": "recode", "columns": ["n"], "band": [30, 45]}],
    "ids replaced": [NOISE, {"do": "pseudonymise", "columns": ["id"]}],
}


@pytest.fixture(autouse=True)
def few_assigned(monkeypatch):
    """Who is assigned one to one is looked at in `test_assigned`; it takes longer than all else."""
    monkeypatch.setattr(assignment, "PEOPLE", 3)


@pytest.mark.few(5)
@pytest.mark.parametrize("change", [None, gaps], ids=["", "gaps"])
@pytest.mark.parametrize("steps", TRIED.values(), ids=TRIED)
def test_everybody_is_found_as_in_memory(steps, change):
    frame = people(N) if change is None else change(people(N))
    plan = keyed(steps)
    memory = in_memory(plan, frame, {"match_correct"})
    found = looked_for(frame, plan, N, N)
    assert LINE in figures(memory)
    refuse_other({LINE: figures(found)[LINE]}, figures(memory))
    told, expected = (next(f for f in each if figures([f]).keys() == {LINE}) for each in (found, memory))
    assert told.interval == pytest.approx(expected.interval)


def test_dates_are_numbers_and_what_all_share_tells_nobody_apart():
    frame = dated(people(N))
    variables = {"id": {"role": "record"}, **{n: {"role": "key"} for n in ("x", "y", "n", "h")}}
    plan = Plan(variables=variables, steps=[NOISE | {"columns": ["x"]}])
    memory = in_memory(plan, frame, {"match_correct"})
    refuse_other({LINE: figures(looked_for(frame, plan, N, N))[LINE]}, figures(memory))


@pytest.mark.slow
def test_of_some_people_the_share_of_everybody_is_told():
    frame, plan = people(2_000), keyed([NOISE])
    memory = figures(in_memory(plan, frame, {"match_correct"}))[LINE][0]
    line = next(f for f in looked_for(frame, plan, 300, 300) if f.measure == "match_correct")
    assert 0 < memory < 1
    assert abs(line.value - memory) < 4 * np.sqrt(memory * (1 - memory) / 300)  # four standard errors
    assert line.interval[0] <= line.value <= line.interval[1]


def test_a_limit_on_linkers_that_were_not_tried_is_not_met():
    limits = [{"measure": "match_correct", "at_most": 1.0}]
    frame, plan = people(N), keyed([NOISE], limits=limits)
    told = {f.group: f.value for f in looked_for(frame, plan, N, N) if f.measure == "match_correct"}
    assert told.pop("nearest") is not None
    assert told == {"fellegi_sunter": None, "fellegi_sunter_best": None}


@pytest.mark.slow
def test_who_errs_is_left_out_and_a_note_says_so():
    frame, plan = people(N), keyed([NOISE], knows={"neighbour": {"error": {"x": 1.0}}})
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    ran = run_plan(plan.bound(entering.codebook), entering, Draws(SECRET.value), quiet)
    found = measure_many(plan.bound(entering.codebook), ran, Measuring(most=100), quiet)
    assert ERRS in found.notes
    assert not [f for f in found if f.measure == "match_correct"]


def test_numbers_that_all_share_make_everybody_alike():
    frame = people(N).with_columns(n=pl.lit(7), x=pl.lit(1.0))
    variables = {"id": {"role": "record"}, **{n: {"role": "key", "kind": "continuous"} for n in ("x", "n")}}
    plan = Plan(variables=variables, steps=[NOISE | {"columns": ["x"]}])
    memory = in_memory(plan, frame, {"match_correct"})
    refuse_other({LINE: figures(looked_for(frame, plan, N, N))[LINE]}, figures(memory))
