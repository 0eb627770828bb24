"""What a release supports, from a plan to the file of grades."""

import json

import numpy as np
import polars as pl
import pyreadstat
import pytest

import sfumato as sf
from sfumato.data.codebook import Variable
from sfumato.data.disclosure import Synthetic
from sfumato.data.finding import Findings
from sfumato.data.support import Support
from sfumato.errors import DataError, FormulaError
from sfumato.inference.combine import combine
from sfumato.measures.utility.model import fit_model
from sfumato.release.supports import refuse_supports, to_publish
from sfumato.report.external import external
from tests.methods.synthesise.test_method import BOOK, survey

SECRET = bytes(range(16))
STEPS = {
    "full": {"copies": 2},
    "partial": {"columns": ["pay", "age"], "copies": 2},
    "structure": {"copies": 2, "method": "structure"},
    "missing": {"columns": ["age"], "where": "missing", "copies": 2},
}
MODEL = "pay ~ age + sex + C(code)"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """By name a release and its folder, each made when a test asks for it."""
    folder = tmp_path_factory.mktemp("supports")
    survey(600).write_csv(folder / "survey.csv")

    class Made(dict):
        def __missing__(self, name):
            made = sf.Plan.model_validate(
                {"title": "Copies", "variables": BOOK.to_plain(), "steps": [{"do": "synthesise", **STEPS[name]}]}
            )
            release = sf.protect(made, folder / "survey.csv", secret=SECRET)
            release.write(folder / name, force=True)
            self[name] = release, folder / name
            return self[name]

    return Made()


@pytest.mark.slow
def test_each_variable_pair_and_term_of_a_release_has_a_grade(released):
    found = sf.compare(survey(600), released["full"][1], model=MODEL, supports=True)
    variables = [one.columns for one in found.supports if one.what == "variable"]
    assert variables == [("sex",), ("age",), ("code",), ("label",), ("pay",)]
    assert sum(one.what == "pair" for one in found.supports) == 10
    terms = [one.term for one in found.supports if one.what == "term"]
    assert sorted(terms) == ["C(code)[T.2]", "C(code)[T.3]", "C(code)[T.4]", "Intercept", "age", "sex[T.m]"]
    assert next(one for one in found.supports if one.term == "age").grade == "supported"
    plain = found.to_plain()
    assert set(plain) == {"findings", "notes", "supports"}
    assert plain["supports"][0] == {"what": "variable", "columns": ["sex"], "term": None, "grade": "supported"}
    without = sf.compare(survey(600), released["full"][1])
    assert without.supports is None
    assert "supports" not in without.to_plain()


@pytest.mark.slow
def test_terms_are_held_against_the_copies_combined(released):
    """The interval of age by the rule for full copies, worked out beside."""
    release, folder = released["full"]
    frame, book = release.data.frame, release.data.codebook
    first = fit_model(survey(600), BOOK, MODEL, "linear")
    fits = [
        fit_model(frame.filter(pl.col("copy") == i).drop("copy"), book, MODEL, "linear", first.levels) for i in (1, 2)
    ]
    both = combine([f.estimate for f in fits], np.array([f.se for f in fits]) ** 2, "simple")
    at = first.labels.index("age")
    low, high = first.low[at], first.high[at]
    common = min(high, both.high[at]) - max(low, both.low[at])
    share = (common / (high - low) + common / (both.high[at] - both.low[at])) / 2
    wanted = "supported" if share >= 0.7 else "rough" if share >= 0.4 else "lost"
    found = sf.compare(survey(600), folder, model=MODEL, supports=True)
    assert next(one for one in found.supports if one.term == "age").grade == wanted


@pytest.mark.slow
def test_of_true_people_what_stays_is_supported(released):
    found = sf.compare(survey(600), released["partial"][1], supports=True, record="id")
    grades = {one.columns: one.grade for one in found.supports}
    assert grades["sex",] == grades["code",] == grades["code", "label"] == "supported"


@pytest.mark.slow
def test_structure_supports_nothing_and_fits_warn(released):
    _, folder = released["structure"]
    with pytest.raises(DataError, match="names and kinds alone"):
        sf.compare(survey(600), folder, supports=True)
    found = sf.fit("pay ~ age", folder)
    assert "no estimate means anything" in found.notes[0]
    assert "no estimate means anything" in json.dumps(found.to_plain()["notes"])
    papers = json.loads((folder / "datapackage.json").read_text())
    [part] = [p for p in papers["sfumato"]["disclosure"] if p["what"] == "synthetic"]
    assert part["structure"] is True


@pytest.mark.slow
def test_what_the_file_names_is_not_told_by_structure(tmp_path):
    """Labels of Stata are often made of the categories that occur, and its letters stand for those that do."""
    n = 60
    rows = {"town": [k % 3 for k in range(n)], "pay": ["a" if k == 7 else float(k) for k in range(n)]}
    named = {"town": {0: "Ely", 1: "York", 2: "Bath"}, "pay": {"a": "died"}}
    there = pl.DataFrame({"town": rows["town"], "pay": pl.Series(rows["pay"], dtype=pl.Object)}).to_pandas()
    pyreadstat.write_dta(there, tmp_path / "in.dta", variable_value_labels=named, missing_user_values={"pay": ["a"]})
    step = {"do": "synthesise", "columns": "all", "copies": 1, "method": "structure"}
    plan = sf.Plan.model_validate({"title": "t", "variables": {"town": {"role": "key"}}, "steps": [step]})
    release = sf.protect(plan, tmp_path / "in.dta", secret=SECRET)
    release.write(tmp_path / "out", force=True)
    assert set(release.frame["town"]) == {1, 2, 3}
    assert release.data.codebook["town"].kind == "categorical"
    assert release.frame["pay"].max() < 101
    for path in (tmp_path / "out").iterdir():
        held = path.read_bytes()
        assert not [word for word in (b"Ely", b"York", b"Bath", b"died") if word in held]
    own = Variable(kind="categorical", labels={5: "north", 6: "south"})
    told = plan.model_copy(update={"variables": {"town": own}})
    assert set(sf.protect(told, tmp_path / "in.dta", secret=SECRET).frame["town"]) == {5, 6}


@pytest.mark.slow
def test_the_public_report_of_structure_has_no_figure_of_the_data(released):
    """A change in standard deviations would give back mean and spread, beside a law that everybody knows."""
    public = external(released["structure"][0].report)
    assert not public.pictures
    assert all(line.value is None and line.baseline is None for line in public.findings)
    assert any(line.value is not None for line in external(released["full"][0].report).findings)


@pytest.mark.parametrize("told", [None, Synthetic(columns=("a",), kind="missing", copies=2)])
def test_only_of_copies(told):
    with pytest.raises(DataError, match="synthetic releases alone"):
        refuse_supports(told)


@pytest.mark.slow
def test_what_is_no_synthetic_release_is_refused(released):
    with pytest.raises(DataError, match="synthetic releases alone"):
        sf.compare(survey(600), survey(600), supports=True)
    with pytest.raises(FormulaError):
        sf.compare(survey(600), released["full"][1], supports=True, model="pay ~ ~")


def test_what_is_published_is_grades_and_no_other_category():
    found = Findings(
        supports=(
            Support("variable", ("sex",), "supported"),
            Support("term", ("town",), "lost", "C(town)[T.Ely]", named=False),
            Support("term", ("town",), "rough", "C(town)[T.York]"),
        )
    )
    out = to_publish(found, "y ~ C(town)", None)
    assert (out["model"], out["family"]) == ("y ~ C(town)", "linear")
    assert [one["term"] for one in out["supports"]] == [None, "C(town)[T.York]"]
    assert {key for one in out["supports"] for key in one} == {"what", "columns", "term", "grade"}
    assert set(to_publish(found, None, None)) == {"grades", "supports"}
