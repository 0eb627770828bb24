"""What a custodian is warned of, and what of it leaves with the release."""

import json
import pickle
from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.finding import Findings
from sfumato.data.publishable import Publishable, published
from sfumato.report.external import external
from sfumato.report.report import TablesReport
from tests.render import reports

ID, RARE, COMMON, HOME = "RID-90210", "Zyxomma", "Grouse", "HOME-4711"
PLANTED = (ID, RARE, COMMON, HOME)
N = 120


def people():
    return pl.DataFrame(
        {
            "id": [ID, *(f"R{i:03}" for i in range(1, N))],
            "home": [HOME if i < 6 else f"h{i // 2}" for i in range(N)],
            "sex": ["f", "m"] * (N // 2),
            "region": [RARE, COMMON] * (N // 2),
            "ward": [RARE if i < 2 else "elsewhere" for i in range(N)],
            "town": [RARE if i == 3 else f"t{i % 40}" for i in range(N)],
            "ill": [COMMON, "none"] * (N // 2),
            "visits": [i % 17 for i in range(N)],
        }
    )


def plan():
    return sf.Plan(
        title="T",
        access="open",
        variables={
            "id": {"role": "record"},
            "home": {"role": "household"},
            "sex": {"role": "key"},
            "town": {"role": "key"},
            "region": {"role": "key"},
            "ward": {"role": "other", "kind": "categorical"},
            "ill": {"role": "sensitive", "kind": "categorical"},
            "visits": {"kind": "integer"},
        },
        steps=[
            {"do": "derive", "column": "often", "formula": "visits > 9"},
            {"do": "top_code", "columns": ["visits"], "at": 12, "k": 0},
            {"do": "merge_rare", "columns": ["town"], "min_count": 50},
            {"do": "pram", "columns": ["sex"], "retention": 0.9},
        ],
        limits=[{"measure": "k_anonymity", "group": "keys", "at_least": 10_000}],
    )


LEAVES = (
    "No secret was given, so one was drawn for this run alone, and pram cannot be repeated",
    "merge_rare: all categories of town became one, for too few records have any other (min_count 50).",
    "The release is open to everybody (access: open) and holds ill (sensitive)",
)
STAYS = ("often was computed from visits before top_code changed it",)
ADVICE = (
    "Make a secret once",
    "Leave the column out",
    "restrict access",
    "What to try",
    "The limit on k_anonymity is exceeded:",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The custodian's report and warnings, and what stands in the two papers that leave."""
    folder = tmp_path_factory.mktemp("told")
    release = sf.protect(plan(), people())
    release.write(folder / "r", force=True, internal_report=folder / "internal.html")
    return (
        release.report.warnings,
        (folder / "internal.html").read_text(),
        (folder / "r" / "report.html").read_text(),
        json.loads((folder / "r" / "datapackage.json").read_text()),
    )


def test_assumptions_leave_in_both_papers_and_their_advice_does_not(told):
    warnings, internal, report, package = told
    for sentence in LEAVES:
        assert any(said.startswith(sentence) for said in warnings), sentence
        assert sentence in report
        assert any(said.startswith(sentence) for said in package["sfumato"]["warnings"]), sentence
    for advice in ADVICE:
        assert advice in internal, advice
        assert advice not in report, advice
        assert advice not in json.dumps(package), advice


def test_what_points_at_columns_that_find_people_is_for_the_custodian_alone(told):
    warnings, internal, report, package = told
    for sentence in STAYS:
        assert any(sentence in said for said in warnings), sentence
        assert sentence in internal
        assert sentence not in report
        assert sentence not in json.dumps(package)


def test_nothing_planted_leaves(told):
    _, internal, report, package = told
    assert RARE in internal
    for planted in PLANTED:
        assert planted not in report
        assert planted not in json.dumps(package)


def test_a_warning_that_nobody_has_thought_about_stays():
    """Whatever is planted in it: what leaves says so of itself."""
    kept = Publishable("Classes are of records.", f"Look at {reports.RECORD}.")
    report = replace(
        reports.report(),
        warnings=(f"The category {reports.CATEGORY} is alone.", kept),
        findings=Findings(notes=(f"Record {reports.RECORD}.", kept)),
    )
    public = external(report)
    assert public.warnings == public.findings.notes == ("Classes are of records.",)
    assert reports.RECORD in report.warnings[1]
    assert published(report.warnings) == public.warnings


def test_several_tables_are_told_of_alike():
    from sfumato.report.external import external_tables

    one = replace(reports.report(), warnings=(reports.RECORD, Publishable("Of one.", "Do.")))
    kept = (Publishable("Of both.", "Do."), reports.RECORD)
    both = TablesReport("t", one.created, "1", {"a": one}, (), "", "", True, (), kept)
    public = external_tables(both)
    assert (public.warnings, public.tables["a"].warnings) == (("Of both.",), ("Of one.",))


def test_a_sentence_survives_pickling():
    again = pickle.loads(pickle.dumps(Publishable("a", "b")))
    assert (again, again.published) == ("a b", "a")
