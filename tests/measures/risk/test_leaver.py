"""The release without one person, beside the one with them."""

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import ROW
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.release import leaving
from sfumato.release.run import run_plan
from sfumato.report.advice import advice

N = 120
RNG = np.random.default_rng(1)
PAY = np.round(RNG.lognormal(10, 1, N))
PAY[7] = 40 * PAY.max()
PEOPLE = pl.DataFrame({"id": range(N), "sex": RNG.choice(["f", "m"], N), "pay": PAY, "age": RNG.integers(18, 80, N)})
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key"},
    "pay": {"kind": "continuous", "role": "sensitive"},
    "age": {"kind": "integer", "role": "key"},
}


def told(*steps, leaver=True, frame=PEOPLE, **how):
    plan = sf.Plan(variables={n: v for n, v in VARIABLES.items() if n in frame.columns}, steps=list(steps))
    release = sf.protect(plan, frame, secret=bytes(range(32)), leaver=leaver, **how)
    lines = [f for name in ("redrawn", "leaver") for f in release.report.findings.select(name)]
    return release, {(f.measure, f.variable, f.attack): f.value for f in lines}


def test_a_strength_that_is_learned_draws_everybody_anew_when_the_largest_leaves():
    _, found = told({"do": "noise", "columns": ["pay"], "share": 0.1})
    assert found["redrawn", "pay", "extreme"] > 0.9


def test_a_strength_that_is_said_draws_nobody_anew():
    _, found = told({"do": "noise", "columns": ["pay"], "sd": 5000})
    assert {value for key, value in found.items() if key[0] == "redrawn"} == {0.0}


def test_what_is_taken_over_from_an_earlier_release_draws_nobody_anew(tmp_path):
    step = {"do": "noise", "columns": ["pay"], "share": 0.1}
    told(step)[0].write(tmp_path / "wave1", force=True)
    _, found = told(step, earlier=tmp_path / "wave1")
    assert found["redrawn", "pay", "extreme"] == 0.0


def test_sums_that_are_kept_give_the_leaver_away():
    _, found = told({"do": "centroids", "columns": ["age"], "k": 5, "grouping": "mdav", "moments": "exact"})
    assert found["leaver", "age", "extreme"] < 0.01
    assert found["redrawn", "age", "extreme"] > 0.2


def test_values_that_all_stay_show_which_has_gone():
    release, found = told({"do": "swap", "columns": ["pay"], "random": True})
    assert found["leaver", "pay", "extreme"] == 0.0
    assert "pay of the one who left is told exactly" in advice(release.report.findings).risk


def test_a_mean_in_the_place_of_the_largest_hides_who_leaves_by_its_rounding():
    _, found = told({"do": "top_code", "columns": ["pay"], "quantile": 0.9, "replace": "mean"})
    assert ("leaver", "pay", "extreme") in found
    assert found["redrawn", "pay", "extreme"] < 0.2  # only the tail has another mean


def test_steps_that_learn_nothing_of_others_are_not_run_again():
    assert told({"do": "drop", "columns": ["age"]})[1] == {}
    assert told({"do": "top_code", "columns": ["pay"], "at": 50_000, "k": 0})[1] == {}


def test_a_person_leaves_with_all_records():
    visits = pl.concat([PEOPLE.with_columns(who=pl.col("id"), id=pl.col("id") + N * i) for i in range(2)])
    entering = PolarsDataset(
        visits.with_row_index(ROW), Codebook({"id": Variable(role="record"), "who": Variable(role="person")})
    )
    plan = sf.Plan(steps=[sf.steps.Noise(columns=["pay"], sd=10)])
    book = entering.codebook.replace(pay=Variable(kind="continuous"))
    entering = PolarsDataset(entering.frame, Codebook({**{n: Variable() for n in visits.columns}, **book}))
    ran = run_plan(plan, entering, Draws(bytes(32)))
    (random, extreme), _ = leaving.without_a_person(plan, entering, ran, Draws(bytes(32)), wanted=True)
    for one in (random, extreme):
        assert visits.filter(one.gone)["who"].n_unique() == 1
        assert one.gone.sum() == 2
    assert set(visits.filter(extreme.gone)["who"]) == {7}


def test_it_is_little_work_or_said_and_never_done_where_it_is_not_wanted(monkeypatch):
    step = {"do": "noise", "columns": ["pay"], "share": 0.1}
    assert told(step, leaver=False)[1] == {}
    monkeypatch.setattr(leaving, "UNASKED", True)
    assert told(step, leaver=None)[1]
    monkeypatch.setattr(leaving, "MOST_WORK", 10.0)
    release, found = told(step, leaver=None)
    assert found == {}
    assert any("--leaver" in note for note in release.report.findings.notes)
    assert told(step, leaver=True)[1]


def test_nothing_of_it_is_published(tmp_path):
    release, _ = told({"do": "noise", "columns": ["pay"], "share": 0.1})
    release.write(tmp_path / "r", force=True)
    for name in ("report.html", "datapackage.json"):
        text = (tmp_path / "r" / name).read_text()
        assert "redrawn" not in text
        assert "drawn anew" not in text


def test_a_limit_may_name_it():
    plan = sf.Plan(
        variables=VARIABLES,
        steps=[{"do": "noise", "columns": ["pay"], "share": 0.1}],
        limits=[{"measure": "redrawn", "at_most": 0.5}],
    )
    release = sf.protect(plan, PEOPLE, secret=bytes(range(32)), leaver=True)
    assert release.verdict == "exceeded"
