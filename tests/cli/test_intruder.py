"""`sfumato risk` with scenarios and controls: what it takes, and what it refuses."""

import json

import numpy as np
import polars as pl
import pytest

PLANTED = "Marrowby"


def table(n, seed, first):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"R{i}" for i in range(first, first + n)],
            "town": [PLANTED, *rng.choice([PLANTED, "York", "Hull"], n - 1)],
            "age": rng.integers(20, 70, n),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, control = table(60, 1, 0), table(40, 2, 100)
    before.write_csv("before.csv")
    before.with_columns(pl.col("age") + 1).sample(fraction=1, shuffle=True, seed=3).write_csv("after.csv")
    control.write_csv("control.csv")
    control.drop("id").write_csv("nameless.csv")
    control.with_columns(age=pl.lit("old")).write_csv("texts.csv")
    control.drop("age").write_csv("short.csv")
    control.head(0).write_csv("empty.csv")
    pl.concat([control, before.tail(1)]).write_csv("members.csv")
    return tmp_path


BASE = ("risk", "before.csv", "--protected", "after.csv", "--record", "id", "--keys", "town,age")


def test_every_scenario_at_once(folder, sfumato):
    named = ("--scenario", "neighbour,cross_match,trawl,claim", "--control", "control.csv", "--present", "0.5")
    done = sfumato(*BASE, *named, "--sensitive", "ill", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    assert {f["attack"] for f in found if f["measure"] == "match_correct"} >= {"neighbour", "cross_match", "claim"}
    assert {f["group"] for f in found if f["measure"] == "inference"} == {"risk", "attack", "control"}
    assert {f["group"] for f in found if f["measure"] == "membership"} == {"auc", "advantage"}


def test_without_a_scenario_nothing_of_it_is_measured(folder, sfumato):
    told = json.loads(sfumato(*BASE, "--json").stdout)
    assert not [f for f in told["findings"] if f["measure"].startswith("match_")]


def test_ids_of_the_control_are_not_needed(folder, sfumato):
    done = sfumato(*BASE, "--scenario", "cross_match", "--control", "nameless.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert any(f["measure"] == "match_on_control" for f in json.loads(done.stdout)["findings"])


def test_rows_that_are_nobodys(folder, sfumato):
    named = ("--align", "none", "--keys", "town,age", "--sensitive", "ill", "--control", "control.csv")
    done = sfumato("risk", "before.csv", "--protected", "after.csv", *named, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    of_copies = {"replicated_uniques", "disclosive_correct"}
    assert {f["measure"] for f in told["findings"]} == {"inference", "membership"} | of_copies
    assert any("Rows are nobody's" in note for note in told["notes"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--scenario", "burglar"), "no scenario 'burglar'"),
        (("--scenario", ","), "names none"),
        (("--scenario", "cross_match", "--present", "0"), "above 0 and at most 1"),
        (("--scenario", "cross_match", "--present", "1.2"), "above 0 and at most 1"),
        (("--present", "nan"), "above 0 and at most 1"),
        (("--present", "0.5"), "name the scenario"),
        (("--scenario", "cross_match", "--control", "members.csv"), "its 'id' holds ids that stand in the release"),
        (("--scenario", "cross_match", "--control", "texts.csv"), "'age' holds text, in the original numbers"),
        (("--scenario", "cross_match", "--control", "short.csv"), "has no column 'age'"),
        (("--scenario", "cross_match", "--control", "empty.csv"), "empty.csv"),
        (("--control", "gone.csv"), "gone.csv"),
    ],
)
def test_what_is_refused(folder, sfumato, arguments, says):
    done = sfumato(*BASE, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert PLANTED not in done.stderr
    assert "R5" not in done.stderr


def test_nobodys_rows_need_a_control(folder, sfumato):
    done = sfumato("risk", "before.csv", "--protected", "after.csv", "--align", "none", "--keys", "town")
    assert done.returncode == 2
    assert "--control FILE" in done.stderr


def test_members_among_the_control_of_a_copy(folder, sfumato):
    named = ("--align", "none", "--record", "id", "--keys", "town", "--control", "members.csv")
    done = sfumato("risk", "before.csv", "--protected", "after.csv", *named)
    assert done.returncode == 2
    assert "its 'id' holds ids" in done.stderr


@pytest.mark.parametrize("arguments", [("--scenario", "neighbour"), ("--control", "control.csv"), ("--present", "0.5")])
def test_one_table_has_no_intruder(folder, sfumato, arguments):
    done = sfumato("risk", "before.csv", "--keys", "town", *arguments)
    assert done.returncode == 2
    assert "a protected table beside its original" in done.stderr
