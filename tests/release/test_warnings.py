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
