"""A column of a step `recode`: where a new step goes, and steps of several columns with a tree each."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfumato.data.yaml import load_yaml
from sfumato.errors import DataError
from sfumato.release.secret import Secret
from sfumato.web.studio.recoding import banding, own_step, subject, tree
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio

HEAD = """sfumato: 1
variables:
  id: {role: record}
  town: {role: key}
  job: {role: key}
  age: {role: key, kind: integer}
steps:
"""
TREES = {"town": "Leeds;North\nBath;South\n", "job": "a;x\nb;x\nc;y\n"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("recoding")
    rows = {"id": list(range(60)), "town": ["Leeds", "Bath"] * 30, "job": ["a", "b", "c"] * 20, "age": [*range(20, 80)]}
    pl.DataFrame(rows).write_csv(folder / "people.csv")
    (folder / "trees").mkdir()
    for name, text in TREES.items():
        (folder / "trees" / f"{name}.csv").write_text(text)
    (folder / "plan.yaml").write_text(HEAD.replace("steps:\n", "steps: []\n"))
    made = Studio(folder, Source(folder / "people.csv"), folder / "plan.yaml", Secret(bytes(32)))
    made.planned.keep(made.beside)
    yield made
    made.close()


def planned(studio, *steps: str):
    studio.planned.change("*", lambda _: HEAD + "".join(f"  - {step}\n" for step in steps))


def steps(studio) -> list[dict]:
    return load_yaml(studio.planned.text)[0]["steps"]


@pytest.mark.parametrize(
    ("before", "column", "at"),
    [
        (("{do: drop, columns: [job]}",), "town", 1),
        (("{do: drop, columns: [job]}", "{do: noise, columns: [age], share: 0.1}"), "town", 1),
        (
            ("{do: merge_rare, columns: [town], min_count: 5}", "{do: suppress_strata, by: [town, age], min_count: 5}"),
            "town",
            1,
        ),
        (("{do: noise, columns: [age], share: 0.1}",), "age", 1),
    ],
)
def test_a_new_step_comes_before_what_blurs_or_leaves_out(studio, before, column, at):
    planned(studio, *before)
    assert subject(studio, None, column).at == at


def test_a_tree_of_one_of_several_columns_is_written_beside_those_of_the_others(studio):
    planned(studio, "{do: recode, columns: [town, job], level: 1, hierarchies: trees}")
    one = tree(subject(studio, 0, "job"))
    assert dict(one.broader) == {"a": ("x",), "b": ("x",), "c": ("y",)}
    studio.planned.change("*", one.named([(1, "y")], "z").edit())
    folder = studio.planned.base / steps(studio)[0]["hierarchies"]
    assert folder.name.startswith("people.hierarchies-")
    assert (folder / "town.csv").read_text() == TREES["town"]
    assert "c;z" in (folder / "job.csv").read_text()
    assert (studio.folder / "trees" / "job.csv").read_text() == TREES["job"]
    assert studio.problems(studio.planned.text) == ()


def test_columns_with_trees_of_their_own_are_parted_first(studio):
    text = HEAD.replace("{role: key}\n", "{role: key, hierarchy: {a: [x], b: [x], c: [y], Leeds: [N], Bath: [S]}}\n")
    studio.planned.change("*", lambda _: text + "  - {do: recode, columns: [town, job], level: 1}\n")
    one = tree(subject(studio, 0, "job"))
    with pytest.raises(DataError, match="a step of its own first"):
        one.named([(1, "y")], "z").edit()
    studio.planned.change("*", own_step(subject(studio, 0, "job")))
    studio.planned.change("*", tree(subject(studio, 1, "job")).named([(1, "y")], "z").edit())
    assert steps(studio)[0] == {"do": "recode", "columns": ["town"], "level": 1}
    assert steps(studio)[1]["hierarchy"]["c"] == ["z"]


def test_values_of_numbers_keep_being_numbers(studio):
    planned(studio, "{do: recode, columns: [age], map: {20: 1, 21: 1}}")
    one = tree(subject(studio, 0, "age"))
    studio.planned.change("*", one.grouped([(0, "22")], "1").edit())
    assert steps(studio)[0]["map"] == {20: 1, 21: 1, 22: 1}
    with pytest.raises(DataError, match="values that are none"):
        one.read("value,group\nold,x\n", "m.csv").edit()


def test_a_map_is_made_a_tree_by_what_it_says_of_the_rest(studio):
    planned(studio, "{do: recode, columns: [job], map: {a: x, b: b}, other: missing}")
    one = tree(subject(studio, 0, "job"))
    assert dict(one.broader) == {"a": ("x",), "b": ()}
    studio.planned.change("*", one.several().edit())
    assert steps(studio)[0] == {
        "do": "recode",
        "columns": ["job"],
        "level": 1,
        "hierarchy": {"a": ["x"], "b": []},
        "unknown": "missing",
    }
    studio.planned.change("*", tree(subject(studio, 0, "job")).single().edit())
    assert steps(studio)[0] == {"do": "recode", "columns": ["job"], "map": {"a": "x", "b": "b"}, "other": "missing"}


def test_what_no_file_can_hold_is_refused(studio, monkeypatch):
    monkeypatch.setattr("sfumato.web.studio.recoding.MOST_INLINE", 2)
    planned(studio)
    one = tree(subject(studio, None, "job"))
    with pytest.raises(DataError, match="blanks"):
        one.grouped([(0, "a"), (0, "b")], "x")._with({"a": ("x",), " b": ("x",), "c": ()}).edit()


def test_learned_bands_are_shown_as_they_are_now(studio):
    planned(studio, "{do: recode, columns: [age], band: {n: 3}}")
    one = banding(subject(studio, 0, "age"))
    assert (one.points, one.rule.n) == ((40.0, 60.0), 3)


def test_a_step_or_column_that_is_not_there(studio):
    planned(studio, "{do: drop, columns: [job]}")
    for step, column in ((0, "job"), (9, "town"), (None, "none")):
        with pytest.raises(DataError):
            subject(studio, step, column)
