"""Access and consent stand in every paper of a release, as the plan says them."""

import json

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.release.package.papers import read_papers
from tests.reasons import nobody_knows

pytestmark = pytest.mark.usefixtures("few_measures")

FRAME = pl.DataFrame({"id": range(40), "age": [20.5 + i for i in range(40)]})
CONSENT = "Use in research; <names> are kept apart."


@pytest.fixture
def plan():
    return sf.Plan(
        title="Ages",
        variables={"id": {"role": "record"}, "age": {"role": "key", "kind": "continuous"}},
        steps=[sf.steps.Noise(columns=["age"], sd=2)],
        access="safeguarded",
        unknown=nobody_knows("id"),
        consent=CONSENT,
    )


def test_they_stand_in_all_papers(plan, tmp_path):
    sf.protect(plan, FRAME, secret=bytes(16)).write(tmp_path / "r")
    package = json.loads((tmp_path / "r" / "datapackage.json").read_text())
    assert (package["access"], package["consent"]) == ("safeguarded", CONSENT)
    papers = read_papers(tmp_path / "r")
    assert (papers.access, papers.consent) == ("safeguarded", CONSENT)
    told = sf.card(tmp_path / "r").to_plain()
    assert (told["access"], told["consent"]) == ("safeguarded", CONSENT)
    page = (tmp_path / "r" / "report.html").read_text()
    assert "registered users" in page
    assert "Use in research; &lt;names&gt; are kept apart." in page
    assert sf.Plan.load(tmp_path / "r" / "plan.yaml") == plan


def test_what_the_plan_does_not_say_no_paper_says(plan, tmp_path):
    silent = plan.model_copy(update={"access": None, "consent": None})
    sf.protect(silent, FRAME, secret=bytes(16)).write(tmp_path / "r")
    package = json.loads((tmp_path / "r" / "datapackage.json").read_text())
    assert not {"access", "consent"} & package.keys()
    papers = read_papers(tmp_path / "r")
    assert (papers.access, papers.consent) == (None, None)
    assert "What people agreed to" not in (tmp_path / "r" / "report.html").read_text()


def test_consent_changes_the_digest_and_access_is_one_of_three(plan):
    assert plan.digest != sf.Plan.from_yaml(plan.to_yaml().replace("Use in research", "Use in teaching")).digest
    with pytest.raises(PlanError, match="open"):
        sf.Plan.from_yaml("sfumato: 1\naccess: public\n")


def test_a_folder_of_several_tables_says_its_own_access(tmp_path):
    one = {"variables": {"id": {"role": "record"}, "age": {"role": "key", "kind": "continuous"}}}
    steps = [sf.steps.Noise(columns=["age"], sd=2)]
    exact = {"variables": {"id": {"role": "record"}, "height": {"role": "key", "kind": "continuous"}}}
    taller = [sf.steps.Noise(columns=["height"], sd=2)]
    plan = sf.Plan(
        tables={
            "ages": {"file": "a.csv", **one, "steps": steps},
            "heights": {"file": "b.csv", **exact, "steps": taller, "access": "controlled"},
        },
        access="open",
        consent=CONSENT,
        links=[{"from": "heights", "to": "ages", "on": ["id"]}],
    )
    tables = {"ages": FRAME, "heights": FRAME.rename({"age": "height"})}
    sf.protect(plan, tables, secret=bytes(16)).write(tmp_path / "r", force=True)
    assert read_papers(tmp_path / "r", "ages").access == "open"
    assert read_papers(tmp_path / "r-controlled", "heights").access == "controlled"
    assert "in a safe room" in (tmp_path / "r-controlled" / "report.html").read_text()
