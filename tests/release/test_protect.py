from importlib import import_module

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, LimitExceeded, PlanError
from sfumato.examples import cohort
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.drop import Drop
from sfumato.methods.noise import Noise
from sfumato.methods.recode import Recode
from sfumato.methods.suppress_strata import SuppressStrata
from sfumato.plan.plan import Plan
from tests.reasons import nobody_knows

FRAME = cohort(150).select("id", "sex", "smoker", "asthma", "bmi", "height", "name")
VARIABLES = {
    "id": {"role": "record"},
    "name": {"role": "identifier"},
    "sex": {"role": "key", "kind": "categorical"},
    "smoker": {"role": "key", "kind": "categorical"},
    "asthma": {"role": "outcome", "kind": "categorical"},
}
STEPS = [Drop(columns=["name"]), Centroids(columns=["bmi", "height"], by=["sex"], k=5)]
SECRET = bytes(range(16))


KEYS = {"measure": "k_anonymity", "group": "keys", "at_least": 5}


def plan(*steps, limits=(KEYS,)):
    return Plan(title="t", variables=VARIABLES, steps=steps or STEPS, limits=limits, unknown=nobody_knows("id"))


@pytest.fixture(scope="module")
def release():
    return sf.protect(plan(), FRAME, secret=SECRET)


def test_a_release_has_its_parts(release):
    assert release.data.columns == ["id", "sex", "smoker", "asthma", "bmi", "height"]
    assert sorted(release.data["id"]) == sorted(FRAME["id"])
    assert [d.what for d in release.disclosure] == ["dropped", "averaged"]
    assert release.report.fingerprint
    assert release.ok


@pytest.mark.usefixtures("few_measures")
def test_the_same_in_pandas(release):
    pandas = import_module("pandas")
    again = sf.protect(plan(), FRAME.to_pandas(), secret=SECRET)
    assert isinstance(FRAME.to_pandas(), pandas.DataFrame)
    assert again.data.frame.equals(release.data.frame)


def test_the_original_is_left_alone():
    frame = FRAME.clone()
    sf.protect(plan(), frame, secret=SECRET)
    assert frame.equals(FRAME)


def test_measures_are_of_masked_columns_within_their_strata(release):
    found = release.report.findings
    assert [f.variable for f in found.select("delta")] == ["bmi", "height"]
    assert {f.group for f in found.select("linkage_nearest")} == {"overall", "stratum", "unscaled", "everything"}
    assert found.of("k_anonymity", group="strata").value == FRAME["sex"].value_counts()["count"].min()
    assert found.of("k_anonymity", group="keys").value == FRAME.group_by("sex", "smoker").len()["len"].min()
    # baseline is the unprotected table: everybody's own values are released
    assert found.of("risk1").baseline == 1


def test_the_users_model_is_by_default_the_outcome_on_the_rest(release):
    labels = [f.variable for f in release.report.findings.select("standardised_difference")]
    assert labels[0] == "Intercept"
    assert {"bmi", "height"} <= set(labels)


def test_a_model_of_the_users_own():
    found = sf.protect(plan(), FRAME, secret=SECRET, model="bmi ~ height", family="linear").report.findings
    assert [f.variable for f in found.select("ci_overlap")] == ["Intercept", "height"]


@pytest.mark.usefixtures("few_measures")
def test_records_that_a_step_removed_are_not_compared():
    small = FRAME.with_columns(
        sex=pl.when(pl.col("id") <= 3).then(pl.lit("x")).otherwise(pl.col("sex").cast(pl.String))
    )
    steps = [Drop(columns=["name"]), STEPS[1].model_copy(update={"on_small": "suppress"})]
    released = sf.protect(plan(*steps), small, secret=SECRET)
    assert released.data.frame.height == FRAME.height - 3
    assert released.report.findings.of("delta", variable="bmi").value < 1
    first = sf.protect(
        plan(Drop(columns=["name"]), SuppressStrata(by=["sex"], min_count=5), STEPS[1]), small, secret=SECRET
    )
    assert first.data.frame.height == FRAME.height - 3


def test_records_left_out_count_as_loss():
    """The baseline is the table as it entered masking, with the records that a step then left out."""
    far = FRAME.with_columns(
        bmi=pl.when(pl.col("id") <= 3).then(90.0).otherwise("bmi"),
        sex=pl.when(pl.col("id") <= 3).then(9).otherwise(pl.col("sex")),
    )
    steps = [Drop(columns=["name"]), STEPS[1].model_copy(update={"on_small": "suppress"})]
    found = sf.protect(plan(*steps), far, secret=SECRET).report.findings
    assert found.of("mean", variable="bmi").baseline == pytest.approx(far["bmi"].mean())
    assert found.of("u_main").value > 0


@pytest.mark.slow
def test_a_later_step_may_take_the_numbers_away():
    steps = [*STEPS, Recode(columns=["bmi"], band=[20, 30])]
    found = sf.protect(plan(*steps), FRAME, secret=SECRET).report.findings
    assert [f.variable for f in found.select("delta")] == ["height"]
    assert "bmi" in " ".join(found.notes)


def test_classes_are_held_against_the_table_before_anything_was_coarsened():
    """And pairs against the table as it entered masking: recoded before, a column is compared as recoded."""
    steps = [STEPS[0], Recode(columns=["sex"], map={1: 0, 2: 0}), STEPS[1]]
    found = sf.protect(plan(*steps), FRAME, secret=SECRET).report.findings
    sizes = FRAME["sex"].value_counts()["count"]
    strata = found.of("k_anonymity", group="strata")
    assert (strata.value, strata.baseline) == (FRAME.height, sizes.min())


@pytest.mark.slow
def test_columns_that_were_coarsened_after_masking_are_not_compared():
    late = Recode(columns=["smoker"], map={0: 5, 1: 5})
    coarse = sf.protect(plan(*STEPS, late), FRAME, secret=SECRET).report.findings
    without = Plan(variables={n: v for n, v in VARIABLES.items() if n != "smoker"}, steps=STEPS, limits=(KEYS,))
    plain = sf.protect(without, FRAME.drop("smoker"), secret=SECRET).report.findings
    for measure in ("u_main", "u_trees"):
        assert coarse.of(measure).value == pytest.approx(plain.of(measure).value)
    assert not [f for f in coarse.select("standardised_difference") if "smoker" in f.variable]


def test_whole_numbers_that_may_be_codes_are_refused():
    codes = FRAME.with_columns(area=pl.col("id") * 7 % 211)
    steps = [Drop(columns=["name"]), Centroids(columns=["area"], k=5)]
    with pytest.raises(PlanError, match="may be codes"):
        sf.protect(plan(*steps), codes, secret=SECRET)


@pytest.mark.usefixtures("few_measures")
def test_no_secret_given_means_it_cannot_be_repeated(monkeypatch):
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    assert not sf.protect(plan(), FRAME).report.repeatable


@pytest.mark.usefixtures("few_measures")
def test_only_draws_hang_on_the_secret():
    """`centroids` by nearest neighbours with exact moments draws nothing: order and fingerprint change alone."""
    exact = plan(STEPS[0], STEPS[1].model_copy(update={"moments": "exact"}))
    one, other = (sf.protect(exact, FRAME, secret=s) for s in (SECRET, SECRET[::-1]))
    assert one.data.frame.sort("id").equals(other.data.frame.sort("id"))
    assert one.report.fingerprint != other.report.fingerprint


def test_ids_must_be_unique_and_there():
    twice = FRAME.with_columns(id=pl.when(pl.col("id") == 5).then(6).otherwise("id"))
    with pytest.raises(DataError, match="more than once"):
        sf.protect(plan(), twice, secret=SECRET)
    gone = FRAME.with_columns(id=pl.when(pl.col("id") != 5).then("id"))
    with pytest.raises(DataError, match="missing ids"):
        sf.protect(plan(), gone, secret=SECRET)


@pytest.mark.usefixtures("few_measures")
def test_keys_that_nothing_protects_are_refused_until_a_limit_speaks_of_them():
    refused = sf.protect(plan(limits=()), FRAME, secret=SECRET)
    (said,) = refused.report.refusals
    assert "smoker" in said
    assert "sex" not in said
    assert not refused.ok
    assert sf.protect(plan(), FRAME, secret=SECRET).ok


def test_a_release_without_any_measured_risk_is_refused():
    nothing = Plan(variables={"id": {"role": "record"}}, steps=[Drop(columns=["name"])])
    (said,) = sf.protect(nothing, FRAME, secret=SECRET).report.refusals
    assert said.startswith("no risk was measured")


def test_a_plan_that_masks_nothing_is_still_reported():
    release = sf.protect(plan(Drop(columns=["name"])), FRAME, secret=SECRET)
    assert "no numeric column was masked" in " ".join(release.report.findings.notes)


def test_problems_come_before_any_work():
    with pytest.raises(PlanError, match="identifier"):
        sf.protect(plan(STEPS[1]), FRAME, secret=SECRET)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "limit",
    [
        {"attack": "averaging:2", "at": 2, "group": "all", "at_most": 9},
        {"at": 3, "group": "all", "at_most": 9},
        {"at": 40, "group": "all", "attack": "imprecise:0.5", "at_most": 9},
    ],
)
@pytest.mark.parametrize(
    "step", [sf.steps.Noise(columns=["x"], share=0.5), sf.steps.Centroids(columns=["x"], k=4)], ids=["noise", "k"]
)
def test_tune_and_protect_and_risk_measure_what_a_limit_names(limit, step):
    rows = pl.DataFrame({"id": range(80), "x": [float(i * i % 79) for i in range(80)]})
    plan = sf.Plan(
        variables={"id": {"role": "record"}, "x": {"kind": "continuous"}},
        steps=[step],
        limits=[{"measure": "h_rank", **limit}],
        unknown=nobody_knows("id"),
    )
    release = sf.protect(plan, rows, secret=bytes(16))
    asked = release.report.findings.select("h_rank", **{k: v for k, v in limit.items() if k != "at_most"})
    assert asked
    assert all(f.value is not None and f.ok for f in asked)
    assert release.ok
    again = sf.risk(rows, release.data, plan=plan, record="id", disclosure=release.disclosure)
    assert {(f.attack, f.value) for f in asked} == {
        (f.attack, f.value) for f in again.select("h_rank", **{k: v for k, v in limit.items() if k != "at_most"})
    }
    name, ends = ("share", (0.4, 0.5)) if step.name == "noise" else ("k", (4, 5))
    assert sf.tune(
        plan, rows, parameter=f"steps.0.{name}", range=ends, replications=2, tolerance=0.5
    ).met  # an interval may reach beyond 1


def test_a_limit_that_could_not_be_measured_is_not_called_exceeded(tmp_path):
    rows = pl.DataFrame({"id": range(60), "x": [float(i) for i in range(60)]})
    plan = sf.Plan(
        variables={"id": {"role": "record"}},
        steps=[sf.steps.Noise(columns=["x"], share=0.5)],
        limits=[{"measure": "h_rank", "at": 2.5, "at_most": 0.5}],
    )
    release = sf.protect(plan, rows, secret=bytes(16))
    with pytest.raises(LimitExceeded, match="h_rank .limit 0.5. could not be measured") as told:
        release.write(tmp_path / "r")
    assert "exceed" not in str(told.value)


def people(codes):
    """Ages of 80 people, of whom some gave none, and why."""
    return [codes[i // 16] if i % 16 == 7 else 20.0 + i % 50 for i in range(80)]


def incomes(missing, plan_says, label="Households of 1984"):
    from sfumato.data.files import Table

    codes = [m.code if m.code is not None else m.low for m in missing] * 5
    frame = pl.DataFrame({"id": range(80), "income": people(codes)})
    book = sf.Codebook({"id": sf.Variable(), "income": sf.Variable(label="Income", missing=missing)})
    plan = Plan(
        variables={"id": {"role": "record"}, "income": {"role": "sensitive", "kind": "continuous", **plan_says}},
        steps=[Centroids(columns=["income"], k=5)],
        limits=[KEYS],
    )
    return Table(frame, book, "", label=label), plan


@pytest.mark.usefixtures("few_measures")
@pytest.mark.parametrize(
    ("suffix", "missing", "plan_says"),
    [
        (".sav", [{"low": -9, "high": -8}, {"code": -7, "label": "refused"}], {"missing": [-7]}),
        (".sav", [{"low": -9, "high": -8}, {"code": -7, "label": "refused"}], {}),
        (".dta", [{"code": ".a", "label": "refused"}, {"code": ".b", "label": "not asked"}], {"missing": [".a"]}),
        (".xpt", [{"code": ".a", "label": ".A"}, {"code": ".z", "label": ".Z"}], {}),
        (".parquet", [{"low": -9, "high": -8}, {"code": ".a", "label": "refused"}], {"missing": [-8]}),
    ],
)
def test_missing_codes_of_the_file_are_no_incomes_and_stay_in_the_release(tmp_path, suffix, missing, plan_says):
    from sfumato.data.files import read_table, write_table

    table, plan = incomes(sf.Variable(missing=missing).missing, plan_says)
    write_table(table, tmp_path / f"a{suffix}")
    given = read_table(tmp_path / f"a{suffix}")
    release = sf.protect(plan, sf.read(tmp_path / f"a{suffix}"), secret=SECRET)
    release.write(tmp_path / "release", force=True)
    back = read_table(tmp_path / "release" / f"data{suffix}")
    coded = given.codebook.missing("income", given.frame.schema["income"])
    assert given.frame.filter(coded).height == 5
    assert back.frame.filter(coded).sort("id").equals(given.frame.filter(coded).sort("id"))
    assert back.frame.filter(~coded)["income"].min() >= 20
    kept = back.codebook["income"]
    assert set(given.codebook["income"].missing) <= set(kept.missing)
    assert kept.label == "Income"
    assert (given.label, back.label) == ("Households of 1984", plan.title)


NOISE = {"do": "noise", "columns": ["bmi"], "share": 0.1}
DRAWING = (
    {"do": "sample", "fraction": 0.9},
    {"do": "pram", "columns": ["smoker"], "retention": 0.9},
    {"do": "swap", "columns": ["height"], "random": True},
    NOISE,
)
NOISY = Noise(columns=["bmi"], share=0.1)
LOST = "another run would draw anew"


def warned(steps, monkeypatch, **more):
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    whole = Plan.model_validate({"variables": VARIABLES, "steps": [{"do": "drop", "columns": ["name"]}, *steps]})
    return " ".join(sf.protect(whole, FRAME, **more).report.warnings)


@pytest.mark.usefixtures("few_measures")
def test_draws_without_a_secret_that_is_kept_are_warned_of(monkeypatch):
    told = warned(DRAWING, monkeypatch)
    assert "noise and pram and sample and swap cannot be repeated" in told
    assert LOST in told
    assert "--secret-file" in told


@pytest.mark.usefixtures("few_measures")
@pytest.mark.parametrize(
    ("steps", "more"),
    [
        ([NOISE], {"secret": SECRET}),
        ([{"do": "centroids", "columns": ["bmi"], "k": 5, "grouping": "mdav", "moments": "exact"}], {}),
    ],
)
def test_a_kept_secret_and_ties_are_not_warned_of(monkeypatch, steps, more):
    assert LOST not in warned(steps, monkeypatch, **more)


def test_progress_goes_up_from_nothing_to_nearly_all_and_names_no_value():
    told = []
    sf.protect(plan(Drop(columns=["name"]), NOISY), FRAME, secret=SECRET, progress=lambda *it: told.append(it))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.9 < shares[-1] < 1
    text = " ".join(what for what, _ in told)
    assert "step 2 of 2: noise" in text
    assert "measuring how well records are hidden: attack nearest" in text
    assert not any(name in text for name in FRAME["name"])


@pytest.mark.usefixtures("few_measures")
def test_a_year_is_derived_of_texts_that_are_said_to_be_dates():
    from sfumato.methods.derive import Derive

    frame = FRAME.with_columns(born=pl.Series([f"19{10 + i % 80}-07-14" for i in range(150)]))
    born = VARIABLES | {"born": {"role": "key", "kind": "date"}}
    steps = [*STEPS, Derive(column="year", formula="year(born)", role="key"), Drop(columns=["born"])]
    release = sf.protect(Plan(variables=born, steps=steps, limits=[KEYS]), frame, secret=SECRET)
    assert sorted(release.data.frame["year"]) == sorted(1910 + i % 80 for i in range(150))


def test_what_a_limit_alone_asks_for_is_measured():
    """Special uniques are not searched otherwise; recoded away they are fewer than before."""
    rows = pl.DataFrame({"id": range(9), "sex": ["f", "m", "m"] * 3, "age": [16, 20, 30, 31, 20, 30, 32, 20, 30]})
    limited = sf.Plan(
        variables={"id": {"role": "record"}, "sex": {"role": "key"}, "age": {"role": "key", "kind": "continuous"}},
        steps=[Recode(columns=["age"], band=(18, 25))],
        limits=[{"measure": "special_uniques", "at_most": 2}],
    )
    release = sf.protect(limited, rows, secret=SECRET)
    line = release.report.findings.of("special_uniques", group="keys")
    assert (line.value, line.baseline, line.ok) == (1, 3, True)
    again = sf.risk(rows, plan=limited.model_copy(update={"steps": ()}))
    assert (again.of("special_uniques").value, again.ok) == (3, False)
    unlimited = limited.model_copy(update={"limits": ()})
    assert not sf.protect(unlimited, rows, secret=SECRET).report.findings.select("special_uniques")


def test_a_table_of_many_masked_keys_is_released():
    """More of them than records are linked by: that intruder is left out, and it is said."""
    wide = pl.DataFrame({f"x{i}": [float((i + 3) * j * j % 61) for j in range(60)] for i in range(35)})
    variables = {n: {"role": "key", "kind": "continuous"} for n in wide.columns}
    steps = [Noise(columns=wide.columns, sd=20.0)]
    made = Plan(title="wide", variables={"id": {"role": "record"}} | variables, steps=steps)
    release = sf.protect(made, wide.with_row_index("id"), secret=SECRET)
    assert release.frame.shape == (60, 36)
    assert not [f for f in release.report.findings if f.attack == "neighbour"]
    assert any(note.startswith("neighbour: this intruder knows 35 keys") for note in release.report.findings.notes)
