import datetime
import json

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError, PlanError
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.drop import Drop
from sfumato.methods.recode import Recode
from sfumato.plan.plan import Plan

TITANIC = """sfumato: 1
title: Titanic passengers
variables:
  PassengerId: {role: record}
  Name:        {role: identifier}
  Age:         {role: key, kind: continuous, unit: years}
  Pclass:      {role: key, kind: categorical}
  Survived:    {role: outcome, kind: categorical}
steps:
  - {do: drop, columns: [Name, Ticket, Cabin]}
  - {do: impute, columns: [Age], method: median}
  - {do: derive, column: Family, formula: "SibSp + Parch > 0"}
  - {do: drop, columns: [SibSp, Parch, Embarked]}
  - {do: centroids, columns: [Age, Fare], by: [Pclass, Sex, Family], k: 3, preset: avraam2021}
limits:
  - {measure: k_anonymity, at_least: 5}
  - {measure: risk1, at_most: 0.05}
"""

FRAME = pl.DataFrame(
    {
        "PassengerId": range(30),
        "Survived": [0, 1] * 15,
        "Pclass": [1, 2, 3] * 10,
        "Name": [f"person {i}" for i in range(30)],
        "Sex": ["male", "female"] * 15,
        "Age": [20.5 + i for i in range(30)],
        "SibSp": [0, 1] * 15,
        "Parch": [0] * 30,
        "Ticket": [f"T{i}" for i in range(30)],
        "Fare": [7.25 * i for i in range(30)],
        "Cabin": [None] * 30,
        "Embarked": ["S", "C", "Q"] * 10,
    }
)


def problems(text, frame=FRAME):
    try:
        plan = Plan.from_yaml(text)
        plan.check(plan.codebook(frame, Codebook()))
    except PlanError as error:
        return [str(problem) for problem in error.problems]
    raise AssertionError("the plan was accepted")


def test_the_plan_of_the_readme_reads_and_fits():
    plan = Plan.from_yaml(TITANIC)
    plan.check(plan.codebook(FRAME, Codebook()))
    assert plan.traces.masked == ("Age", "Fare")
    assert plan.traces.strata == ("Pclass", "Sex", "Family")
    assert [s.name for s in plan.preparing()] == ["drop", "impute", "derive", "drop"]


def test_yaml_and_back_is_the_identity():
    plan = Plan.from_yaml(TITANIC)
    assert Plan.from_yaml(plan.to_yaml()) == plan
    assert Plan.from_yaml(plan.to_yaml()).digest == plan.digest


def test_every_parameter_is_written_out():
    step = Plan.from_yaml(Plan.from_yaml(TITANIC).to_yaml()).to_plain()["steps"][4]
    assert step["min_stratum"] == 3
    assert step["recentre"] is False


def test_all_errors_at_once_with_their_lines():
    found = problems(
        TITANIC.replace("role: record", "role: recrod")
        .replace("method: median", "method: median, colour: red")
        .replace("do: derive", "do: derivee")
        .replace("at_most: 0.05", "at_most: 0.05, at_least: 1")
    )
    assert [p.split(":")[0] for p in found] == ["line 4", "line 11", "line 12", "line 17"]
    assert "there is no such key" in found[1]
    assert "do` must name a method: anonymise, centroids," in found[2]


def test_problems_are_values_with_line_path_and_message():
    with pytest.raises(PlanError) as found:
        Plan.from_yaml(
            "sfumato: 1\nvariables:\n  drop: {role: kee}\nsteps:\n  - {do: noise, columns: [a], share: many}\n"
        )
    first, second = found.value.problems
    assert (first.line, first.path) == (3, ("variables", "drop", "role"))
    assert first.message.startswith("'identifier', 'key'")
    assert (second.line, second.path, second.place) == (5, ("steps", 0, "share"), "step 1, share")

    plan = Plan.from_yaml(
        "sfumato: 1\nsteps:\n  - {do: drop, columns: [gone]}\nlimits:\n  - {measure: x, at_most: 1}\n"
    )
    with pytest.raises(PlanError) as found:
        plan.check(Codebook({"a": Variable()}))
    assert [(p.line, p.path, p.place) for p in found.value.problems] == [
        (3, ("steps", 0), "step 1 (drop)"),
        (5, ("limits", 0), ""),
    ]


def test_a_plan_from_python_has_no_lines():
    with pytest.raises(PlanError) as found:
        Plan(steps=[Drop(columns=["gone"])]).check(Codebook({"a": Variable()}))
    assert [(p.line, p.path) for p in found.value.problems] == [(None, ("steps", 0))]


def test_what_does_not_fit_the_data_is_found_before_the_run():
    found = problems(
        TITANIC.replace("Name, Ticket, Cabin]", "Ticket, Cabin]")
        .replace("columns: [Age], method", "columns: [Agee], method")
        .replace("[Age, Fare], by: [Pclass", "[Fare, Embarked], by: [Age")
        .replace("Survived:", "Survivedd:"),
    )
    text = "\n".join(found)
    assert "line 8: variable 'Survivedd' is not in the data" in text
    assert "line 11: step 2 (impute): there is no column 'Agee'" in text
    assert "add: {do: drop, columns: [Name]}" in text


def test_an_identifier_that_no_step_drops_is_an_error():
    assert "identifier" in problems(TITANIC.replace("Name, Ticket", "Ticket"))[0]


def test_a_column_dropped_earlier_is_gone():
    found = problems(TITANIC.replace("[SibSp, Parch, Embarked]", "[SibSp, Parch, Embarked, Fare]"))
    assert "line 14: step 5 (centroids): there is no column 'Fare' at this step" in found[0]


def test_one_record_column():
    found = problems(TITANIC.replace("Age:         {role: key", "Age:         {role: record"))
    assert any("only one variable can have the role record" in p for p in found)


def test_derive_does_not_overwrite_what_is_masked():
    derive = '  - {do: derive, column: Age, formula: "Survived + 1"}\n'
    found = problems(TITANIC.replace("limits:", derive + "limits:"))
    assert found == [
        "line 15: step 6 (derive): it overwrites Age, which centroids masked: what is released would not be what is "
        "disclosed and measured. Give the new column another name, or put this step before that one",
    ]
    plan = Plan.from_yaml(TITANIC.replace("  - {do: impute", derive + "  - {do: impute"))
    plan.check(plan.codebook(FRAME, Codebook()))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sfumato: 2\n", "newer sfumato"),
        ("title: x\n", "`sfumato: 1`"),
        ("- 1\n", "a plan is a mapping"),
        ("sfumato: 1\nsteps: {do: drop}\n", "steps"),
        ("sfumato: one\n", "sfumato"),
    ],
)
def test_what_is_no_plan(text, says):
    assert says in problems(text)[0]


def test_files_that_cannot_be_read(tmp_path):
    for name, content, says in (("none", None, "no file"), ("bytes", b"\xff\xfe\x00", "UTF-8")):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(PlanError, match=says):
            Plan.load(path)


def test_kinds_are_sniffed_and_said():
    plan = Plan.from_yaml(TITANIC)
    book = plan.codebook(FRAME, Codebook({"Sex": Variable(label="sex at birth")}))
    assert (book["Fare"].kind, book["Sex"].kind, book["Sex"].label) == ("continuous", "categorical", "sex at birth")
    said = plan.guesses(FRAME, Codebook())
    assert any(s.startswith("Fare: taken as other, continuous") for s in said)
    assert not any(s.startswith("Age") for s in said)


def test_built_in_python():
    plan = Plan(
        title="t",
        variables={"name": {"role": "identifier"}},
        steps=[Drop(columns=["name"]), Centroids(columns=["x"], k=3)],
        limits=[{"measure": "risk1", "at_most": 0.1}],
    )
    assert Plan.from_yaml(plan.to_yaml()) == plan


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("Name: {role: identifier, kind: continuous}", "some of its cells are text"),
        ("Fare: {kind: integer}", "it holds fractions"),
        ("Sex: {kind: ordinal, order: [male]}", "does not list all"),
    ],
)
def test_a_kind_that_the_data_do_not_have(variable, says):
    plan = Plan.from_yaml(f"sfumato: 1\nvariables:\n  {variable}\n")
    with pytest.raises(PlanError, match=f"line 3: .*{says}"):
        plan.check_kinds(FRAME)


DAYS = pl.DataFrame(
    {
        "iso": ["2020-02-29", None, " 1990-07-14"],
        "time": ["2020-02-29 12:30", "2020-02-29T12:30:05", ""],
        "other": ["29.02.2020", "PLANTED", None],
        "none": pl.Series([None] * 3, dtype=pl.String),
    }
)


def test_texts_that_are_said_to_be_dates_are_dates_or_refused():
    plan = Plan(variables={n: {"kind": "date"} for n in DAYS.columns})
    dated = plan.read(DAYS)
    assert dated.dtypes == [pl.Date, pl.Datetime("us"), pl.String, pl.String]
    assert dated["iso"].to_list() == [datetime.date(2020, 2, 29), None, datetime.date(1990, 7, 14)]
    with pytest.raises(PlanError, match="'other' is said to be date, .* 2020-12-31, 2020-12-31 12:30") as caught:
        plan.check_kinds(dated)
    assert len(caught.value.problems) == 1
    assert "PLANTED" not in str(caught.value)
    assert Plan().read(DAYS).equals(DAYS)


def test_dates_that_a_step_drops_need_no_form():
    said = {"other": {"kind": "date"}}
    Plan(variables=said, steps=[Drop(columns=["other"])]).check_kinds(DAYS)
    with pytest.raises(PlanError, match="ISO"):
        Plan(variables=said, steps=[Recode(columns=["other"], map={}), Drop(columns=["other"])]).check_kinds(DAYS)


def test_the_schema_is_json_schema_and_knows_every_method():
    text = json.dumps(Plan.json_schema())
    assert '"properties"' in text
    assert '"min_stratum"' in text
    assert '"suppress_strata"' in text


def test_missing_codes_of_plan_and_file_are_joined():
    known = Codebook({"Age": Variable(missing=[{"low": -9, "high": -8}, {"code": 99, "label": "not asked"}])})

    def codes(said):
        missing = Plan(variables={"Age": said}).codebook(FRAME, known)["Age"].missing
        return [(m.code, m.low, m.high, m.label) for m in missing]

    of_file = [(None, -9, -8, None), (99, None, None, "not asked")]
    assert codes({"kind": "integer"}) == of_file
    assert codes({"missing": [-7]}) == [(-7, None, None, None), *of_file]
    assert codes({"missing": [99]}) == [of_file[1], of_file[0]]
    assert codes({"missing": [{"code": 99, "label": "refused"}]}) == [(99, None, None, "refused"), of_file[0]]
    assert codes({"missing": [-7], "missing_from_file": False}) == [(-7, None, None, None)]
    assert codes({"missing_from_file": False}) == []


def test_a_codebook_forgets_where_codes_are_from():
    plan = Plan(variables={"Age": {"missing_from_file": False}})
    assert plan.codebook(FRAME, Codebook())["Age"].missing_from_file
    assert Plan.from_yaml(plan.to_yaml()) == plan


def test_columns_that_look_like_identifiers_need_a_word():
    """Unlisted, a column of names would leave as `other`; any role that the plan states is an answer."""
    frame = pl.DataFrame({"label": [f"Zorvek {i}" for i in range(30)], "town": ["North", "South"] * 15})
    with pytest.raises(PlanError) as raised:
        Plan().check_roles(frame, Codebook())
    (problem,) = raised.value.problems
    assert "'label'" in str(problem)
    assert "role: other" in str(problem)
    assert "Zorvek" not in str(problem)
    Plan(variables={"label": {"role": "other"}}).check_roles(frame, Codebook())
    Plan(steps=[Drop(columns=["label"])]).check_roles(frame, Codebook())
    Plan().check_roles(frame, Codebook({"label": Variable(role="key")}))
    with pytest.raises(PlanError):
        Plan(variables={"label": {"kind": "text"}}).check_roles(frame, Codebook())


def test_a_running_number_may_be_the_records_own():
    frame = pl.DataFrame({"id": range(30), "number": range(100, 130)})
    Plan().check_roles(frame, Codebook())
    with pytest.raises(PlanError, match="'number'"):
        Plan(variables={"id": {"role": "record"}}).check_roles(frame, Codebook())


def test_the_order_of_rows_is_written_only_where_it_is_stated():
    """The digest of a plan that says nothing of it is what it was before there was the key."""
    plan = Plan.from_yaml(TITANIC)
    assert "order" not in plan.to_plain()
    kept = Plan.from_yaml(TITANIC + "order: input\n")
    assert Plan.from_yaml(kept.to_yaml()).order == "input"
    assert kept.digest != plan.digest
    assert "line 18: order: " in problems(TITANIC + "order: sorted\n")[0]


def test_derive_does_not_overwrite_what_was_coarsened():
    plan = Plan(
        steps=[
            {"do": "recode", "columns": ["age"], "band": [30]},
            {"do": "derive", "column": "age", "formula": "height + 1"},
        ]
    )
    with pytest.raises(PlanError, match="it overwrites age, which recode coarsened"):
        plan.check(Codebook({"age": Variable(kind="integer"), "height": Variable(kind="continuous")}))


HIERARCHIC = """sfumato: 1
steps:
  - {do: recode, columns: [town], level: 1, hierarchies: places}
"""


def test_hierarchies_in_files_are_written_as_digests(tmp_path):
    (tmp_path / "places").mkdir()
    (tmp_path / "places" / "town.csv").write_text("a;x;*\nb;y;*\n")
    (tmp_path / "plan.yaml").write_text(HIERARCHIC)
    plan = Plan.load(tmp_path / "plan.yaml")
    book = plan.codebook(pl.DataFrame({"town": ["a"]}), Codebook())
    assert book["town"].hierarchy == {"a": ("x",), "b": ("y",)}
    text = plan.to_yaml()
    assert "sha256" in text
    elsewhere = Plan(steps=[{**plan.steps[0].model_dump(), "hierarchies": str(tmp_path / "places")}])
    assert elsewhere.digest == plan.digest  # where the folder lies is nobody's business
    assert "x" not in text.replace("x256", "").split()
    (tmp_path / "plan.yaml").write_text(text)
    assert Plan.load(tmp_path / "plan.yaml").to_yaml() == text  # the same files, as it was run
    (tmp_path / "places" / "town.csv").write_text("a;z;*\nb;y;*\n")
    with pytest.raises(DataError, match=r"The hierarchies of town in 'places' are not those .* \(sha256\)"):
        Plan.load(tmp_path / "plan.yaml").codebook(pl.DataFrame({"town": ["a"]}), Codebook())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "plan.yaml").write_text(text)
    moved = Plan.load(tmp_path / "elsewhere" / "plan.yaml")
    assert moved.to_yaml() == text
    with pytest.raises(PlanError, match="has no hierarchy"):
        moved.check(Codebook({"town": Variable()}))


def test_preparing_ends_before_masking_or_where_nothing_masks_before_coarsening():
    drop = {"do": "drop", "columns": ["name"]}
    recode = {"do": "recode", "columns": ["age"], "band": [30]}
    noise = {"do": "noise", "columns": ["pay"], "share": 0.1}

    def preparing(*steps):
        return [step.name for step in Plan(steps=steps).preparing()]

    assert preparing(drop, recode) == ["drop"]
    assert preparing(drop, recode, noise) == ["drop", "recode"]
    assert preparing(drop) == ["drop"]
    assert Plan(steps=[drop, recode]).traces.coarsened == ("age",)
    assert Plan(steps=[drop, recode, noise]).traces.coarsened == ()
