"""What `anonymise` finds, what else could be had, and the plan that makes the release."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchy import Hierarchy
from sfumato.methods.anonymise.method import Anonymise
from sfumato.plan.plan import Plan
from sfumato.release.anonymising import asked_limits, with_step
from sfumato.steps import Recode
from tests.reasons import nobody_knows

AGES = Hierarchy.intervals(0, 99, [5, 10, 20])


def people(n=400):
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["none", "flu", "gout"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def search(**more):
    return sf.anonymise(people(), ["age", "sex"], hierarchies={"age": AGES}, unknown=nobody_knows(), **more)


@pytest.fixture(scope="module")
def found():
    return search(k=5)


def test_plain_values(found):
    plain = found.to_plain()
    assert set(plain) == {"score", "levels", "suppressed", "optimal", "bound"}
    assert plain["optimal"]
    assert plain["bound"] == pytest.approx(plain["score"])
    assert list(plain["levels"]) == ["age", "sex"]


def test_the_plan_makes_what_was_found(found):
    release = sf.protect(found.plan, people(), secret=bytes(16))
    assert release.ok
    assert len(release.data) == found.records - found.suppressed
    assert release.data.frame.group_by("age", "sex").len()["len"].min() >= 5
    assert found.plan.variables["age"].role == "key"
    again = Plan.from_yaml(found.plan.to_yaml())
    assert sf.protect(again, people(), secret=bytes(16)).data.frame.equals(release.data.frame)


def test_what_else_could_be_had(found):
    others = dict(found.others())
    assert set(others) == {"k = 4", "k = 6", "suppression_limit = 0.025", "suppression_limit = 0.1"}
    assert others["k = 4"].score <= found.score + 1e-9 <= others["k = 6"].score + 2e-9
    assert others["suppression_limit = 0.1"].score <= found.score + 1e-9
    strict = search(k=60, suppression_limit=0, sensitive=["ill"], alpha=0.62)
    assert all(other is None or other.score >= 0 for _, other in strict.others())


def test_levels_and_how_many_categories_there_are(found):
    for key in found.key_levels():
        assert key.level == found.levels[key.name]
        assert 1 <= key.now <= key.before
    local = search(k=5, local=True)
    assert local.score < found.score
    assert sum(key.now for key in local.key_levels()) > sum(key.now for key in found.key_levels())


def test_the_recoding_is_steps_for_next_years_file(found):
    steps = Plan.from_yaml(f"sfumato: 1\n{found.recoding()}").steps
    assert all(isinstance(step, Recode) for step in steps)
    assert {step.columns[0]: step.level for step in steps} == {n: level for n, level in found.levels.items() if level}
    recoded = sf.protect(Plan(steps=steps), people(), secret=bytes(16)).data.frame
    released = sf.protect(found.plan, people(), secret=bytes(16)).data.frame
    assert set(released["age"]) <= set(recoded["age"])


def test_what_comes_before_in_a_plan_is_done_first():
    before = Plan(
        variables={"old": {"role": "key"}},
        steps=[
            {"do": "derive", "column": "old", "formula": "if_else(age > 45, 'yes', 'no')"},
            {"do": "drop", "columns": ["age"]},
        ],
        limits=[{"measure": "k_anonymity", "at_least": 5, "group": "keys"}],
    )
    table = people().with_columns(old=pl.lit("no"))
    found = sf.anonymise(table, ["old", "sex"], plan=before, k=5)
    assert [step.name for step in found.plan.steps] == ["derive", "drop", "anonymise"]
    assert len(found.plan.limits) == 1
    assert [key.before for key in found.key_levels()] == [2, 2]


def test_what_is_asked_becomes_limits():
    step = Anonymise(
        keys=("a",), sensitive=("s",), k=4, l=3, l_kind="recursive", l_c=2, t=0.3, alpha=0.5, beta=2, risk_average=0.1
    )
    asked = {(limit.measure, limit.at, limit.bound) for limit in asked_limits(step)}
    assert asked == {
        ("k_anonymity", None, 4),
        ("l_recursive_c", 3, 2),
        ("t_equal", None, 0.3),
        ("alpha", None, 0.5),
        ("beta_basic", None, 2),
        ("risk_average", None, 0.1),
    }
    assert with_step(Plan(), step, {}).variables["s"].role == "sensitive"


@pytest.mark.parametrize(
    "asked",
    [
        {"l": 2},
        {"l": 1.8, "l_kind": "entropy"},
        {"l": 2, "l_kind": "recursive", "l_c": 3},
        {"t": 0.3},
        {"t": 0.2, "t_kind": "ordered"},
        {"alpha": 0.8},
        {"beta": 2.0},
        {"beta": 1.5, "beta_kind": "enhanced"},
        {"delta": 1.0},
        {"risk_average": 0.05},
        {"uniques_sample": 0.0},
    ],
    ids=str,
)
def test_what_was_asked_holds_by_the_measures_of_the_release(asked):
    """The search and the measures count apart from each other: what one finds, the other confirms."""
    found = search(k=3, sensitive=["ill"], suppression_limit=0.1, **asked)
    release = sf.protect(found.plan, people(), secret=bytes(16))
    assert len(found.plan.limits) == 2
    assert release.ok, [f for f in release.report.findings if f.ok is False]
