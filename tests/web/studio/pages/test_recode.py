"""The editor of bands and categories: each change is one edit, rare ones are not shown, long trees go into a file."""

from __future__ import annotations

import html
import io
import re
import zipfile

import polars as pl
import pytest
from starlette.testclient import TestClient

from sfumato.data.yaml import load_yaml
from sfumato.plan.plan import Plan
from sfumato.release.secret import Secret
from sfumato.web.studio.application import serve
from sfumato.web.studio.recode_looks import mark
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio

EVIL, RIGHT = "<b>Evil</b>", "\u05e9\u05dc\u05d5\u05dd"
PLAN = """sfumato: 1
title: Towns
variables:
  town: {role: key, kind: categorical}
  age: {role: key, kind: integer}
  code: {role: other, kind: categorical}
  who: {role: identifier}
steps:
  - {do: drop, columns: [who]}
  # ages in bands
  - {do: recode, columns: [age], band: [40, 60]}  # two numbers
  - do: recode
    columns: [town]
    map:
      Leeds: North  # a big one
      # the south
      Bath: South
limits: []
"""
TOWNS = ["Leeds"] * 60 + ["Bath"] * 50 + ["York"] * 40 + ["Ely"] * 2 + ["Rye"] + [EVIL] * 20 + [RIGHT] * 27


@pytest.fixture(scope="module")
def open_(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recode")
    n = len(TOWNS)
    frame = pl.DataFrame(
        {
            "town": TOWNS,
            "age": [18 + i % 70 for i in range(n)],
            "code": [f"A{i:04}" for i in range(n)],
            "who": [f"Planted{i}" for i in range(n)],
        }
    )
    frame.write_csv(folder / "towns.csv")
    (folder / "plan.yaml").write_text(PLAN)
    studio = Studio(folder, Source(folder / "towns.csv"), folder / "plan.yaml", Secret(bytes(range(32))))
    client = TestClient(serve(studio, 8765), base_url="http://127.0.0.1:8765", headers={"X-Sfumato": "1"})
    assert client.get(f"/?token={studio.keys.token()}").status_code == 200
    yield studio, client
    studio.close()


@pytest.fixture
def ask(open_):
    """Posts to the editor with the tag of the plan as it is; the plan begins anew."""
    studio, client = open_
    studio.planned.change("*", lambda _: PLAN)

    def post(what: str, files=None, **form):
        sent = {"tag": studio.planned.etag, **{key.removesuffix("_"): said for key, said in form.items()}}
        return client.post(f"/pages/protect/recode/{what}", data=sent, files=files)

    return post


def town(ask, **form):
    return ask("tree", step=2, recode="town", **form)


def step(open_, number: int) -> dict:
    return load_yaml(open_[0].planned.text)[0]["steps"][number]


def alarm(answer) -> str:
    assert answer.headers["HX-Retarget"] == "#alarm"
    return answer.text


def editor(open_, address: str) -> str:
    part = open_[1].get(f"/pages/protect/steps?{address}").text
    return part[part.index('class="recode"') :]


def test_a_card_leads_to_the_editor_of_each_column(open_, ask):
    part = open_[1].get("/pages/protect/steps").text
    assert '<a href="/protect?step=1&amp;recode=age#step-1">Edit bands of <bdi>age</bdi></a>' in part
    assert "Edit categories of <bdi>town</bdi>" in part
    page = open_[1].get("/protect?step=2&recode=town&all=yes").text
    assert 'hx-get="/pages/protect/steps?step=2&amp;add=&amp;recode=town&amp;all=yes"' in page
    assert "/protect?add=recode&amp;recode=age#adding" in open_[1].get("/pages/protect/steps?add=recode").text


def test_rare_categories_and_odd_names(open_, ask):
    part = editor(open_, "step=2&recode=town")
    assert "Ely" not in part
    assert "Rye" not in part
    assert re.search(r"others <span[^>]*>\(2 values, fewer than 5 records each\)", part)
    assert f"<bdi>{html.escape(EVIL)}</bdi>" in part
    assert f"<bdi>{RIGHT}</bdi>" in part
    assert "<b>" not in part
    part = editor(open_, "step=2&recode=town&all=yes")
    assert "Ely" in part
    assert "Hide rare categories" in part
    assert "style=" not in part


def test_identifiers_are_not_shown_until_asked_for(open_, ask):
    open_[0].planned.change("*", lambda text: text.replace("  - {do: drop, columns: [who]}\n", ""))
    assert "Planted" not in editor(open_, "add=recode&recode=who")
    assert "Planted" in editor(open_, "add=recode&recode=who&all=yes")


def test_values_are_grouped_and_other_lines_stay(open_, ask):
    answer = town(ask, act="group", name="North", pick=[mark(0, "York")])
    assert open_[0].planned.text == PLAN.replace("      Bath: South\n", "      Bath: South\n      York: North\n")
    assert 'id="plan" hx-swap-oob' in answer.text
    assert f'value="{mark(1, "North")}" data-focus' in answer.text
    town(ask, act="rename", name="Up", pick=[mark(1, "North")])
    assert "      Leeds: Up  # a big one\n" in open_[0].planned.text
    town(ask, act="split", pick=[mark(1, "Up")])
    assert step(open_, 2)["map"] == {"Bath": "South"}
    assert "a big one" not in open_[0].planned.text
    for _ in range(3):
        open_[0].planned.undo()
    assert open_[0].planned.text == PLAN


def test_values_that_are_not_shown_are_grouped_by_their_line(open_, ask):
    town(ask, act="group", name="Small", pick=["o."])
    assert step(open_, 2)["map"] == {"Leeds": "North", "Bath": "South", "Ely": "Small", "Rye": "Small"}


def test_what_is_found_is_grouped(open_, ask):
    town(ask, act="group", name="R", find="y", all_="yes", pick=["found"])
    assert {key for key, name in step(open_, 2)["map"].items() if name == "R"} == {"York", "Ely", "Rye"}


def test_rare_ones_together(open_, ask):
    town(ask, act="rare", least="30", name="Few")
    assert {key for key, name in step(open_, 2)["map"].items() if name == "Few"} == {"Ely", "Rye", EVIL, RIGHT}
    assert "No category has fewer" in alarm(town(ask, act="rare", least="2", name="Few"))
    assert "whole number" in alarm(town(ask, act="rare", least="many", name="Few"))


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"act": "group", "name": "x"}, "Choose the categories"),
        ({"act": "group", "pick": ["0.none"], "name": "x"}, "Choose the categories"),
        ({"act": "group", "pick": [mark(0, "York")], "name": " "}, "a name"),
        ({"act": "rename", "pick": [mark(0, "York"), mark(0, "Bath")], "name": "x"}, "one category"),
        ({"act": "split", "pick": [mark(1, "North"), mark(1, "South")]}, "Nothing would be together"),
        ({"act": "level", "level": "7"}, "levels"),
    ],
)
def test_what_cannot_be_done_changes_nothing(open_, ask, form, said):
    assert said in alarm(town(ask, **form))
    assert open_[0].planned.text == PLAN


def test_a_stale_edit_is_refused(open_, ask):
    assert "changed elsewhere" in alarm(town(ask, tag="old", act="group", name="x", pick=[mark(0, "York")]))
    assert "no such step" in alarm(ask("tree", step=0, recode="who", act="group", name="x"))


def test_values_in_no_group_may_be_missing(open_, ask):
    town(ask, act="other", value="missing")
    assert step(open_, 2)["other"] == "missing"
    part = editor(open_, "step=2&recode=town&all=yes")
    assert "5 values are in no group" in part
    assert part.count("becomes missing</span>") == 5
    town(ask, act="keep", pick=[mark(0, "York")])
    assert step(open_, 2)["map"]["York"] == "York"
    town(ask, act="unlist", pick=[mark(0, "York")])
    assert "York" not in step(open_, 2)["map"]
    assert "takes it out" not in part
    town(ask, act="split", pick=[mark(0, "Leeds")])
    assert step(open_, 2)["map"]["Leeds"] == "Leeds"  # taken out of its group, not lost


def test_several_levels(open_, ask):
    town(ask, act="levels")
    made = step(open_, 2)
    assert (made["level"], made["hierarchy"]["Leeds"], made["hierarchy"]["Ely"]) == (1, ["North"], [])
    assert "map" not in made
    town(ask, act="group", name="England", pick=[mark(1, "North"), mark(1, "South")])
    assert step(open_, 2)["hierarchy"]["Bath"] == ["South", "England"]
    town(ask, act="level", level="2")
    assert step(open_, 2)["level"] == 2
    assert "Choose categories of one level" in alarm(
        town(ask, act="group", name="x", pick=[mark(0, "Leeds"), mark(1, "South")])
    )
    town(ask, act="flat")
    assert step(open_, 2) == {"do": "recode", "columns": ["town"], "map": {"Leeds": "England", "Bath": "England"}}


def test_a_tree_of_arx_is_read_edited_and_told_what_it_lacks(open_, ask):
    arx = "Leeds;North;England;*\nYork;North;England;*\nHull;North;England;*\nBath;South;England;*\n"
    ask("import", files={"file": ("t.csv", arx.encode())}, step=2, recode="town")
    assert step(open_, 2)["hierarchy"]["York"] == ["North", "England"]
    part = editor(open_, "step=2&recode=town")
    assert "The tree does not list 4 values" in part
    assert html.escape(EVIL) in part[part.index("does not list") :]
    assert "2 more, such as have fewer than 5 records" in part
    assert "Ely" not in part
    assert "1 of the values that are listed are not in the data" in part
    town(ask, act="group", name="South", pick=[mark(0, "York")])
    assert step(open_, 2)["hierarchy"]["York"] == ["South", "England"]
    town(ask, act="unknown", value="missing")
    assert step(open_, 2)["unknown"] == "missing"
    town(ask, act="list")
    assert step(open_, 2)["hierarchy"]["Ely"] == []
    got = open_[1].get("/pages/protect/recode/file?step=2&recode=town&form=arx")
    assert "Leeds;North;England;*" in got.text
    assert got.headers["content-disposition"] == 'attachment; filename="hierarchy.csv"'
    before = step(open_, 2)["hierarchy"]
    ask("import", files={"file": ("again.csv", got.content)}, step=2, recode="town")
    assert {v: a or [v] for v, a in step(open_, 2)["hierarchy"].items()} == {
        v: (list(a) or [v]) for v, a in {**before, **{v: [v, v] for v, a in before.items() if not a}}.items()
    }


def test_a_mapping_is_read_and_given(open_, ask):
    ask(
        "import", files={"file": ("m.csv", f'value,group\nYork,"A, B"\n{EVIL},Other\n'.encode())}, step=2, recode="town"
    )
    assert step(open_, 2)["map"] == {"York": "A, B", EVIL: "Other"}
    got = open_[1].get("/pages/protect/recode/file?step=2&recode=town&form=mapping").text
    assert 'York,"A, B"\n' in got
    assert "Leeds,Leeds\n" in got


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "UTF-8"),
        (b"", "lists no value"),
        (b"a\nb\n", "names no group"),
        (b"a;x\na;y\n", "lists a value twice"),
        (b"a;x;y\nb;x;z\n", "under two broader ones"),
        (b'a;"x\n', "badly quoted"),
        (b"<script>;;x\n", "line 1 has a gap"),
    ],
)
def test_files_that_are_no_trees(open_, ask, content, said):
    answer = ask("import", files={"file": ("t.csv", content)}, step=2, recode="town")
    assert said in alarm(answer)
    assert "<script>" not in answer.text
    assert open_[0].planned.text == PLAN


def test_a_tree_that_is_too_large_is_refused(open_, ask, monkeypatch):
    monkeypatch.setattr("sfumato.web.studio.pages.recode.MOST_TREE", 10)
    assert "larger than" in alarm(ask("import", files={"file": ("t.csv", b"a;b\n" * 9)}, step=2, recode="town"))


def test_a_new_step_comes_with_its_first_group(open_, ask):
    answer = ask("tree", step="", recode="code", act="prefixes", lengths="3, 2")
    assert answer.headers["HX-Redirect"] == "/protect?step=3&recode=code#step-3"
    assert step(open_, 3)["hierarchy"]["A0123"] == ["A01", "A0"]
    assert open_[0].planned.text.startswith(PLAN.removesuffix("limits: []\n"))


@pytest.mark.slow
def test_a_long_tree_goes_into_a_file_that_archives_carry(open_, ask, monkeypatch):
    studio, client = open_
    monkeypatch.setattr("sfumato.web.studio.recoding.MOST_INLINE", 100)
    ask("tree", step="", recode="code", act="prefixes", lengths="3")
    folder = step(open_, 3)["hierarchies"]
    assert "hierarchy" not in step(open_, 3)
    assert not (studio.folder / folder).exists()  # the plan is not kept there
    ask("tree", step=3, recode="code", act="rename", name="Zeroth", pick=[mark(1, "A00")])
    assert step(open_, 3)["hierarchies"] != folder
    assert "Zeroth" in editor(open_, "step=3&recode=code")
    assert "Download it with its files" in client.get("/pages/plan").text
    with zipfile.ZipFile(io.BytesIO(client.get("/pages/plan/archive").content)) as archive:
        archive.extractall(studio.folder / "taken")
    taken = Plan.load(studio.folder / "taken" / "towns.plan.yaml")
    assert taken.digest == studio.planned.plan.digest
    assert studio.problems(studio.planned.text) == ()
    studio.planned.undo()
    assert "Zeroth" not in editor(open_, "step=3&recode=code")


def test_bands_are_typed_named_and_removed(open_, ask):
    part = editor(open_, "step=1&recode=age")
    assert 'aria-label="Band 2 begins at"' in part
    assert "<svg" in part
    ask("bands", step=1, recode="age", edge=["65", "40", "", "20.5"], label=["", "old", "", "", "young"])
    assert step(open_, 1)["band"] == [20.5, 40, 65]
    assert step(open_, 1)["labels"] == ["below 20.5", "young", "40 to below 65", "old"]
    assert "  # two numbers" in open_[0].planned.text
    ask("bands", step=1, recode="age", edge=["20.5", "40", "65"], label=["", "young", "", "old"], remove="3")
    assert step(open_, 1)["labels"] == ["below 20.5", "young", "40 and over"]
    ask("bands", step=1, recode="age", edge=["40"], label=["", ""])
    assert step(open_, 1) == {"do": "recode", "columns": ["age"], "band": [40]}


@pytest.mark.parametrize(
    ("edges", "said"), [(["x"], "numbers"), (["1", "1"], "twice"), ([""], "at least one"), (["inf"], "finite")]
)
def test_what_are_no_bands(open_, ask, edges, said):
    assert said in alarm(ask("bands", step=1, recode="age", edge=edges, label=[""]))


def test_bands_to_begin_with(open_, ask):
    ask("bands", step=1, recode="age", start="equal", n="2")
    assert step(open_, 1)["band"] == [52]  # half way from 19 to 85: 5 records reach as far as each
    ask("bands", step=1, recode="age", start="learn", n="4")
    assert step(open_, 1)["band"] == {"n": 4}
    assert "learned anew at each run" in editor(open_, "step=1&recode=age")
    assert "whole number" in alarm(ask("bands", step=1, recode="age", start="equal", n="1000"))


def test_what_the_step_does_is_shown(open_, ask):
    got = open_[1].post("/pages/protect/recode/effect?step=2", data={})
    assert "Smallest group (k)" in got.text
    assert "Tried on the whole file" in got.text


def test_a_column_gets_a_step_of_its_own(open_, ask):
    open_[0].planned.change("*", lambda text: text.replace("columns: [age]", "columns: [age, code]"))
    assert "Give age a step of its own" in editor(open_, "step=1&recode=age")
    answer = ask("own", step=1, recode="age")
    assert answer.headers["HX-Redirect"] == "/protect?step=2&recode=age#step-2"
    assert step(open_, 1)["columns"] == ["code"]
    assert step(open_, 2) == {"do": "recode", "columns": ["age"], "band": [40, 60]}


def test_an_address_that_leads_nowhere(open_, ask):
    for address in ("step=2&recode=none", "add=recode&recode=none"):
        assert 'role="alert"' in editor(open_, address)
