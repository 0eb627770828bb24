"""Which columns make classes of people alike, and which plans are refused."""

from types import SimpleNamespace

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.measures.subject import Classes
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.noise.method import Noise
from sfumato.methods.pram.method import Pram
from sfumato.methods.recode import Recode
from sfumato.methods.suppress_strata import SuppressStrata
from sfumato.methods.swap.method import Swap
from sfumato.methods.swap_households import SwapHouseholds
from sfumato.plan.plan import Plan
from sfumato.release.classes import classes_of, exposed, missing_rule, refusals
from tests.reasons import nobody_knows

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "home": Variable(role="household", kind="integer"),
        "w": Variable(role="weight", kind="continuous"),
        "sex": Variable(role="key", kind="categorical"),
        "age": Variable(role="key", kind="integer"),
        "bmi": Variable(role="key", kind="continuous"),
        "born": Variable(role="key", kind="date"),
        "class": Variable(role="key", kind="ordinal"),
        "ill": Variable(role="sensitive", kind="categorical"),
        "note": Variable(role="other", kind="categorical"),
    }
)
KEYS = ("sex", "age", "bmi", "born", "class")
TABLE = pl.DataFrame(
    {"age": [31, 40, 40, 52, None], "bmi": [20.5, 31.0, 22.0, 24.5, 19.0], "sex": ["f", "m", "f", "m", "f"]}
)
RISK = Findings((Finding("k_anonymity", group="keys", value=1.0),))


def averaged(*columns, by=()):
    return Centroids(columns=columns, by=by, k=3)


def keys(plan, book=BOOK, after=TABLE, columns=("age", "bmi")):
    return exposed(plan, book, Pair(TABLE, after, book, columns, aligned=True)).keys


def test_keys_of_any_kind_count_and_other_roles_do_not():
    everything = Classes("released", ("w", *KEYS, "ill", "note"))
    assert exposed(Plan(), BOOK).classes == (Classes("keys", KEYS), everything)


def test_a_key_that_a_step_masks_does_not_count():
    assert exposed(Plan(steps=[averaged("age", "bmi")]), BOOK).keys == ("sex", "born", "class")
    exchanged = Plan(steps=[Pram(columns=["sex"], retention=0.9), Noise(columns=["bmi"], sd=1)])
    assert exposed(exchanged, BOOK).keys == ("age", "born", "class")


def test_a_key_that_was_dropped_does_not_count():
    assert exposed(Plan(), BOOK.without("age")).keys == ("sex", "bmi", "born", "class")


def test_a_recoded_key_counts():
    assert exposed(Plan(steps=[Recode(columns=["age"], band=[40])]), BOOK).keys == KEYS


def test_strata_are_those_of_masking_steps():
    plan = Plan(steps=[SuppressStrata(by=["class"], min_count=3), averaged("age", "bmi", by=["sex", "note"])])
    assert exposed(plan, BOOK).classes == (
        Classes("keys", ("sex", "born", "class")),
        Classes("strata", ("sex", "note")),
        Classes("released", ("w", "sex", "born", "class", "ill", "note")),
    )


@pytest.mark.parametrize("column", ["id", "home", "w"])
def test_record_household_and_weight_take_no_part(column):
    plan = Plan(steps=[averaged("age", by=["sex", column])])
    groups = exposed(plan, BOOK).classes
    assert groups[1] == Classes("strata", ("sex",))
    assert column not in groups[0].by


def test_a_group_without_columns_is_none():
    assert classes_of((), ()) == ()
    assert classes_of((), ["sex"]) == (Classes("strata", ("sex",)),)
    alone = Codebook({"age": BOOK["age"]})
    assert exposed(Plan(steps=[averaged("age")]), alone).classes == ()
    assert (
        exposed(Plan(steps=[averaged("age", by=["id"])]), Codebook({n: BOOK[n] for n in ("id", "age")})).classes == ()
    )


@pytest.mark.parametrize(
    ("released", "counts"),
    [
        ([31, 40, 40, 50, None], True),  # three of four values stayed
        ([31, 40, 44, 50, None], False),  # a half is not more than a half
        ([30, 44, 44, 50, None], False),
        ([31, 40, 40, 52, 7], True),  # whoever had no value takes no part
    ],
)
def test_a_number_that_masking_left_as_it_was_counts_and_is_said(released, counts):
    after = TABLE.with_columns(age=pl.Series(released, dtype=pl.Int64), bmi=pl.col("bmi") + 1)
    seen = exposed(Plan(steps=[averaged("age", "bmi")]), BOOK, Pair(TABLE, after, BOOK, ("age", "bmi"), aligned=True))
    assert ("age" in seen.keys) == counts
    assert "bmi" not in seen.keys
    assert [note.split(":")[0] for note in seen.notes] == (["age"] if counts else [])


def test_codes_for_missing_are_no_values_that_stayed():
    book = BOOK.replace(age=Variable(role="key", kind="integer", missing=[40]))
    after = TABLE.with_columns(age=pl.Series([30, 40, 40, 50, None], dtype=pl.Int64))
    assert "age" not in keys(Plan(steps=[averaged("age", "bmi")]), book, after)


def test_a_category_that_stayed_is_masked_nevertheless():
    """That most categories stay is how exchanging works: nobody can tell which."""
    assert keys(Plan(steps=[Pram(columns=["sex"], retention=0.9)])) == ("age", "bmi", "born", "class")


def test_a_number_that_nobody_looks_up_does_not_count_when_it_stayed():
    book = BOOK.replace(age=Variable(role="other", kind="integer"))
    assert keys(Plan(steps=[averaged("age", "bmi")]), book) == ("sex", "bmi", "born", "class")


def test_tables_that_are_not_joined_do_not_show_what_stayed():
    apart = Pair(TABLE, TABLE, BOOK, ("age", "bmi"))
    assert exposed(Plan(steps=[averaged("age", "bmi")]), BOOK, apart).keys == ("sex", "born", "class")


SMALL = Codebook({n: BOOK[n] for n in ("id", "sex", "age", "ill")})


def refused(*steps, findings=RISK, book=SMALL):
    plan = Plan(steps=steps)
    return refusals(plan, book, exposed(plan, book).keys, findings)


def test_keys_that_nothing_protects_are_refused_by_name():
    (told,) = refused()
    assert told.startswith("nothing protects sex, age, which an intruder may know")
    assert "group: keys" in told
    (told,) = refused(averaged("age"))
    assert told.startswith("nothing protects sex, which")


def test_a_limit_on_the_keys_says_that_somebody_judged_them():
    for verdict in (True, False):
        assert not refused(findings=Findings((Finding("k_anonymity", group="keys", value=2, limit=2, ok=verdict),)))


@pytest.mark.parametrize(
    "line",
    [
        Finding("k_anonymity", group="strata", value=9, limit=5, ok=True),
        Finding("class_size", group="sex=f", value=9, limit=5, ok=True),
        Finding("risk1", value=0.01, limit=0.05, ok=True),
    ],
)
def test_a_limit_on_anything_else_does_not(line):
    assert len(refused(findings=Findings((*RISK, line)))) == 1


def test_keys_that_are_recoded_or_stratified_on_are_fine():
    recoded = Recode(columns=["age"], band=[40])
    assert not refused(Recode(columns=["sex"], map={"f": "x"}), recoded)
    assert not refused(averaged("age", by=["sex"]))
    (told,) = refused(recoded)
    assert told.startswith("nothing protects sex, which")


def test_suppression_needs_its_limit():
    """Records were left out for some combinations: whether that was enough a limit on the keys says."""
    assert len(refused(SuppressStrata(by=["sex", "age"], min_count=3))) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (Finding("k_anonymity", group="keys"),),
        (Finding("delta", "age", value=0.1), Finding("u_main", value=0.1)),
        (Finding("unchanged", "age", value=1.0),),
        (Finding("brought_by_a_plugin", value=1.0),),
    ],
)
def test_a_release_of_which_no_risk_was_measured_is_refused(lines):
    (told,) = refused(findings=Findings(lines), book=Codebook({"ill": BOOK["ill"]}))
    assert told.startswith("no risk was measured")
    assert "role: key" in told


@pytest.mark.parametrize("measure", ["k_anonymity", "l_distinct", "risk1", "interval_disclosure", "linkage_nearest"])
def test_any_risk_will_do(measure):
    assert not refused(findings=Findings((Finding(measure, value=0.5),)), book=Codebook({"ill": BOOK["ill"]}))


def test_all_reasons_come_at_once():
    assert len(refused(findings=Findings())) == 2


def test_the_last_step_with_keys_says_what_a_missing_key_is():
    class Cells:
        keys, missing = ("sex",), "wildcard"

    class Nodes:
        keys = ("sex",)

    def rule(*steps):
        return missing_rule(SimpleNamespace(steps=steps))

    assert rule(Recode(columns=["a"], map={"x": "y"})) == "category"
    assert rule(Cells(), Recode(columns=["a"], map={"x": "y"})) == "wildcard"
    assert rule(Cells(), Nodes()) == "category"
    assert rule(Nodes(), Cells()) == "wildcard"
    places = SwapHouseholds(geography=["town"], keys=["sex"], similar=[["size"]])  # it counts keys and changes none
    assert rule(Cells(), places) == "wildcard"


def test_the_keys_that_a_step_names_are_keys_whatever_their_role():
    frame = pl.DataFrame({"id": range(60), "town": ["a", "b", "c"] * 20, "age": [30 + i % 4 for i in range(60)]})
    plan = sf.Plan(
        variables={"id": {"role": "record"}, "age": {"role": "other"}},
        steps=[{"do": "anonymise", "keys": ["town", "age"], "k": 4}],
        unknown=nobody_knows("id"),
    )
    release = sf.protect(plan, frame, secret=bytes(16))
    (line,) = release.report.findings.select("k_anonymity")
    assert line.group == "keys"
    assert line.value >= 4
    assert line.baseline == 5
    assert release.ok


def test_after_cells_were_taken_out_a_gap_is_any_value():
    frame = pl.DataFrame({"town": ["a"] * 10 + ["b"], "sex": ["f", "m"] * 5 + ["f"]})
    plan = sf.Plan(steps=[{"do": "suppress_cells", "keys": ["town", "sex"], "k": 3}])
    release = sf.protect(plan, frame, secret=bytes(16))
    (line,) = release.report.findings.select("k_anonymity")
    assert line.value >= 3 > line.baseline
    assert any("wildcard" in note for note in release.report.findings.notes)


def in_groups(*columns, **more):
    return Plan(steps=[Swap(columns=columns, group=3, **more)])


def test_columns_drawn_within_groups_are_in_no_class_however_many_values_stay():
    """Whose row it is, nobody can tell by these; what leaves exactly beside them is looked up."""
    seen = exposed(in_groups("age", "bmi", "sex"), BOOK, Pair(TABLE, TABLE, BOOK, ("age", "bmi"), aligned=True))
    assert seen.keys == ("born", "class")
    assert seen.released == ("w", "born", "class", "ill", "note")
    assert seen.masked == ("sex", "age", "bmi")
    assert seen.notes == ()
    beside = exposed(Plan(steps=[averaged("age", "bmi")]), BOOK, Pair(TABLE, TABLE, BOOK, ("age", "bmi"), aligned=True))
    assert {"age", "bmi"} <= set(beside.keys), "of what other steps leave alone it is another matter"


def test_strata_of_an_exchange_within_groups_are_classes():
    seen = exposed(in_groups("age", "bmi", by=["sex"]), BOOK)
    assert Classes("strata", ("sex",)) in seen.classes
    assert not {"age", "bmi"} & {n for each in seen.classes for n in each.by}


def limit_of(measure, group="released"):
    return Finding(measure, group=group, value=0.1, limit=0.2, ok=True)


def of_groups(*lines, step=None):
    plan = in_groups("age", "sex") if step is None else Plan(steps=[step])
    seen = exposed(plan, SMALL)
    return refusals(plan, SMALL, seen.keys, Findings((*RISK, *lines)), seen.masked)


def test_an_exchange_within_groups_needs_both_limits():
    (told,) = of_groups()
    assert told.startswith("no limit says how many people may be found")
    assert "measure: linkage_nearest, group: released" in told
    assert "measure: uniques_kept" in told
    (told,) = of_groups(limit_of("linkage_nearest"))
    assert "linkage_nearest" not in told
    assert "uniques_kept" in told
    (told,) = of_groups(limit_of("uniques_kept"), limit_of("linkage_nearest", "overall"))
    assert "linkage_nearest" in told
    assert not of_groups(limit_of("uniques_kept"), limit_of("linkage_nearest"))


def test_other_exchanges_do_not():
    assert not of_groups(step=Swap(columns=("age", "sex"), random=True))


@pytest.mark.parametrize("limits", [0, 1, 2])
def test_a_plan_with_an_exchange_within_groups_and_without_both_limits_is_exceeded(limits):
    frame = pl.DataFrame({"town": [f"t{i % 7}" for i in range(60)], "age": [20 + i * 7 % 41 for i in range(60)]})
    bounds = [
        {"measure": "linkage_nearest", "group": "released", "at_most": 0.9},
        {"measure": "uniques_kept", "at_most": 0.9},
    ]
    plan = sf.Plan(steps=[{"do": "swap", "columns": ["town", "age"], "group": 5}], limits=bounds[:limits])
    assert sf.protect(plan, frame, secret=bytes(16)).verdict == ("holds" if limits == 2 else "exceeded")
