"""What custodians are told before anything else."""

import polars as pl

import sfumato as sf

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


def warnings(frame=FRAME, **town):
    plan = sf.Plan(
        variables=VARIABLES | {"town": VARIABLES["town"] | town},
        steps=[sf.steps.Centroids(columns=["bmi"], by=["sex"], k=5)],
    )
    return sf.protect(plan, frame, secret=SECRET).report.warnings


def test_categories_that_no_figure_counts_are_told_where_they_would_tell_people_apart():
    (said,) = warnings()
    assert "town" in said
    assert "role other" in said
    assert "zq" not in said
    assert warnings(FRAME.with_columns(town=pl.lit("a"))) == ()


def test_where_keys_alone_tell_people_apart_the_limits_say_so():
    assert warnings(role="key") == ()


def test_a_record_column_that_looks_real_is_told():
    same = FRAME.with_columns(pl.col("id") + 9_434_765_870, town=pl.lit("a"))
    (said,) = warnings(same)
    assert "does not look like" in said


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
