"""`init` with what a custodian says of columns, then `protect`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.usefixtures("one_draw")

REASON = "given to us alone, and nobody else holds these answers"
N = 400


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {
            "pid": np.arange(N) + 1,
            "email": [f"p{i}@example.org" for i in range(N)],
            "Sex": rng.choice(["f", "m"], N),
            "age": rng.integers(18, 90, N),
            "race": rng.choice(["a", "b"], N),
            "q1": rng.choice(["yes", "no"], N),
            "q2": rng.choice(["yes", "no"], N),
        }
    ).write_csv("people.csv")
    Path("key").write_bytes(bytes(32))


def test_keys_are_named_and_the_plan_holds(people, sfumato):
    named = ("--keys", "Sex,age", "--because", REASON, "--out", "plan.yaml")
    done = sfumato("init", "people.csv", *named, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    draft = told["draft"]
    assert list(draft) == ["for", "known", "unknown", "kept", "left_out", "method", "group", "tried", "next"]
    assert (draft["for"], draft["method"], draft["group"]) == ("scientific-use", "keys", 5)
    assert (draft["known"], draft["unknown"]) == (["Sex", "age"], ["race", "q1", "q2"])
    assert draft["left_out"] == [{"column": "email", "because": told["variables"]["email"]["reason"]}]
    assert draft["next"] == ["sfumato protect plan.yaml people.csv --out release --secret-file key"]
    assert told["plan"] == Path("plan.yaml").read_text()
    words = draft["next"][0].split()
    assert sfumato(*words[1:]).returncode == 0


def test_what_nobody_has_decided_is_answered_by_the_next_command(people, sfumato):
    done = sfumato("init", "people.csv", "--keys", "Sex,age", "--out", "plan.yaml", "--json")
    (following,) = json.loads(done.stdout)["draft"]["next"]
    assert following == 'sfumato init people.csv --roles plan.yaml --because "..." --out plan2.yaml'
    assert sfumato("protect", "plan.yaml", "people.csv", "--out", "release").returncode == 1
    public = sfumato("init", "people.csv", "--keys", "Sex", "--for", "public-use", "--json")
    assert "--for public-use" in json.loads(public.stdout)["draft"]["next"][0]
    unchanged = sfumato(*shlex.split(following)[1:])
    assert unchanged.returncode == 2
    assert "one line of 20 to 300 characters" in unchanged.stderr
    words = [REASON if word == "..." else word for word in shlex.split(following)]
    assert sfumato(*words[1:]).returncode == 0
    assert sfumato("protect", "plan2.yaml", "people.csv", "--out", "release", "--secret-file", "key").returncode == 0


def test_patterns_and_a_public_use(people, sfumato):
    asked = ("--unknown", "q*", "--because", REASON, "--for", "public-use", "--json")
    told = json.loads(sfumato("init", "people.csv", *asked).stdout)
    assert (told["draft"]["for"], told["draft"]["group"]) == ("public-use", 12)
    assert told["draft"]["unknown"] == ["q1", "q2"]
    assert told["variables"]["race"] | {"reason": ""} == {
        "role": "key",
        "kind": "categorical",
        "reason": "",
        "sensitive": True,
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--keys", "Sexx"), "Did you mean 'Sex'?"),
        (("--keys", "q1", "--unknown", "q1"), "named as keys and as unknown"),
        (("--record", "pid,email"), "--record names several columns"),
        (("--keys", "Sex", "--because", "short"), "20 to 300"),
        (("--keep", "email"), "identifier"),
        (("--roles", "nowhere.yaml"), "no file"),
        (("--for", "fun"), "--for"),
    ],
)
def test_what_cannot_be_is_refused(people, sfumato, options, said):
    done = sfumato("init", "people.csv", *options, "--out", "plan.yaml")
    assert done.returncode == 2
    assert said in done.stderr
    assert not Path("plan.yaml").exists()


def test_wishes_are_for_one_table(people, sfumato):
    Path("more.csv").write_bytes(Path("people.csv").read_bytes())
    done = sfumato("init", "people.csv", "more.csv", "--keys", "Sex")
    assert done.returncode == 2
    assert "one table" in done.stderr


def test_roles_of_an_edited_plan(people, sfumato):
    sfumato("init", "people.csv", "--out", "plan.yaml")
    text = Path("plan.yaml").read_text()
    line = next(row for row in text.splitlines() if row.strip().startswith("race:"))
    Path("edited.yaml").write_text(text.replace(line, "  race: {role: identifier, kind: categorical}"))
    same = ("init", "people.csv", "--roles", "edited.yaml", "--out", "edited.yaml")
    assert sfumato(*same).returncode == 2
    assert sfumato("init", "people.csv", "--roles", "edited.yaml", "--out", "again.yaml").returncode == 0
    again = Path("again.yaml").read_text()
    assert "race" in again.split("steps:")[1].split("columns: [")[1].split("]")[0]
    assert sfumato(*same, "--overwrite").returncode == 0
    assert Path("edited.yaml").read_text() == again
