"""Synthetic copies from a plan to a release, and read again."""

import json

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.disclosure import Disclosure, Synthetic
from sfumato.data.finding import Finding, Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.progress import quiet
from sfumato.release.copies import apart, over_copies
from tests.methods.synthesise.test_method import BOOK, survey

SECRET = bytes(range(16))


def plan(**step):
    return sf.Plan.model_validate(
        {"title": "Copies", "variables": BOOK.to_plain(), "steps": [{"do": "synthesise", **step}]}
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """By name a release and its folder, each made when a test asks for it."""
    folder = tmp_path_factory.mktemp("copies")
    survey(600).write_csv(folder / "survey.csv")
    steps = {"full": {"copies": 3}, "partial": {"columns": ["pay", "age"], "copies": 3}}

    class Made(dict):
        def __missing__(self, name):
            release = sf.protect(plan(**steps[name]), folder / "survey.csv", secret=SECRET)
            release.write(folder / name, force=True)
            self[name] = release, folder / name
            return self[name]

    return Made()


def test_copies_leave_one_after_the_other(released):
    release, folder = released["full"]
    data = pl.read_csv(folder / "data.csv")
    assert data["copy"].is_sorted()
    assert data.columns[:2] == ["copy", "id"]
    for i in (1, 2, 3):
        assert sorted(data.filter(pl.col("copy") == i)["id"]) == list(range(1, 601))
    papers = json.loads((folder / "datapackage.json").read_text())
    [part] = [p for p in papers["sfumato"]["disclosure"] if p["what"] == "synthetic"]
    assert (part["kind"], part["copies"]) == ("full", 3)
    assert release.report.disclosure.synthetic.kind == "full"


def test_people_alike_are_not_counted_where_rows_are_nobodys(released):
    found = released["full"][0].report.findings
    assert not {"k_anonymity", "h_rank", "linkage_nearest", "differencing", "match_correct"} & {
        f.measure for f in found
    }
    assert any("no row is a person's" in note for note in found.notes)
    assert found.of("replicated_uniques").value is not None
    assert found.of("table_ratio", group="two-way", variable=None).value < 2


@pytest.mark.slow
def test_some_columns_are_measured_copy_by_copy(released):
    found = released["partial"][0].report.findings
    assert found.of("match_correct", attack="neighbour", group="nearest").value < 0.5
    assert found.of("k_anonymity", group="keys").value == survey(600).group_by("sex").len()["len"].min()
    assert any("means over 3 copies" in note for note in found.notes)
    compared = sf.compare(survey(600), released["partial"][1] / "data.csv")
    for of in (found, compared):
        assert of.of("pmse_ratio", group="interactions").value == pytest.approx(1, abs=0.8)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule"), [("full", "simple"), ("partial", "partial")])
def test_a_folder_is_fitted_by_its_rule(released, name, rule):
    found = sf.fit("pay ~ age + sex", released[name][1])
    assert (found.rule, found.copies) == (rule, 3)
    with pytest.raises(DataError, match="by themselves"):
        sf.fit("pay ~ age", [released[name][1], released["full"][1]])


@pytest.mark.slow
def test_readers_go_by_what_is_disclosed(released):
    folder = released["full"][1]
    compared = sf.compare(survey(600), folder / "data.csv")
    assert compared.of("table_ratio", group="two-way", variable=None).value < 2
    risked = sf.risk(survey(600), protected=folder / "data.csv", sensitive=["pay"])
    assert risked.of("replicated_uniques").value is not None
    stated = sf.risk(survey(600), protected=folder / "data.csv", sensitive=["pay"], align="none")
    assert stated.tidy().equals(risked.tidy())  # the papers say it, too
    alone = sf.risk(folder / "data.csv")
    assert not alone.lines
    assert "no row is a person's" in alone.notes[0]
    partly = sf.risk(survey(600), protected=released["partial"][1] / "data.csv", record="id", keys=["sex", "age"])
    assert partly.of("k_anonymity").value is not None


def told_alike(frame):
    """Some copies as one table, of which as much is known as the release's papers say."""
    return PolarsDataset(frame.drop("copy", "id"), BOOK.without("id"))


@pytest.mark.slow
def test_whoever_attacks_has_all_copies_together(released):
    data, others = released["full"][1] / "data.csv", survey(600, seed=2).with_columns(pl.col("id") + 1000)
    asked = {"align": "none", "control": others, "keys": ["sex", "age"], "sensitive": ["label"]}
    found = sf.risk(PolarsDataset(survey(600), BOOK), protected=data, **asked)
    pooled = sf.risk(PolarsDataset(survey(600), BOOK), protected=told_alike(pl.read_csv(data)), **asked)
    for measure in ("membership", "inference"):
        lines = {(f.variable, f.group, f.attack): f.value for f in found if f.measure == measure}
        of_one_table = {(f.variable, f.group, f.attack): f.value for f in pooled if f.measure == measure}
        assert len(lines) > 5
        assert lines == pytest.approx(of_one_table, abs=1e-9)
    assert sum("have all copies together" in note for note in found.notes) == 1
    single = told_alike(pl.read_csv(data).filter(pl.col("copy") == 1))
    alone = sf.risk(PolarsDataset(survey(600), BOOK), protected=single, **asked)
    told = {"group": "auc", "attack": "nearest"}
    assert found.of("membership", **told).value > alone.of("membership", **told).value


@pytest.mark.slow
@pytest.mark.usefixtures("few_measures")
def test_one_copy_has_no_number(tmp_path):
    release = sf.protect(plan(copies=1), survey(), secret=SECRET)
    assert "copy" not in release.data.columns
    release.write(tmp_path / "r", force=True)
    assert sf.fit("pay ~ age", tmp_path / "r").rule == "simple"


@pytest.mark.usefixtures("few_measures")
def test_equal_releases_are_equal_and_other_secrets_draw_anew():
    one, same, other = (sf.protect(plan(copies=2), survey(), secret=s).data for s in (SECRET, SECRET, bytes(16)))
    assert one.frame.equals(same.frame)
    assert not one.frame.equals(other.frame)


def test_means_and_the_worst():
    told = Disclosure([Synthetic(columns=("a",), kind="full", copies=2)])
    parts = [
        Findings((Finding("u_main", value=v, baseline=0.0), Finding("correlation", variable="a", value=w)))
        for v, w in ((0.1, 1.0), (0.3, None))
    ]
    found = over_copies([lambda progress, part=part: part for part in parts], told, quiet)
    assert found.of("u_main").value == pytest.approx(0.2)
    assert found.of("correlation").value == 1.0
    assert any("u_main 0.3" in note for note in found.notes)


def test_other_copies_than_disclosed_are_refused():
    data = PolarsDataset(pl.DataFrame({"copy": [1, 1], "a": [1, 2]}), BOOK.only(["copy", "a"]))
    with pytest.raises(DataError, match="does not hold as many"):
        apart(data, Disclosure([Synthetic(columns=("a",), kind="full", copies=2)]))
    assert [len(d) for d in apart(data, Disclosure())] == [2]
