"""Numbers of a plan that can be tuned."""

from sfumato import Plan, steps
from sfumato.api.tunable import tunable
from sfumato.plan.parameter import Parameter


def test_numbers_are_listed_by_step_and_by_column_and_each_can_be_tuned():
    plan = Plan(steps=[steps.Drop(columns=["a"]), steps.Noise(columns=["b", "c.d"], sd={"b": 1, "c.d": 2.5})])
    found = tunable(plan)
    assert found["steps.1.sd.b"] == 1
    assert found["steps.1.sd.c.d"] == 2.5
    assert not any(path.startswith("steps.0") for path in found)
    for path in found:
        Parameter(path, plan)


def test_a_plan_without_steps_has_none():
    assert tunable(Plan()) == {}


def test_what_categories_become_is_no_number_to_be_tuned():
    """Codes may be whole numbers, which no column's name is."""
    codes = steps.Recode(columns=["a"], map={97: 97, 1: 2}, other="missing")
    texts = steps.Recode(columns=["b"], map={"x": 1})
    assert tunable(Plan(steps=[codes, texts])) == {}
