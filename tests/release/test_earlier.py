"""A release beside earlier ones: from the command line, from Python, and from a plan."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FileError, PlanError
from sfumato.plan.plan import Plan
from sfumato.release.earlier import as_entered, before
from tests.release.brief import measured_briefly

SECRET = bytes(range(16))
VARIABLES = {
    "id": {"role": "record"},
    "pay": {"role": "sensitive", "kind": "continuous"},
    "age": {"role": "other", "kind": "continuous"},
    "town": {"role": "other", "kind": "categorical"},
}
STEPS = [
    {"do": "derive", "column": "pay", "formula": "min(pay, 90)"},
    {"do": "centroids", "columns": ["pay"], "k": 5, "moments": "exact", "round_to": None},
    {"do": "noise", "columns": ["age"], "sd": 3},
    {"do": "swap", "columns": ["town"], "random": True},
]
GONE = 49


def people(n=200):
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "pay": rng.lognormal(3, 1, n).round(3),
            "age": rng.normal(50, 15, n),
            "town": rng.choice(["Acle", "Bude", "Ceres"], n),
        }
    )


def plan(**more):
    return {"sfumato": 1, "variables": VARIABLES, "steps": STEPS, **more}


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """True values, a plan, a release of everybody and one of everybody but one."""
    room = tmp_path_factory.mktemp("earlier")
    frame = people()
    frame.write_csv(room / "all.csv")
    frame.filter(pl.col("id") != GONE).write_csv(room / "less.csv")
    for name in ("all", "less"):
        with measured_briefly():
            release = sf.protect(Plan.model_validate(plan()), room / f"{name}.csv", secret=SECRET)
        release.write(room / name, force=True)
    return room


def difference(found, **where):
    return found.of("differencing", group="left", **where)


@pytest.mark.slow
def test_from_the_command_line(room, monkeypatch):
    monkeypatch.chdir(room)
    for earlier in ("all", "all/data.csv"):
        ran = CliRunner().invoke(
            app, ["risk", "less/data.csv", "--earlier", earlier, "--truth", "all.csv", "--record", "id", "--json"]
        )
        assert ran.exit_code == 0
        lines = json.loads(ran.stdout)["findings"]
        here = [f for f in lines if f["measure"] == "differencing" and f["group"] == "left"]
        assert {f["variable"] for f in here} == {"pay", "age", "town"}
        assert {f["attack"] for f in here} == {"sums", "multisets", "local"}
        assert {f["attack"] for f in lines if f["measure"] == "h_rank"} == {"nearest", "predicted", "earlier", "worst"}


@pytest.mark.slow
def test_from_python_with_the_ids_that_the_papers_name(room):
    """True values pass the plan's preparing steps: top-coded pay is compared with top-coded pay."""
    found = sf.risk(room / "less" / "data.csv", earlier=room / "all", truth=room / "all.csv")
    line = difference(found, variable="pay", attack="sums", at=0.01)
    assert (line.value, line.baseline) == (1.0, 0.0)
    assert difference(found, variable="town", attack="multisets").value == 1.0
    noisy = difference(found, variable="age", attack="sums", at=0.01)
    assert noisy.value == noisy.baseline
    both = sf.risk(room / "less.csv", room / "less" / "data.csv", earlier=room / "all", truth=room / "all.csv")
    assert difference(both, variable="pay", attack="sums", at=0.01).value == 1.0


@pytest.mark.usefixtures("few_measures")
def test_frames_and_ids_of_another_type():
    frame = people()
    steps = [sf.steps.Centroids(columns=["pay"], k=5, moments="exact", round_to=None)]
    made = sf.Plan(variables=VARIABLES, steps=steps)
    now, then = frame.filter(pl.col("id") != GONE), frame.with_columns(pl.col("id").cast(pl.String))
    new, old = (sf.protect(made, f, secret=SECRET) for f in (now, then))
    found = sf.risk(new.data, earlier=[old.data], truth=[now, then], record="id", disclosure=new.disclosure)
    assert difference(found, variable="pay", attack="sums", at=0.01).value == 1.0


@pytest.mark.slow
def test_a_plan_names_earlier_releases_and_limits_bind_them(room, monkeypatch):
    monkeypatch.chdir(room)
    limit = {"measure": "differencing", "variable": "pay", "group": "left", "at": 0.01, "at_most": 0.5}
    again = {"measure": "h_rank", "group": "all", "at": 0, "attack": "earlier", "at_most": 0.9}
    asked = plan(earlier=[{"release": "all", "truth": "all.csv"}], limits=[limit, again])
    made = Plan.from_yaml(json.dumps(asked))
    release = sf.protect(made, "less.csv", secret=SECRET)
    line = difference(release.report.findings, variable="pay", attack="sums", at=0.01)
    assert (line.value, line.ok) == (1.0, False)
    assert release.report.findings.of("h_rank", group="all", at=0, attack="earlier").ok is not None
    assert release.verdict == "exceeded"


def test_where_a_custodian_keeps_files_is_not_part_of_the_plan_as_run():
    with_, without = (Plan.from_yaml(json.dumps(plan(**more))) for more in ({"earlier": EARLIER}, {}))
    assert "secret-folder" not in with_.to_yaml()
    assert with_.digest == without.digest
    assert Plan.from_yaml(without.to_yaml()).earlier == ()


EARLIER = [{"release": "secret-folder", "truth": "t.csv"}]


@pytest.mark.parametrize("wrong", [[{"truth": "t"}], [{"release": "", "truth": "t"}], "x", EARLIER * 21])
def test_a_plan_that_names_them_badly_is_refused(wrong):
    with pytest.raises(PlanError):
        Plan.from_yaml(json.dumps(plan(earlier=wrong)))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--earlier", "all"], "true values"),
        (["--truth", "all.csv"], "--earlier"),
        (["--earlier", "nowhere", "--truth", "all.csv"], "nowhere"),
        (["--earlier", ".", "--truth", "all.csv"], "no release"),
        (["--earlier", "all", *["--truth", "all.csv"] * 3], "once for all releases"),
        (["--earlier", "all", "--truth", "all.csv", "--record", "pid"], "no column 'pid' in the new release"),
        ([*["--earlier", "all"] * 21, "--truth", "all.csv"], "At most 20"),
    ],
)
def test_misuse_is_told_without_a_value(room, monkeypatch, more, says):
    monkeypatch.chdir(room)
    with pytest.raises((DataError, FileError)) as told:
        CliRunner().invoke(app, ["risk", "less/data.csv", *more], catch_exceptions=False, standalone_mode=False)
    assert says in str(told.value)
    assert not [v for v in ("Acle", str(people()["pay"][0])) if v in str(told.value)]


def test_no_value_stands_in_what_is_said(room):
    found = sf.risk(room / "less" / "data.csv", earlier=room / "all", truth=room / "all.csv")
    gone = people().filter(pl.col("id") == GONE)
    said = " ".join([*found.notes, *(f"{f.variable} {f.group} {f.attack}" for f in found.select("differencing"))])
    assert not [v for v in (str(gone["pay"][0]), gone["town"][0]) if v in said]


def test_true_values_enter_as_far_as_they_have_the_columns_and_nobody_is_left_out():
    steps = [{"do": "complete_cases", "columns": ["pay"]}, *STEPS[:2], {"do": "drop", "columns": ["name"]}]
    made = Plan.model_validate({"sfumato": 1, "variables": VARIABLES, "steps": steps})
    truth = pl.DataFrame({"id": [1, 2, 3], "pay": [5.0, None, 500.0]})
    assert as_entered(PolarsDataset(truth, Codebook()), made)["pay"].to_list() == [5.0, None, 90.0]
    assert as_entered(PolarsDataset(truth, Codebook()), None).equals(truth)


def test_one_truth_for_all_or_one_for_each():
    data = [PolarsDataset(people().head(k), Codebook()) for k in (1, 2, 3)]
    releases = [(d, Disclosure()) for d in data[:2]]
    assert [e.truth.height for e in before(releases, data[2:], None).releases] == [3, 3]
    assert [e.truth.height for e in before(releases, data, None).releases] == [2, 3]
    assert before(releases, data[1:], None, now=data[0]).truth.height == 1
    with pytest.raises(DataError, match="once for all"):
        before(releases, data[:2], None)
