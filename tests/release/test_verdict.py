"""The verdict for whoever knows all that leaves."""

import json

import polars as pl
import pytest
import yaml

import sfumato as sf
from sfumato.errors import LimitExceeded
from sfumato.plan.plan import Plan
from sfumato.release.verdict import Judged, undecided_words

SECRET = bytes(range(16))
BECAUSE = "answers given to us alone; nobody else holds them"
FRAME = pl.DataFrame(
    {
        "id": range(60),
        "sex": ["f", "m"] * 30,
        "area": (["n"] * 2 + ["s"] * 2) * 15,
        "town": ["a"] * 59 + ["zq"],
        "bmi": [20 + (i * 37 % 60) / 7 for i in range(60)],
    }
)
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "area": {"kind": "categorical"},
    "town": {"kind": "categorical"},
    "bmi": {"role": "key", "kind": "continuous"},
}
NOISE = {"do": "noise", "columns": ["bmi"], "by": ["sex"], "share": 0.5}
NUMBER = {"do": "pseudonymise", "columns": ["id"], "scope": "table", "format": "number"}
LIMITS = [{"measure": "k_anonymity", "at_least": 5, "group": "keys"}]


def nobody_knows(*columns, because=BECAUSE):
    return [{"columns": columns, "because": because}]


def verdict(*, unknown=(), steps=(NUMBER,), limits=LIMITS, frame=FRAME, variables=VARIABLES, by=("sex",), **more):
    plan = Plan(
        variables={n: v for n, v in variables.items() if n in frame.columns},
        steps=[{**NOISE, "by": list(by)}, *steps],
        limits=limits,
        unknown=unknown,
        **more,
    )
    release = sf.protect(plan, frame, secret=SECRET)
    return release.verdict, release.undecided


def test_who_is_alone_by_what_no_limit_counts_leaves_it_undecided():
    assert verdict() == ("undecided", ("area", "town"))
    assert verdict(frame=FRAME.with_columns(town=pl.lit("a"))) == ("holds", ())


def test_a_reason_decides_and_a_question_mark_does_not():
    assert verdict(unknown=nobody_knows("town")) == ("holds", ())
    assert verdict(unknown=nobody_knows("town", because="?")) == ("undecided", ("area", "town"))
    assert verdict(unknown=[{"columns": "others", "because": BECAUSE}]) == ("holds", ())


def test_what_is_dropped_or_made_a_key_is_not_open():
    assert verdict(frame=FRAME.drop("town")) == ("holds", ())
    assert verdict(variables=VARIABLES | {"town": {"role": "key"}}) == ("exceeded", ())  # its limit speaks of the keys


PAIRS = FRAME.with_columns(town=pl.Series([f"t{i // 4}" for i in range(60)]), area=pl.lit("n"))
"""Two of each sex in a town."""
ANYBODY = [{"measure": "k_anonymity", "at_least": 5}]


def test_a_limit_that_names_no_group_binds_those_who_know_all_that_leaves():
    assert verdict(frame=PAIRS) == ("holds", ())
    assert verdict(frame=PAIRS, limits=ANYBODY) == ("undecided", ("area", "town"))
    assert verdict(frame=PAIRS, limits=ANYBODY, unknown=nobody_knows("town")) == ("holds", ())


@pytest.mark.parametrize(
    ("unknown", "kept"),
    [
        ([], {"keys": True, "strata": True, "released": False}),
        (nobody_knows("town"), {"keys": True, "strata": True, "released": True, "everything": None}),
    ],
)
def test_it_does_not_bind_those_who_know_what_nobody_does(unknown, kept):
    plan = Plan(variables=VARIABLES, steps=[NOISE, NUMBER], limits=ANYBODY, unknown=unknown)
    found = sf.protect(plan, PAIRS, secret=SECRET).report.findings
    assert {f.group: f.ok for f in found.select("k_anonymity")} == kept


def test_what_fails_although_nobody_knows_the_open_columns_is_exceeded():
    assert verdict(limits=[{"measure": "k_anonymity", "at_least": 31, "group": "keys"}]) == ("exceeded", ())
    together = [{"measure": "k_anonymity", "at_least": 20}]  # 30 of each sex, 30 of each area, 15 of each two
    assert verdict(limits=together, by=("area",)) == ("exceeded", ())


def test_ids_that_leave_as_they_were_are_open():
    known = nobody_knows("town", "area")
    assert verdict(unknown=known, steps=()) == ("undecided", ("id",))
    assert verdict(unknown=[{"columns": "others", "because": BECAUSE}], steps=()) == ("undecided", ("id",))
    assert verdict(unknown=nobody_knows("town", "area", "id"), steps=()) == ("holds", ())


def test_a_column_that_is_an_id_by_its_looks_is_one():
    plan = Plan(
        variables=VARIABLES | {"id": {"role": "other", "kind": "integer"}},
        steps=[{"do": "recode", "columns": ["bmi"], "band": {"n": 3}}],
        limits=LIMITS,
        unknown=[{"columns": "others", "because": BECAUSE}],
    )
    assert sf.protect(plan, FRAME, secret=SECRET).undecided == ("id",)
    homes = FRAME.with_columns(household=pl.Series([i // 2 for i in range(60)]))
    told = VARIABLES | {"household": {"role": "other", "kind": "integer"}}
    state, left = verdict(frame=homes, variables=told, unknown=nobody_knows("town"))
    assert (state, left[0]) == ("undecided", "household")


def test_the_order_of_the_input_is_an_id():
    assert verdict(unknown=nobody_knows("town"), order="input")[1][0] == "order"
    assert verdict(unknown=nobody_knows("town", "order"), order="input") == ("holds", ())


def test_of_several_tables_it_is_the_worst():
    table = {"file": "a.csv", "variables": VARIABLES, "steps": [{"do": "drop", "columns": ["id"]}], "limits": LIMITS}
    decided = table | {"unknown": [{"columns": "others", "because": BECAUSE}]}
    plan = Plan(tables={"one": table, "two": decided})
    release = sf.protect(plan, {"one": FRAME, "two": FRAME.sample(60, seed=1)}, secret=SECRET)
    tables = {name: one.verdict for name, one in release.tables.items()}
    assert tables["one"] == "exceeded"  # bmi is a bare key
    assert release.verdict == "exceeded"


def test_the_lines_to_copy_are_of_a_plan_and_give_no_reason():
    names = ("town", "a: b", 'say "x"', "id", "1")
    said = undecided_words(Judged("undecided", names), ("id",))
    assert said.startswith('Undecided: holds only if nobody knows town, a: b, say "x" and 2 more. ')
    lines = said.split("\n")
    (line,) = yaml.safe_load("\n".join(lines[1:3]))["unknown"]
    assert line == {"columns": ["town", "a: b", 'say "x"', "1"], "because": "?"}
    assert yaml.safe_load(lines[3].partition(": ")[2])["columns"] == ["id"]
    assert undecided_words(Judged("holds"), ()) == ""


@pytest.fixture(scope="module")
def undecided():
    """A release whose id leaves as it was, with a town of one person."""
    return sf.protect(Plan(variables=VARIABLES, steps=[NOISE], limits=LIMITS), FRAME, secret=SECRET)


def test_what_is_undecided_is_not_written(undecided, tmp_path):
    assert not undecided.ok
    with pytest.raises(LimitExceeded, match=r"^The release was not written\. Undecided: .+\nunknown:\n"):
        undecided.write(tmp_path / "r", internal_report=tmp_path / "why.html")
    assert [path.name for path in tmp_path.iterdir()] == ["why.html"]
    assert "not released unless the custodian insists" in (tmp_path / "why.html").read_text()


def test_with_the_lines_of_the_refusal_and_a_reason_it_is_written(undecided, tmp_path):
    with pytest.raises(LimitExceeded, match="Undecided: holds only if nobody knows id, area and town") as told:
        undecided.write(tmp_path / "r")
    _, *unknown, step = str(told.value).split("\n")
    assert "zq" not in str(told.value)
    lines = yaml.safe_load("\n".join(unknown).replace('"?"', f'"{BECAUSE}"'))
    new_ids = yaml.safe_load(step.partition(": ")[2])
    assert (list(lines), new_ids) == (["unknown"], NUMBER)
    decided = Plan(variables=VARIABLES, steps=[NOISE, new_ids], limits=LIMITS, **lines)
    sf.protect(decided, FRAME, secret=SECRET).write(tmp_path / "r")
    papers = json.loads((tmp_path / "r" / "datapackage.json").read_text())
    assert papers["sfumato"]["known"]["verdict"] == "holds"


def test_papers_of_what_was_written_by_force_say_that_it_is_undecided(undecided, tmp_path):
    undecided.write(tmp_path / "r", force=True)
    page, papers = ((tmp_path / "r" / name).read_text() for name in ("report.html", "datapackage.json"))
    assert "Undecided: holds only if nobody outside knows id, area and town" in page
    assert "released all the same" in page
    known = json.loads(papers)["sfumato"]["known"]
    assert (known["verdict"], known["undecided"]) == ("undecided", ["id", "area", "town"])
    assert "zq" not in page + papers
    assert pl.read_parquet(tmp_path / "r" / "data.parquet").columns == FRAME.columns
    assert undecided.report.to_plain()["undecided"] == ["id", "area", "town"]


def test_an_order_that_alone_is_open_can_be_decided_or_left_out(tmp_path):
    known = nobody_knows("town", "area")
    ordered = Plan(variables=VARIABLES, steps=[NOISE, NUMBER], limits=LIMITS, unknown=known, order="input")
    release = sf.protect(ordered, FRAME, secret=SECRET)
    assert (release.verdict, release.undecided) == ("undecided", ("order",))
    with pytest.raises(LimitExceeded) as told:
        release.write(tmp_path / "r")
    _, *unknown, leave = str(told.value).split("\n")
    assert yaml.safe_load("\n".join(unknown)) == {"unknown": [{"columns": ["order"], "because": "?"}]}
    assert leave.startswith("Leave `order: input` out")
    assert verdict(unknown=known) == ("holds", ())


def test_a_limit_may_name_who_knows_what():
    def said(group):
        return [{"measure": "k_anonymity", "at_least": 2, "group": group}]

    assert verdict(limits=said("released"))[0] == "undecided"
    assert verdict(limits=said("everything"), unknown=nobody_knows("town"))[0] == "exceeded"


def test_of_several_tables_what_is_undecided_is_not_written(tmp_path):
    sexes = {"file": "a.csv", "variables": VARIABLES | {"bmi": {"role": "other"}}, "limits": LIMITS}
    plan = Plan(tables={"one": sexes | {"steps": [{"do": "drop", "columns": ["id", "bmi"]}]}})
    release = sf.protect(plan, {"one": FRAME}, secret=SECRET)
    assert (release.verdict, release.undecided) == ("undecided", ("one.area", "one.town"))
    with pytest.raises(LimitExceeded, match="Table one: Undecided: holds only if nobody knows area and town"):
        release.write(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["null", "true", "1e5", "1_000", "0x1F", "a\\b", "two\nlines", "no", "a: b", "é"])
def test_any_name_in_the_lines_to_copy_is_read_back(name):
    said = undecided_words(Judged("undecided", (name,)), ())
    (line,) = yaml.safe_load(said.split("\n", 1)[1])["unknown"]
    assert line["columns"] == [name]


def test_an_id_that_is_called_order_is_an_id():
    said = undecided_words(Judged("undecided", ("order",)), ("order",))
    assert "do: pseudonymise, columns: [order]" in said
    assert "order: input" not in said


def test_ids_that_join_tables_go_on_joining_them(tmp_path):
    """The lines of the refusal, in both tables, give a plan that runs and rows that join."""
    people = pl.DataFrame({"farm": range(100, 140), "region": ["n", "s"] * 20})
    visits = pl.DataFrame({"farm": [100 + i % 40 for i in range(80)], "season": ["a", "b", "b", "a"] * 20})
    tables = {
        "farms": {"file": "f.csv", "variables": {"farm": {"role": "record"}, "region": {"role": "key"}}},
        "visits": {"file": "v.csv", "variables": {"farm": {"role": "household"}, "season": {"role": "key"}}},
    }
    limits = {"limits": [{"measure": "k_anonymity", "at_least": 5}]}
    link = {"from": "visits", "to": "farms", "on": ["farm"]}

    def made(steps):
        own = {n: {**table, **limits, "steps": steps} for n, table in tables.items()}
        plan = Plan.model_validate({"tables": own, "links": [link]})
        return sf.protect(plan, {"farms": people, "visits": visits}, secret=SECRET)

    with pytest.raises(LimitExceeded) as told:
        made([]).write(tmp_path / "r")
    assert str(told.value).count("{do: pseudonymise, columns: [farm]}") == 2
    release = made([{"do": "pseudonymise", "columns": ["farm"]}])
    one, two = (release.tables[n].data.frame for n in ("farms", "visits"))
    assert two.join(one, on="farm").height == 80
