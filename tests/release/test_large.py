"""What is measured of rows that are not in memory is what the memory engine measures."""

import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.query import Counts
from sfumato.data.roles import Role
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import TooManyGroups
from sfumato.measures import registry
from sfumato.measures.folds.asking import TOO_MANY
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import entered
from sfumato.plan.limits import Limit, apply_limits
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release import forms
from sfumato.release import measure as measuring
from sfumato.release.classes import Exposed
from sfumato.release.forms import OTHERS_LEFT_OUT
from sfumato.release.large import LEFT_OUT, SAMPLED, STRATA_SAMPLED, measure_many
from sfumato.release.large_risk import risk_parted
from sfumato.release.measure import measure
from sfumato.release.measured import pair_of, subject_of
from sfumato.release.protect import protect
from sfumato.release.run import run_plan, run_steps
from sfumato.release.secret import Secret
from tests.golden.paths.plans import names
from tests.golden.paths.recording import recorded
from tests.methods.tables import PEOPLE_BOOK, people
from tests.release.scattered import Scattered

N = 200  # three batches, the third of six
SECRET = Secret(bytes(range(32)))
ROLES = {"h": Role.KEY, "town": Role.SENSITIVE}
STEPS = {
    "noise": [{"do": "noise", "columns": ["x", "y"], "by": ["g"], "share": 0.1}],
    "rows left out": [
        {"do": "noise", "columns": ["x"], "sd": 2},
        {"do": "suppress_strata", "by": ["h", "town"], "min_count": 10, "max_suppressed": 0.9},
    ],
    "pram": [{"do": "pram", "columns": ["g"], "retention": 0.8}],
    "centroids": [{"do": "centroids", "columns": ["x", "y"], "k": 5, "by": ["g"], "rescale": True}],
}
EXACT = {
    *("mean", "sd", "quantile", "correlation", "delta", "il1s", "unchanged", "interval_disclosure", "k_anonymity"),
    *("out_of_range", "suppressed_records", "uniques_sample"),
}


def figures(findings):
    return {(f.measure, f.variable, f.group, f.at, f.attack): (f.value, f.baseline) for f in findings}


def plan_of(steps):
    variables = {n: v.model_copy(update={"label": None}) for n, v in PEOPLE_BOOK.items()}
    variables |= {n: variables[n].model_copy(update={"role": role}) for n, role in ROLES.items()}
    return Plan(variables=variables, steps=steps)


def in_memory(plan, frame, only, how=None):
    """What measures of records tell of the run in memory, those of these figures; the others take no time."""
    entering = entered(plan, PolarsDataset(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    ran = run_steps(plan.steps, entering, Draws(SECRET.value), plan=plan.digest)
    subject = subject_of(plan, ran, pair_of(plan, ran), how or Measuring(), Exposed(()))
    return measure(subject, quiet, only=only)


def refuse_other(told, expected):
    """A figure and its baseline are equal, or there is none of them in either."""
    for key, pair in told.items():
        for one, other in zip(pair, expected[key], strict=True):
            assert (one is None) == (other is None), key
            assert one is None or one == pytest.approx(other, rel=1e-9, abs=1e-12), key


@pytest.mark.few(2)
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_small_table_is_measured_as_in_memory(steps):
    frame, plan = people(N), plan_of(steps)
    memory = protect(plan, PolarsDataset(frame, Codebook()), SECRET).report.findings
    parted = protect(plan, Scattered.of(frame), SECRET).report.findings
    assert set(figures(parted)) == set(figures(memory))
    refuse_other(figures(parted), figures(memory))
    assert set(parted.notes) == set(memory.notes)


@pytest.mark.few(1)
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_of_a_large_table_what_sums_tell_is_of_all_rows(steps):
    frame, plan = people(N), plan_of(steps)
    memory = figures(protect(plan, PolarsDataset(frame, Codebook()), SECRET).report.findings)
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    ran = run_plan(plan.bound(entering.codebook), entering, Draws(SECRET.value), quiet)
    found = measure_many(plan.bound(entering.codebook), ran, Measuring(most=80), quiet)
    exact = {key: value for key, value in figures(found).items() if key[0] in EXACT}
    assert {SAMPLED.format(most=80), LEFT_OUT} <= set(found.notes)
    assert set(exact) == {key for key in memory if key[0] in EXACT}
    refuse_other(exact, memory)


@pytest.mark.slow
def test_a_sample_hangs_on_ids_alone_and_finds_no_fewer_than_all():
    frame, plan = people(N), plan_of(STEPS["noise"])
    memory = figures(protect(plan, PolarsDataset(frame, Codebook()), SECRET).report.findings)
    told = []
    for rows in (frame, frame.reverse()):
        entering = Scattered.of(rows, plan.codebook(rows, Codebook()))
        ran = run_plan(plan.bound(entering.codebook), entering, Draws(SECRET.value), quiet)
        told.append(figures(measure_many(plan.bound(entering.codebook), ran, Measuring(most=80), quiet)))
    refuse_other(told[0], told[1])
    key = ("linkage_nearest", None, "overall", None, "nearest")
    assert told[0][key][0] >= memory[key][0] - 0.15  # 80 of 200: the standard error of a share is at most .045


@pytest.mark.slow
def test_what_averages_tell_is_tried_in_whole_strata():
    frame = people(N)
    told = {}
    for name in ("centroids", "noise"):
        plan = plan_of(STEPS[name])
        entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
        ran = run_plan(plan.bound(entering.codebook), entering, Draws(SECRET.value), quiet)
        told[name] = measure_many(plan.bound(entering.codebook), ran, Measuring(most=N - 1), quiet)
    assert frame["g"].value_counts()["count"].max() < N - 1
    few, whole = ran.sides.strata(["g"], N - 1), ran.sides.strata(["g"], N)
    assert whole.after.height == N
    counts = few.after["g"].value_counts().rows()
    assert all(dict(frame["g"].value_counts().rows())[g] == n for g, n in counts)
    lines = [f for f in told["centroids"] if f.measure == "reconstruction"]
    assert lines
    assert all(f.value is not None for f in lines)
    note = STRATA_SAMPLED.format(most=N - 1)
    assert note in told["centroids"].notes
    assert note not in told["noise"].notes


def test_the_loop_over_forms_knows_no_measure():
    text = Path(forms.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert not {*re.findall(r"\w+", text)} & {*registry.figures()}


def brought_by_others(monkeypatch, name):
    """As if another package brought one of our measures, which says nothing of large tables."""
    theirs = replace(registry.measures()[name], forms={})
    brought = MappingProxyType({**registry.measures(), name: theirs})
    for module in (registry, forms, measuring):
        monkeypatch.setattr(module, "measures", lambda: brought)
    monkeypatch.setattr(forms, "ours", lambda: frozenset(registry.figures()) - theirs.names)


def test_the_risk_of_one_large_table_leaves_it_out_too(monkeypatch):
    data = Scattered.of(people(N))
    brought_by_others(monkeypatch, "below_k")
    few, many = (risk_parted(data, by=["g", "h"], how=Measuring(most=most)) for most in (N, N - 1))
    assert {f.measure for f in few} - {f.measure for f in many} == {"below_k"}
    assert OTHERS_LEFT_OUT.format(figures="below_k") in many.notes
    assert all(f in few.lines for f in many)


@pytest.mark.slow
def test_a_measure_of_another_package_is_left_out_by_name(monkeypatch):
    """It has no form for large tables: of a sample, a count would pass for one of everybody."""
    frame = people(N)
    plan = plan_of(STEPS["noise"])
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    bound = plan.bound(entering.codebook)
    ran = run_plan(bound, entering, Draws(SECRET.value), quiet)
    assert "u_main" in {f.measure for f in measure_many(bound, ran, Measuring(most=100), quiet)}
    brought_by_others(monkeypatch, "propensity")
    found = measure_many(bound, ran, Measuring(most=100), quiet)
    assert not {"u_main", "u_interactions"} & {f.measure for f in found}
    assert OTHERS_LEFT_OUT.format(figures="u_main, u_interactions") in found.notes
    judged = apply_limits(found, [Limit(measure="u_main", at_most=1.0)])
    assert [(f.measure, f.ok) for f in judged if f.measure == "u_main"] == [("u_main", False)]


def test_what_is_recorded_of_parts_has_a_form_for_them():
    """And nothing that large tables have comes from a measure that says it has none."""
    for name in names():
        told = recorded(name)["parts"].get("findings", {})
        there = {figure for figure, lines in told.items() if any(line[4] is not None for line in lines)}
        assert all(registry.measure_of(figure).forms for figure in there), name


def test_of_too_many_classes_the_smallest_is_told(monkeypatch):
    def refuse(self, query):
        if isinstance(query, Counts) and "h" in query.by:
            raise TooManyGroups(query.by, 5)
        return ask(self, query)

    frame = people(N)
    plan = Plan(variables={"id": {"role": "record"}, "h": {"role": "key"}}, steps=[])
    ran = run_plan(plan, Scattered.of(frame, plan.codebook(frame, Codebook())), Draws(SECRET.value), quiet)
    ask = Scattered.ask
    monkeypatch.setattr(Scattered, "ask", refuse)
    found = measure_many(plan, ran, Measuring(most=100), quiet)
    assert TOO_MANY in found.notes
    assert {(f.measure, f.value) for f in found} >= {("k_anonymity", float(frame["h"].value_counts()["count"].min()))}


@pytest.mark.slow
def test_each_synthetic_copy_is_measured_by_itself():
    """Three copies of a person are no three people alike."""
    steps = [{"do": "synthesise", "columns": ["x", "town"], "where": "x > 9", "copies": 3}]
    frame, plan = people(N), plan_of(steps)
    memory = figures(protect(plan, PolarsDataset(frame, Codebook()), SECRET).report.findings)
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    bound = plan.bound(entering.codebook)
    ran = run_plan(bound, entering, Draws(SECRET.value), quiet)
    told = figures(measure_many(bound, ran, Measuring(most=100), quiet))
    assert {"k_anonymity", "table_ratio", "unchanged", "mean"} <= {key[0] for key in told}
    refuse_other(told, memory)


def test_what_breaks_a_rule_is_told_wherever_copies_are_drawn():
    """A question of the step tells it: workers elsewhere have no other way to."""
    frame = people(N)
    rules = [{"if": "x > 12", "column": "n", "value": 1}]
    step = {"do": "synthesise", "columns": ["x", "n"], "where": "x > 9", "rules": rules}
    plan = plan_of([step])
    here = entered(plan, PolarsDataset(frame, Codebook()))
    memory = run_steps(plan.bound(here.codebook).steps, here, Draws(SECRET.value), plan=plan.digest).steps[0].notes
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    ran = run_plan(plan.bound(entering.codebook), entering, Draws(SECRET.value), quiet)
    assert ran.steps[0].notes == memory
    assert any("break this rule" in note for note in memory)
