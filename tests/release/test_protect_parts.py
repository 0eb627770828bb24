"""A release in parts is the memory engine's release, to the bit."""

from functools import partial
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sfumato as sf
from sfumato.api.draft import draft
from sfumato.data.codebook import Codebook
from sfumato.data.hidden import CELLS, ROW, VIEW, WAS
from sfumato.data.profile import profile
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import LimitExceeded, PlanError
from sfumato.measures.measuring import Measuring
from sfumato.methods.registry import methods
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.large import EARLIER_LEFT_OUT
from sfumato.release.large_risk import seen
from sfumato.release.order import in_release_order
from sfumato.release.protect import protect
from sfumato.release.remaining import as_released
from sfumato.release.run import run_plan, run_steps
from sfumato.release.secret import Secret
from sfumato.tuning.drafts import draft_for
from tests.methods.tables import PEOPLE_BOOK, lawful, people
from tests.reasons import nobody_knows
from tests.release.scattered import Scattered

SECRET = Secret(bytes(range(32)))
STEPS = [pytest.param([lawful(name)[0]], id=name) for name in methods()]
SEVERAL = {
    "impute, noise": [
        {"do": "impute", "columns": ["n"], "method": "median"},
        {"do": "noise", "columns": ["x", "n"], "by": ["g"], "share": 0.1},
    ],
    "recode, anonymise": [
        {"do": "recode", "columns": ["n"], "band": [30, 40, 50]},
        {"do": "anonymise", "keys": ["g", "h"], "k": 5},
    ],
    "sample, noise": [{"do": "sample", "fraction": 0.3, "by": ["h"]}, {"do": "noise", "columns": ["x"], "sd": 1}],
    "twice": [
        {"do": "centroids", "columns": ["x", "y"], "by": ["g"], "k": 5},
        {"do": "pram", "columns": ["g"], "retention": 0.8},
        {"do": "suppress_strata", "by": ["h", "town"], "min_count": 10, "max_suppressed": 0.9},
    ],
    "without ids": [{"do": "noise", "columns": ["x"], "sd": 2}, {"do": "drop", "columns": ["id", "house"]}],
    "nothing": [],
}


def plan(steps, **more):
    variables = {n: v.model_copy(update={"label": None}) for n, v in PEOPLE_BOOK.items()}
    return Plan(variables=variables, steps=steps, **more)


def table():
    """People, some with a missing code, some with nothing, one not a number."""
    return people(200).with_columns(
        n=pl.when(pl.col("id") % 13 == 0).then(-9).otherwise("n"),
        h=pl.when(pl.col("id") % 17 != 0).then("h"),
        e=pl.col("h").cast(pl.Enum(["v", "u", "w", "none"])),
        odd=pl.when(pl.col("id") == 7).then(float("nan")).otherwise(pl.col("x").round(0)),
    )


def in_memory(plan, frame):
    """What the engine in memory releases, without the measures."""
    data = PolarsDataset(frame.with_columns(pl.col("odd").fill_nan(None)), Codebook())
    entering = entered(plan, data)
    plan = plan.bound(entering.codebook)
    draws = Draws(SECRET.value)
    ran = run_steps(plan.steps, entering, draws, plan=plan.digest)
    return in_release_order(as_released(plan, data, entering, ran.after), plan, draws)


def in_parts(plan, frame, folder):
    release = protect(plan, Scattered.of(frame), SECRET)
    parts = release.write(folder, force=True).parts
    written = [folder / "data" / part.name for part in parts]
    assert sorted((folder / "data").iterdir()) == written
    return pl.read_parquet(written), release


@pytest.mark.few(10)
@pytest.mark.usefixtures("few_measures")
@pytest.mark.parametrize("steps", [*STEPS, *(pytest.param(steps, id=name) for name, steps in SEVERAL.items())])
def test_all_parts_together_are_the_release_in_memory_in_its_order(steps, tmp_path):
    made, release = in_parts(plan(steps), table(), tmp_path / "r")
    same = in_memory(plan(steps), table())
    assert_frame_equal(made, same.frame, check_exact=True)
    assert release.data.codebook.only(made.columns) == same.codebook


def test_what_steps_took_out_is_told_as_in_memory():
    steps = [
        {"do": "recode", "columns": ["n"], "band": [30, 40, 50]},
        {"do": "suppress_strata", "by": ["h", "town"], "min_count": 16, "max_suppressed": 0.9},
        {"do": "suppress_cells", "keys": ["g", "n"], "k": 9},
    ]
    planned = plan(steps)
    there = run_plan(planned, entered(planned, Scattered.of(table())), Draws(SECRET.value), quiet)
    here = run_steps(
        planned.steps, entered(planned, PolarsDataset(table(), Codebook())), Draws(SECRET.value), plan=planned.digest
    )
    assert there.suppression == here.suppression
    assert [step.notes for step in there.steps] == [step.notes for step in here.steps]
    assert there.disclosure == here.disclosure


def test_true_values_and_what_an_attacker_rebuilds_travel_beside_the_released_ones():
    planned = plan([{"do": "centroids", "columns": ["x", "y"], "by": ["g"], "k": 5}, {"do": "drop", "columns": ["h"]}])
    there = run_plan(planned, entered(planned, Scattered.of(table())), Draws(SECRET.value), quiet)
    here = run_steps(
        planned.steps, entered(planned, PolarsDataset(table(), Codebook())), Draws(SECRET.value), plan=planned.digest
    )
    beside = pl.concat(there.after.batches()).sort("id")
    truth = table().sort("id")
    for n in ("x", "y", "h"):
        assert beside[f"{WAS}{n}"].equals(truth[n])
    view = here.reconstructions["unscaled"].sort(ROW)
    for n in ("x", "y"):
        assert beside[f"{VIEW}unscaled:{n}"].equals(view[n])


def test_values_that_go_travel_beside_those_that_are_left():
    """As they were when the step took some out, after what others had made of them; and so the figure is the same."""
    steps = [
        {"do": "recode", "columns": ["n"], "band": [30, 40, 50]},
        {"do": "suppress_cells", "keys": ["g", "n"], "k": 30},
    ]
    planned = plan(steps)
    there = run_plan(planned, entered(planned, Scattered.of(table())), Draws(SECRET.value), quiet)
    here = run_steps(
        planned.steps, entered(planned, PolarsDataset(table(), Codebook())), Draws(SECRET.value), plan=planned.digest
    )
    view = here.reconstructions[CELLS.format(1)].sort(ROW)
    beside = pl.concat(there.after.batches()).sort("id")
    assert beside.select(f"{VIEW}{CELLS.format(1)}:{n}" for n in ("g", "n")).rows() == view.select("g", "n").rows()
    assert view["n"].null_count() < here.after.frame["n"].null_count()
    assert not [n for n in here.after.columns if n.startswith(VIEW)]
    told = [
        protect(planned, of(table()), SECRET).report.findings.select("suppressed_guess")
        for of in (Scattered.of, lambda frame: PolarsDataset(frame, Codebook()))
    ]
    assert told[0] == told[1]
    assert told[0].lines[0].value is not None


TITANIC = """sfumato: 1
variables:
  PassengerId: {role: record}
  Name: {role: identifier}
  Age: {role: key, kind: continuous, unit: years}
  Pclass: {role: key, kind: categorical}
steps:
  - {do: drop, columns: [Name, Ticket, Cabin]}
  - {do: impute, columns: [Age], method: median}
  - {do: derive, column: Family, formula: "SibSp + Parch > 0"}
  - {do: drop, columns: [SibSp, Parch, Embarked]}
  - {do: centroids, columns: [Age, Fare], by: [Pclass, Sex, Family], k: 3, preset: avraam2021}
"""


def same_release(planned, data, folder):
    """Hold a release in parts against the one of the engine in memory."""
    release = protect(planned, Scattered.of(data.frame, data.codebook), SECRET)
    parts = release.write(folder, force=True).parts
    entering = entered(planned, data)
    bound = planned.bound(entering.codebook)
    ran = run_steps(bound.steps, entering, Draws(SECRET.value), plan=bound.digest)
    same = in_release_order(as_released(bound, data, entering, ran.after), bound, Draws(SECRET.value))
    made = pl.read_parquet([folder / "data" / part.name for part in parts])
    assert_frame_equal(made, same.frame, check_exact=True)


@pytest.mark.slow
@pytest.mark.usefixtures("few_measures")
def test_titanic(shared_data, tmp_path):
    same_release(Plan.from_yaml(TITANIC), sf.read(shared_data / "titanic.csv"), tmp_path / "r")


@pytest.mark.slow
@pytest.mark.usefixtures("few_measures")
def test_an_invented_cohort_under_the_plan_that_is_drafted_for_it(tmp_path):
    data = sf.read(sf.examples.cohort(400))
    text = draft(data, "cohort").text
    same_release(Plan.from_yaml(text), data, tmp_path / "r")
    frame, guesses = drafted_from(Scattered.of(data.frame, data.codebook))
    assert draft_for(frame, data.codebook, guesses, "cohort")[0].text == text


def drafted_from(parted):
    frame, columns, book, whole = seen(parted)
    assert whole
    return frame, profile(columns, book)


@pytest.mark.slow
def test_kinds_and_refusals_are_those_of_the_whole_table():
    n = 1500  # more than the first values, which settle most questions
    frame = pl.DataFrame(
        {
            "id": range(n),
            "few": [i % 10 for i in range(n)],
            "many": [i % 11 for i in range(n)],
            "once": [i % 10 for i in range(n - 1)] + [77],
            "texts": [f"t{i % 60}" for i in range(n)],
            "words": [f"w{i % 61}" for i in range(n)],
            "whole": [float(i % 5) for i in range(n)],
            "day": [f"2020-01-{i % 28 + 1:02d}" for i in range(n)],
            "no day": ["2020-01-01"] * (n - 1) + ["soon"],
            "flag": [i % 2 == 0 for i in range(n)],
            "place": [f"person {i}" for i in range(n)],
        }
    )
    planned = Plan(variables={"id": {"role": "record"}, "day": {"kind": "date"}, "place": {"role": "other"}})
    here = entered(planned, PolarsDataset(frame, Codebook())).codebook.without(ROW)
    assert entered(planned, Scattered.of(frame)).codebook == here
    wrong = Plan(variables={"id": {"role": "record"}, "no day": {"kind": "date"}, "texts": {"kind": "integer"}})
    with pytest.raises(PlanError) as in_memory_told:
        entered(wrong, PolarsDataset(frame, Codebook()))
    with pytest.raises(PlanError) as told:
        entered(wrong, Scattered.of(frame))
    assert [p.message for p in told.value.problems] == [p.message for p in in_memory_told.value.problems]


def lines(release):
    return {(f.measure, f.variable, f.group, f.at, f.attack) for f in release.report.findings}


@pytest.fixture
def past(tmp_path, monkeypatch):
    """A plan that names an earlier release of the same people, and data in parts."""
    monkeypatch.chdir(tmp_path)
    frame = table().drop_nulls().drop_nans()
    steps = [{"do": "noise", "columns": ["x"], "share": 0.2}]
    sf.protect(plan(steps, unknown=nobody_knows("id", "house")), frame, secret=SECRET.value).write("old")
    frame.write_parquet("then.parquet")
    Path("parts").mkdir()
    for i, part in enumerate(frame.iter_slices(70)):
        part.write_parquet(f"parts/{i}.parquet")
    return plan(steps, earlier=[{"release": "old", "truth": "then.parquet"}]), frame


def test_earlier_releases_are_measured_beside_parts_as_in_memory(past):
    asked, frame = past
    memory = sf.protect(asked, frame, secret=SECRET.value)
    parted = sf.protect(asked, sf.read("parts", engine="duckdb"), secret=SECRET.value)
    assert {f.measure for f in memory.report.findings} >= {"differencing"}
    assert lines(parted) == lines(memory)
    assert parted.report.refusals == memory.report.refusals


def test_where_parts_are_large_earlier_releases_refuse_the_release(past, monkeypatch):
    asked, _ = past
    monkeypatch.setattr("sfumato.api.protect.Measuring", partial(Measuring, most=100))
    parted = sf.protect(asked, sf.read("parts", engine="duckdb"), secret=SECRET.value)
    assert EARLIER_LEFT_OUT.format(most=100) in parted.report.refusals
    with pytest.raises(LimitExceeded, match="what the earlier releases tell beside this one was not measured"):
        parted.write("new")
    assert not Path("new").exists()
