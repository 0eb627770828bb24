"""The verdict for whoever knows all that leaves."""

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
NUMBER = {"do": "pseudonymise", "columns": ["id"], "scope": "table", "format": "number"}
LIMITS = [{"measure": "k_anonymity", "at_least": 5, "group": "keys"}]


def verdict(*, unknown=(), steps=(NUMBER,), limits=LIMITS, frame=FRAME, variables=VARIABLES, by=("sex",), **more):
    masking = {"do": "noise", "columns": ["bmi"], "by": list(by), "share": 0.5}
    plan = Plan(
        variables={n: v for n, v in variables.items() if n in frame.columns},
        steps=[masking, *steps],
        limits=limits,
        unknown=unknown,
        **more,
    )
    release = sf.protect(plan, frame, secret=SECRET)
    return release.verdict, release.undecided


def nobody_knows(*columns, because=BECAUSE):
    return [{"columns": columns, "because": because}]


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


def test_a_limit_that_names_no_group_binds_those_who_know_all_that_leaves():
    towns = pl.Series([f"t{i // 4}" for i in range(60)])
    pairs = FRAME.with_columns(town=towns, area=pl.lit("n"))  # two of each sex in a town
    assert verdict(frame=pairs) == ("holds", ())
    anybody = [{"measure": "k_anonymity", "at_least": 5}]
    assert verdict(frame=pairs, limits=anybody) == ("undecided", ("area", "town"))
    assert verdict(frame=pairs, limits=anybody, unknown=nobody_knows("town")) == ("holds", ())


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


def test_the_order_alone_has_a_way_out():
    said = undecided_words(Judged("undecided", ("order",)), ("order",))
    assert yaml.safe_load(said.split("\n", 1)[1].rsplit("\n", 1)[0]) == {
        "unknown": [{"columns": ["order"], "because": "?"}]
    }
    assert "Leave `order: input` out" in said


@pytest.fixture(scope="module")
def undecided():
    """A release with an open id and two open columns."""
    masking = {"do": "noise", "columns": ["bmi"], "by": ["sex"], "share": 0.5}
    return sf.protect(Plan(variables=VARIABLES, steps=[masking], limits=LIMITS), FRAME, secret=SECRET)


def test_what_is_not_decided_is_not_written_and_says_what_to_decide(undecided, tmp_path):
    assert (undecided.ok, undecided.verdict) == (False, "undecided")
    with pytest.raises(LimitExceeded, match="holds only if nobody knows id, area and town") as told:
        undecided.write(tmp_path / "r")
    _, lines = str(told.value).split("\n", 1)
    first, _, new = lines.rpartition("\n")
    assert yaml.safe_load(first) == {"unknown": [{"columns": ["area", "town"], "because": "?"}]}
    assert "do: pseudonymise, columns: [id]" in new
    assert "What to try" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_forced_it_is_published_that_it_was_undecided(undecided, tmp_path):
    undecided.write(tmp_path / "r", force=True)
    page, papers = ((tmp_path / "r" / name).read_text() for name in ("report.html", "datapackage.json"))
    assert "Undecided: holds only if nobody outside knows id, area and town" in page
    assert "by the custodian&#39;s decision" in page
    assert '"verdict": "undecided"' in papers
    assert "zq" not in page + papers
    assert undecided.report.to_plain()["undecided"] == ["id", "area", "town"]


def test_of_several_tables_what_is_undecided_is_not_written(tmp_path):
    sexes = {"file": "a.csv", "variables": VARIABLES | {"bmi": {"role": "other"}}, "limits": LIMITS}
    plan = Plan(tables={"one": sexes | {"steps": [{"do": "drop", "columns": ["id", "bmi"]}]}})
    release = sf.protect(plan, {"one": FRAME}, secret=SECRET)
    assert (release.verdict, release.undecided) == ("undecided", ("one.area", "one.town"))
    with pytest.raises(LimitExceeded, match="Table one: Undecided: holds only if nobody knows area and town"):
        release.write(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []
