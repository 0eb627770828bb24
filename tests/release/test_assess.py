import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, SfumatoError
from sfumato.examples import cohort
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.derive import Derive
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan
from tests.reasons import nobody_knows

FRAME = cohort(300).select("id", "sex", "smoker", "bmi", "height")
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "smoker": {"role": "sensitive", "kind": "categorical"},
}
PLAN = Plan(
    variables=VARIABLES,
    steps=[
        Derive(column="tall", formula="height > 170", role="key"),
        Centroids(columns=["bmi", "height"], by=["sex", "tall"], k=3, on_small="merge"),
    ],
    limits=[{"measure": "k_anonymity", "at_least": 3}, {"measure": "u_main", "at_most": 0}],
)


@pytest.fixture(scope="module")
def release():
    return sf.protect(PLAN, FRAME, secret=bytes(16))


def figures(findings, *measures):
    return {(f.measure, f.variable, f.group, f.at): f.value for f in findings if f.measure in measures}


def test_one_file_is_measured_after_the_preparing_steps():
    found = sf.risk(FRAME, plan=PLAN)
    expected = FRAME.with_columns(tall=pl.col("height") > 170).group_by("sex", "tall").len()["len"].min()
    assert found.of("k_anonymity").value == expected
    assert found.of("l_distinct", variable="smoker").value is not None
    # a limit on what one file cannot show is left for `protect`
    assert {f.limit for f in found if f.ok is not None} == {3}


def test_two_files_give_what_protect_gave(release):
    found = sf.risk(FRAME, release.data, plan=PLAN)
    names = ("risk1", "risk2", "unchanged", "k_anonymity", "linkage_one_to_one")
    assert figures(found, *names) == pytest.approx(figures(release.report.findings, *names))
    for name in ("linkage_nearest", "interval_disclosure"):  # what undoing the scale gives, only the run itself knows
        told, whole = figures(found, name), figures(release.report.findings, name)
        assert {k: v for k, v in told.items() if k[2] != "released"}.items() <= whole.items()
        assert all(v <= whole[k] for k, v in told.items())


def test_what_is_compared_is_what_protect_compared(release):
    found = sf.compare(FRAME, release.data, plan=PLAN)
    names = ("u_main", "u_interactions", "delta", "il1s", "mean", "sd")
    assert figures(found, *names) == pytest.approx(figures(release.report.findings, *names))
    assert [f.ok for f in found if f.limit is not None] == [found.of("u_main").value <= 0]


def test_shuffled_files_are_joined_on_the_id(release):
    shuffled = release.data.frame.sample(fraction=1, shuffle=True, seed=1)
    names = ("risk1", "delta", "linkage_nearest")
    columns = {"columns": ["bmi", "height"], "record": "id"}
    plain = sf.risk(FRAME, release.data.frame, **columns)
    assert figures(sf.risk(FRAME, shuffled, **columns), *names) == pytest.approx(figures(plain, *names))


def test_guessing_who_is_who_is_refused(release):
    with pytest.raises(DataError, match="--record NAME"):
        sf.risk(FRAME, release.data.frame, columns=["bmi"])
    with pytest.raises(DataError, match="different orders"):
        sf.risk(FRAME, release.data.frame, columns=["bmi"], align="row-order")
    rows = release.data.frame.sort("id")
    assert sf.risk(FRAME.sort("id"), rows, columns=["bmi"], align="row-order").of("risk1").value is not None


def test_a_release_is_joined_on_its_id_when_attacked_by_rank(release):
    """Aligned by position the released values would be those of others, and hardly anybody would be found."""
    joined = sf.h_rank(FRAME, release.data, columns=["bmi", "height"])
    named = sf.h_rank(FRAME, release.data.frame, columns=["bmi", "height"], record="id")
    assert joined.h.tolist() == named.h.tolist()
    with pytest.raises(DataError, match="different orders"):
        sf.h_rank(FRAME, release.data.frame, columns=["bmi", "height"])


def test_a_limit_on_what_only_protect_sees_is_left_to_it(release):
    plan = PLAN.model_copy(update={"limits": (Limit(measure="linkage_nearest", group="unscaled", at_most=0),)})
    assert sf.risk(FRAME, release.data, plan=plan).ok


def test_paired_tables_tell_what_is_unchanged(release):
    assert sf.compare(FRAME, release.data, plan=PLAN).select("unchanged")


def test_unpaired_tables_are_compared_as_wholes():
    found = sf.compare(FRAME, FRAME.head(200))
    assert found.of("u_main").value is not None
    assert not found.select("delta")
    assert not found.select("unchanged")
    assert found.notes


def test_unknown_and_unfit_columns():
    with pytest.raises(DataError, match="no column 'nope'"):
        sf.risk(FRAME, columns=["nope"])
    with pytest.raises(DataError, match="no column 'nope'"):
        sf.risk(FRAME, by=["nope"])
    with pytest.raises(DataError, match="not numeric"):
        sf.risk(cohort(50), columns=["name"])


def test_nothing_to_go_by_is_said():
    found = sf.risk(pl.DataFrame({"id": range(100)}))
    assert "No column looks like one that an intruder may know" in found.notes[0]
    assert "No classes were measured" in found.notes[1]


def test_a_bare_table_is_measured_by_the_roles_that_init_would_guess():
    found = sf.risk(FRAME)
    assert "guessed from names and values" in found.notes[0]
    assert "sfumato init" in found.notes[0]
    assert found.of("k_anonymity", group="keys").value == 1


@pytest.mark.slow
def test_a_file_in_its_release_folder_has_been_through_all_steps(tmp_path):
    plan = sf.Plan(
        variables={"id": {"role": "record"}, "sex": {"role": "key", "kind": "categorical"}},
        steps=[sf.steps.Drop(columns=["name"]), sf.steps.Centroids(columns=["bmi"], by=["sex"], k=5)],
        unknown=nobody_knows("id"),
    )
    release = sf.protect(plan, cohort(300).select("id", "sex", "name", "bmi"), secret=bytes(16))
    release.write(tmp_path / "r")
    for given in (tmp_path / "r" / "plan.yaml", None):
        found = sf.risk(tmp_path / "r" / "data.parquet", plan=given)
        for group in ("keys", "strata"):
            expected = release.report.findings.of("k_anonymity", group=group).value
            assert found.of("k_anonymity", group=group).value == expected


def test_the_record_id_is_not_what_the_attacker_knows():
    """Though nobody gave it that role: it would find every record."""
    rows = pl.DataFrame({"id": range(300), "x": [float(i * 37 % 300) for i in range(300)]})
    noisy = rows.with_columns(x=pl.col("x") + pl.Series([float((i * 91) % 200 - 100) for i in range(300)]))
    found = sf.risk(rows, noisy, record="id")
    assert found.of("linkage_nearest", group="overall").value < 0.2


SURVEY = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", None, "f"],
        "area": [1, 1, 2, 2, 2, None],
        "ill": ["flu", "cold", "flu", "flu", "cold", "flu"],
        "pay": [1.5, 2.5, 3.5, 3.5, 2.5, 9.5],
        "w": [2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        "home": [1, 1, 2, 3, 3, 3],
    }
)


def test_named_keys_make_the_classes_and_roles_are_followed():
    found = sf.risk(SURVEY, keys=["sex", "area"], sensitive=["ill", "pay"], weight="w", household="home", fraction=0.5)
    assert {f.group for f in found.select("k_anonymity")} == {"keys"}
    assert found.of("k_anonymity").value == 1
    assert found.of("l_distinct", variable="ill", group="keys").value == 1
    assert found.of("t_ordered", variable="pay", group="keys").value > 0
    assert found.of("l_distinct", variable="pay", group="keys and others").value == 1
    assert found.of("expected_reidentifications_household").value > found.of("expected_reidentifications").value
    assert found.of("uniques_population_pitman").value is not None
    assert not found.select("h_rank")
    assert any("missing: category" in note for note in found.notes)


def test_missing_keys_by_the_rule_of_the_run():
    found = sf.risk(SURVEY, keys=["sex", "area"], missing="wildcard")
    assert found.of("k_anonymity").value == 3  # each of f and m with area, and the record without it (or sex)
    assert any("missing: wildcard" in note for note in found.notes)
    with pytest.raises(DataError, match="wildcard:ALPHA"):
        sf.risk(SURVEY, keys=["sex"], missing="joker")


def test_a_parquet_file_is_measured_as_its_table(tmp_path):
    SURVEY.with_columns(other=pl.lit([1])).write_parquet(tmp_path / "a.parquet")
    named = {"keys": ["sex", "area"], "sensitive": ["ill", "pay"], "weight": "w", "household": "home"}
    for more in ({}, {"missing": "wildcard:0.5", "fraction": 0.2}):
        assert sf.risk(tmp_path / "a.parquet", **named, **more) == sf.risk(SURVEY, **named, **more)
    with pytest.raises(DataError, match="above 0"):
        SURVEY.with_columns(w=-1.0).write_parquet(tmp_path / "b.parquet")
        sf.risk(tmp_path / "b.parquet", **named)


def test_without_keys_they_are_guessed_around_what_was_named():
    found = sf.risk(SURVEY, sensitive="sex")
    assert found.of("l_distinct", variable="sex").value is not None
    assert "sex" not in next(note for note in found.notes if "guessed" in note or "No column" in note).split("--")[0]


def test_named_keys_of_a_protected_file():
    after = SURVEY.with_columns(pay=pl.col("pay") + 0.1)
    found = sf.risk(SURVEY, after, columns=["pay"], align="row-order", keys=["sex"], sensitive="ill")
    assert found.of("k_anonymity", group="keys").value == 2  # who has no key is in no class
    assert found.of("alpha", variable="ill", group="keys").baseline is not None


def test_strata_beside_named_keys():
    found = sf.risk(SURVEY, keys=["sex", "area"], by=["area"])
    assert [(f.group, f.value) for f in found.select("k_anonymity")] == [("keys", 1.0), ("strata", 2.0)]


def test_adult_generalised(shared_data):
    """The figures of the notes, in which those of the peers agree: to all digits that they print."""
    data = sf.read(shared_data / "adult" / "adult_generalised_k5.csv", delimiter=";")
    found = sf.risk(data, keys=[n for n in data.columns if n != "occupation"], sensitive="occupation")
    expected = {
        "k_anonymity": 5,
        "alpha": 0.8333333333,
        "l_distinct": 2,
        "l_entropy": 1.5691925832,
        "t_equal": 0.8903708744,
        "t_ordered": 0.3154122842,
        "beta_basic": 133.6106870229,
        "risk_average": 0.0100714529,
    }
    assert {name: found.of(name, group="keys").value for name in expected} == pytest.approx(expected, abs=1e-10)


def test_columns_that_became_categories_are_left_out_of_comparisons_with_a_note():
    before = sf.read(
        pl.DataFrame({"id": range(40), "age": [20 + i % 10 for i in range(40)], "pay": [float(i) for i in range(40)]})
    )
    after = sf.read(before.frame.with_columns(age=pl.lit("20-29"), pay=pl.col("pay") + 0.5))
    found = sf.compare(before, after, record="id")
    assert any(note.startswith("age: numbers in one table and categories in the other") for note in found.notes)
    assert {f.variable for f in found.select("mean")} == {"pay"}
    assert sf.risk(before, protected=after, record="id").select("unchanged")
    with pytest.raises(SfumatoError, match="age"):
        sf.compare(before, after, record="id", model="pay ~ age", family="linear")
    with pytest.raises(SfumatoError, match="age"):
        sf.compare(before, after, record="id", columns=["age"])


def test_tables_of_categories_alone_are_compared():
    before = pl.DataFrame({"town": ["a", "b"] * 30, "sex": ["f", "m", "m"] * 20})
    found = sf.compare(before, before.with_columns(town=pl.lit("a")))
    (line,) = found.select("u_main")
    assert line.value > 0


def test_without_a_plan_what_left_as_it_was_is_found_by_comparing():
    """Town left, age in bands of ten too; income moved: whoever knows town and age is who the two groups are of."""
    frame = pl.DataFrame(
        {"id": range(60), "town": ["a", "b"] * 30, "age": [20 + i % 40 for i in range(60)]}
        | {"income": [100.0 * (i * 37 % 60) for i in range(60)]}
    )
    out = frame.with_columns(pl.col("age") // 10 * 10, pl.col("income") + 13.0)
    found = sf.risk(frame, out, record="id")
    sizes = out.group_by("town", "age").len()["len"]
    assert found.of("k_anonymity", group="released").value == sizes.min()
    (nearest,) = found.select("linkage_nearest", group="released")
    assert nearest.value == 1.0  # within a class the nearest income is the right one: all moved alike


def test_texts_that_were_exchanged_are_not_taken_for_numbers():
    """Whoever compares the files finds what `protect` found, by the numbers among the exchanged columns."""
    n = 60
    frame = pl.DataFrame(
        {"id": range(n), "town": ["a", "b", "c"] * 20, "age": [20 + i % 40 for i in range(n)]}
        | {"income": [100.0 * (i * 37 % n) for i in range(n)]}
    )
    variables = {"id": {"role": "record"}, "town": {"kind": "categorical"}, "age": {"kind": "integer"}}
    plan = sf.Plan(variables=variables, steps=[{"do": "swap", "columns": ["town", "age", "income"], "group": 5}])
    done = sf.protect(plan, frame, secret=bytes(16))
    (was,) = done.report.findings.select("linkage_nearest", group="overall")
    (found,) = sf.risk(frame, done.frame, plan=plan, record="id").select("linkage_nearest", group="overall")
    assert found.value == pytest.approx(was.value)
    compared = sf.compare(frame, done.frame, plan=plan, record="id").select("mean")
    assert {f.variable for f in compared} >= {"age", "income"}
