import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.plan.parameter import Parameter
from sfumato.plan.plan import Plan

PLAN = Plan.from_yaml(
    """sfumato: 1
variables: {id: {role: record}}
steps:
  - {do: drop, columns: [a]}
  - {do: centroids, columns: [x, y], k: 5, round_to: {x: 0.5}}
  - {do: centroids, columns: [z], k: 5, min_stratum: 30, preset: avraam2021}
  - {do: noise, columns: [v, "w.1"], variance: {v: 2.0, w.1: 3.0}}
"""
)


def test_a_number_takes_its_new_value_and_nothing_else_changes():
    tuned = Parameter("steps.3.variance.v", PLAN).tuned(7.5)
    assert tuned.steps[3].variance == {"v": 7.5, "w.1": 3.0}
    assert tuned.steps[:3] == PLAN.steps[:3]
    assert tuned.variables == PLAN.variables
    assert tuned.digest != PLAN.digest
    assert Parameter("steps.3.variance.w.1", PLAN).tuned(1).steps[3].variance == {"v": 2.0, "w.1": 1.0}
    assert Parameter("steps.1.round_to.x", PLAN).tuned(2).steps[1].round_to == {"x": 2.0}


def test_defaults_that_follow_from_a_number_follow_it():
    """min_stratum is max(2k, k + 3) unless the plan's file says otherwise."""
    assert Parameter("steps.1.k", PLAN).tuned(20).steps[1].min_stratum == 40
    fixed = Parameter("steps.2.k", PLAN).tuned(20).steps[2]
    assert (fixed.min_stratum, fixed.preset, fixed.recentre) == (30, "avraam2021", False)
    with pytest.raises(PlanError, match=r"steps.2.k = 31: min_stratum"):
        Parameter("steps.2.k", PLAN).tuned(31)


def test_a_default_that_the_file_states_stays():
    """What the file says stays in force when the user writes the value found into it."""
    text = "sfumato: 1\nsteps: [{do: centroids, columns: [x], k: 5, min_stratum: 10}]\n"
    assert Parameter("steps.0.k", Plan.from_yaml(text)).tuned(7).steps[0].min_stratum == 10


def test_in_python_what_equals_its_default_follows():
    plan = Plan(steps=[sf.steps.Centroids(columns=["x"], k=5)])
    assert Parameter("steps.0.k", plan).tuned(20).steps[0].min_stratum == 40
    plan = Plan(steps=[sf.steps.Centroids(columns=["x"], k=5, min_stratum=25)])
    assert Parameter("steps.0.k", plan).tuned(20).steps[0].min_stratum == 25
    plan = Plan(steps=[sf.steps.Centroids(columns=["x"], k=5, preset="avraam2021")])
    assert Parameter("steps.0.k", plan).tuned(20).steps[0].min_stratum == 20


def test_lines_of_another_plan_are_not_believed():
    """A copy with other steps keeps the lines of its file, which do not speak of these steps."""
    changed = PLAN.model_copy(update={"steps": (sf.steps.Centroids(columns=["x"], k=3, recentre=False),)})
    step = Parameter("steps.0.k", changed).tuned(4).steps[0]
    assert (step.recentre, step.min_stratum) == (False, 8)


def test_whole_numbers_are_known():
    assert Parameter("steps.1.k", PLAN).whole
    assert not Parameter("steps.3.variance.v", PLAN).whole
    assert not Parameter("steps.1.max_suppressed", PLAN).whole
    assert isinstance(Parameter("steps.1.k", PLAN).tuned(4.0).steps[1].k, int)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("k", "names no parameter"),
        ("steps.k", "names no parameter"),
        ("steps.-1.k", "names no parameter"),
        ("limits.0.at_most", "names no parameter"),
        ("steps.4.k", "numbered from 0 to 3"),
        ("steps.0.columns", "drop has none"),
        ("steps.1.columns", "numbers of centroids: k, min_stratum"),
        ("steps.1.rescale", "numbers of centroids"),
        ("steps.1.grouping", "numbers of centroids"),
        ("steps.1.nothing", "numbers of centroids"),
        ("steps.1.__class__", "numbers of centroids"),
        ("steps.1.k.x", "does not give k by column"),
        ("steps.3.variance", "name one: steps.3.variance.v, steps.3.variance.w.1"),
        ("steps.3.variance.u", "columns: v, w.1"),
        ("steps.1.clip.x", "does not give clip by column"),
    ],
)
def test_what_is_no_number_is_refused(path, complaint):
    with pytest.raises(PlanError, match=complaint):
        Parameter(path, PLAN)


def test_a_value_that_the_step_refuses():
    with pytest.raises(PlanError, match=r"steps\.1\.k = 1: .*at least 2"):
        Parameter("steps.1.k", PLAN).tuned(1)


@pytest.mark.parametrize("name", ["min_leaf", "copies"])
def test_numbers_of_synthetic_copies_can_be_tuned(name):
    from sfumato.methods.synthesise.method import Synthesise

    plan = Plan(steps=[Synthesise(columns="all", copies=1)])
    knob = Parameter(f"steps.0.{name}", plan)
    assert knob.whole
    assert getattr(knob.tuned(20).steps[0], name) == 20


@pytest.mark.parametrize(("name", "text", "value"), [("method", "parametric", "parametric"), ("smooth", "true", True)])
def test_choices_of_synthetic_copies_can_be_tuned(name, text, value):
    from sfumato.methods.synthesise.method import Synthesise

    plan = Plan(steps=[Synthesise(columns="all", copies=1, min_leaf=7)])
    knob = Parameter(f"steps.0.{name}", plan)
    step = knob.tuned(knob.number(text)).steps[0]
    assert (getattr(step, name), step.min_leaf) == (value, 7)
    assert knob.tuned(0).steps[0] == plan.steps[0]
    with pytest.raises(PlanError, match=f"steps.0.{name} is none of: "):
        knob.number("forest")


def test_choices_are_named_where_a_parameter_is_none():
    from sfumato.methods.synthesise.method import Synthesise

    with pytest.raises(PlanError, match="numbers of synthesise: .*min_leaf.*method, smooth"):
        Parameter("steps.0.order", Plan(steps=[Synthesise(columns="all", copies=1)]))
