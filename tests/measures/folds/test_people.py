"""People who are looked for among all records, told batch by batch, are found as in memory."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.kernels.neighbours import assignment
from sfumato.measures.attacking import Attacking
from sfumato.measures.measuring import Measuring
from sfumato.progress import quiet
from sfumato.release.classes import Exposed
from sfumato.release.forms import by_forms
from sfumato.release.large import sampled_of
from sfumato.release.measure import measure
from sfumato.release.run import run_plan
from tests.methods.tables import people
from tests.release.scattered import Scattered
from tests.release.test_large import SECRET, STEPS, figures, in_memory, plan_of, refuse_other

N = 200  # three batches, the third of six
NAMES = {"linkage_nearest", "risk1", "risk2", "h_rank"}


def gaps(frame):
    """Some values missing, some equal to others."""
    gone = pl.Series(np.random.default_rng(0).random(frame.height) < 0.1)
    return frame.with_columns(x=pl.when(~gone).then("x"), y=pl.col("y").round(0))


def two_valued(frame):
    return frame.with_columns(y=(pl.col("y") > pl.col("y").mean()).cast(pl.Float64))


def looked_for(frame, steps, how, most, wanted):
    """What a sample of `most` records tells in memory, and what `wanted` people tell who are looked for among all."""
    entering = Scattered.of(frame, plan_of(steps).codebook(frame, Codebook()))
    plan = plan_of(steps).bound(entering.codebook)
    ran = run_plan(plan, entering, Draws(SECRET.value), quiet)
    subject = sampled_of(plan, ran, ran.sides.sample(most), replace(how, people=wanted), Exposed(()))
    sampled = measure(subject, quiet, only={"linkage_nearest", "risk1", "h_rank"})
    return sampled, by_forms({"people": subject}, quiet).findings


NOISE = {"do": "noise", "columns": ["x", "y"]}
TRIED = {
    **{name: STEPS[name] for name in ("noise", "rows left out", "centroids")},
    "strata that nobody knows": [
        {"do": "pram", "columns": ["g"], "retention": 0.8},
        NOISE | {"by": ["g"], "share": 0.1},
    ],
    "noise that is not normal": [NOISE | {"sd": 2, "distribution": "laplace"}],
    "indicators of a category": [NOISE | {"columns": ["x", "g"], "share": 0.2, "dummies": {"g": ["a", "b"]}}],
    "ids that do not leave": [NOISE | {"sd": 2}, {"do": "drop", "columns": ["id"]}],
}


@pytest.fixture(autouse=True)
def few_assigned(monkeypatch):
    """Who is assigned one to one is looked at in `test_assigned`; it takes longer than all else."""
    monkeypatch.setattr(assignment, "PEOPLE", 3)


@pytest.mark.few(6)
@pytest.mark.parametrize("change", [None, gaps, two_valued], ids=["", "gaps", "two values"])
@pytest.mark.parametrize("steps", TRIED.values(), ids=TRIED)
def test_everybody_is_found_as_in_memory(steps, change):
    frame = people(N) if change is None else change(people(N))
    memory = in_memory(plan_of(steps), frame, NAMES)
    _, found = looked_for(frame, steps, Measuring(), N, N)
    expected = {key: value for key, value in figures(memory).items() if key[0] in NAMES}
    told = {key: value for key, value in figures(found).items() if key[0] in NAMES}
    assert set(told) == set(expected)
    refuse_other(told, expected)


@pytest.mark.slow
def test_the_metric_is_the_one_asked_for():
    how = Measuring(attacking=Attacking(metric="euclidean"))
    frame = gaps(people(N))
    memory = in_memory(plan_of(STEPS["noise"]), frame, {"h_rank"}, how)
    _, found = looked_for(frame, STEPS["noise"], how, N, N)
    refuse_other(
        {key: value for key, value in figures(found).items() if key[0] == "h_rank"},
        {key: value for key, value in figures(memory).items() if key[0] == "h_rank"},
    )


@pytest.mark.slow
def test_of_some_people_the_share_of_everybody_is_told():
    """Among 2,000 records a sample of 300 finds far more people than there are; people among all find as many."""
    frame = people(2_000)
    memory = figures(in_memory(plan_of(STEPS["noise"]), frame, {"linkage_nearest", "h_rank"}))
    sampled, found = looked_for(frame, STEPS["noise"], Measuring(), 300, 300)
    for key in (
        ("linkage_nearest", None, "stratum", None, "nearest"),
        ("h_rank", None, "all", 0, "nearest"),
        ("h_rank", None, "all", 0, "predicted"),
    ):
        error = 4 * np.sqrt(memory[key][0] * (1 - memory[key][0]) / 300)
        assert abs(figures(found)[key][0] - memory[key][0]) < error
        assert figures(sampled)[key][0] > memory[key][0] + error
    lines = [f for f in found if f.measure in ("linkage_nearest", "risk2")]
    assert all(f.interval[0] <= f.value <= f.interval[1] for f in lines)


CASE = "tests/measures/folds/test_people.py::test_the_interval_of_some_people_holds_the_figure_of_everybody"
INTERVALS = {
    ("linkage_nearest", "overall", None, "nearest"),
    ("linkage_nearest", "stratum", None, "nearest"),
    ("risk2", None, 0.05, None),
    ("h_rank", "all", 0, "nearest"),
    ("h_rank", "all", 0, "predicted"),
}


def invented(seed, n=600):
    """A table of people with skewed and rounded numbers, strata of unequal size."""
    random = np.random.default_rng(seed)
    g = random.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    x, y = random.normal(size=n).round(int(random.integers(1, 4))), random.lognormal(size=n)
    return people(n).with_columns(g=pl.Series(g), x=pl.Series(x), y=pl.Series(y))


def held(seed):
    """For each figure whether the interval, of 150 people among all 600, holds what memory finds of everybody."""
    frame, steps = invented(seed), [NOISE | {"by": ["g"], "share": {"x": 0.09}, "sd": {"y": 0.3}}]
    memory = in_memory(plan_of(steps), frame, NAMES)
    _, found = looked_for(frame, steps, Measuring(), 300, 150)
    lines = [{(f.measure, f.group, f.at, f.attack): f for f in each} for each in (memory, found)]
    return {key: lines[1][key].interval[0] <= lines[0][key].value <= lines[1][key].interval[1] for key in INTERVALS}


def test_the_interval_of_some_people_holds_the_figure_of_everybody():
    assert all(held(1).values())  # intervals of 95% may miss, as one does on table 0


@pytest.mark.nightly(of=CASE)
def test_the_interval_holds_it_on_ninety_of_a_hundred_tables():
    """It is of 95%, and wider than need be where a quarter of everybody is looked for."""
    tables = [held(seed) for seed in range(100)]
    assert {key: sum(one[key] for one in tables) for key in INTERVALS if sum(one[key] for one in tables) < 90} == {}
