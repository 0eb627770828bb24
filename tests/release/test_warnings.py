"""What custodians are told before anything else."""

import polars as pl
import pytest

import sfumato as sf

pytestmark = pytest.mark.usefixtures("few_measures")

SECRET = bytes(range(16))
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "town": {"kind": "categorical"},
    "bmi": {"role": "key", "kind": "continuous"},
}
FRAME = pl.DataFrame(
    {
        "id": range(60),
        "sex": ["f", "m"] * 30,
        "town": ["a"] * 59 + ["zq"],
        "bmi": [20 + (i * 37 % 60) / 7 for i in range(60)],
    }
)


def open_release(**more):
    plan = sf.Plan(
        variables=VARIABLES | {"bmi": {"role": "sensitive", "kind": "continuous"}, "town": {"role": "identifier"}},
        steps=[sf.steps.Drop(columns=["town"]), sf.steps.Centroids(columns=["bmi"], by=["sex"], k=5)],
        **more,
    )
    return [said for said in sf.protect(plan, FRAME, secret=SECRET).report.warnings if "access" in said]


def test_sensitive_variables_open_to_everybody_want_consent():
    (said,) = open_release(access="open")
    assert "bmi" in said
    assert "consent" in said
    assert open_release(access="open", consent="Use in research, by anybody.") == []
    assert open_release(access="safeguarded") == []
    assert open_release() == []


HOMES = pl.DataFrame(
    {
        "id": range(60),
        "home": [*range(54), *[99] * 6],
        "job": [*["clerk", "nurse"] * 27, *["rare"] * 6],
        "income": [*[20_000 + 300 * i for i in range(54)], *[999_000] * 6],
    }
)
COUNTING = [
    sf.steps.MergeRare(columns=["job"], min_count=5),
    sf.steps.MapText(columns=["job"], map={"clerk": "c", "nurse": "n", "rare": "r"}, min_count=5),
    sf.steps.TopCode(columns=["income"], quantile=0.95),
    sf.steps.Recode(columns=["income"], band={"n": 4}),
]


def of_one_household(step, frame=HOMES, role="household"):
    book = {"id": {"role": "record"}, "home": {"role": role}, "job": {"role": "key", "kind": "categorical"}}
    plan = sf.Plan(variables=book | {"income": {"role": "key", "kind": "integer"}}, steps=[step])
    said = sf.protect(plan, frame, secret=SECRET).report.warnings
    return [each for each in said if "counts records" in each]


@pytest.mark.parametrize("step", COUNTING, ids=lambda step: step.name)
def test_records_of_one_household_are_no_threshold_of_people(step):
    (said,) = of_one_household(step)
    assert said.startswith(f"{step.name} ({step.columns[0]}) counts records, and several are of one household (home)")
    assert not any(c.isdigit() for c in said)
    assert of_one_household(step, HOMES.with_columns(home=pl.col("id"))) == []
    assert of_one_household(step, role="other") == []


def test_steps_without_a_threshold_count_nothing():
    assert of_one_household(sf.steps.TopCode(columns=["income"], at=30_000, k=0)) == []
    assert of_one_household(sf.steps.Recode(columns=["income"], band=[30_000])) == []
