"""`init --synthetic`: a plan that runs, and what is told of it on the screen and in JSON."""

from __future__ import annotations

import json
import random

import pytest

from sfumato.plan.plan import Plan


@pytest.fixture
def amounts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_SECRET", "ab" * 16)
    r = random.Random(4)
    rows = ["rid,sex,age,a,b,total,start,end"]
    for i in range(300):
        a, b, s = r.randint(0, 900), r.randint(0, 900), r.randint(1, 300)
        rows.append(f"{i},{r.choice('fm')},{r.randint(18, 80)},{a},{b},{a + b},{s},{s + r.randint(0, 200)}")
    (tmp_path / "s.csv").write_text("\n".join(rows) + "\n")


def test_json_has_relations_and_the_plan_runs(sfumato, amounts):
    done = sfumato("init", "s.csv", "--synthetic", "--out", "s.yaml", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    keys = ("kind", "columns", "rule", "share", "written")
    assert [tuple(one) for one in told["relations"]] == [keys, keys]
    assert [one["rule"] for one in told["relations"]] == ["total = a + b", "start <= end"]
    assert "trials" not in told
    assert told["draft"]["method"] == "synthesise"
    assert Plan.from_yaml(told["plan"]).steps[-1].copies == 1
    done = sfumato("protect", "s.yaml", "s.csv", "--out", "copy", "--force")
    assert done.returncode in (0, 1), done.stderr


def test_the_screen_names_relations_and_what_to_do_next(sfumato, amounts):
    done = sfumato("init", "s.csv", "--synthetic", "--out", "s.yaml")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("DRAFTED  s.yaml: one synthetic copy")
    assert " total = a + b  all    yes" in lines
    assert any(line.strip() == "sfumato init s.csv --synthetic --try --roles s.yaml --out s2.yaml" for line in lines)
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)


def test_roles_of_a_draft_are_drafted_again_alike(sfumato, amounts):
    sfumato("init", "s.csv", "--synthetic", "--out", "s.yaml")
    done = sfumato("init", "s.csv", "--synthetic", "--roles", "s.yaml", "--out", "s2.yaml")
    assert done.returncode == 0, done.stderr
    one, two = (Plan.load(name).steps[-1] for name in ("s.yaml", "s2.yaml"))
    assert one == two


def test_what_does_not_go_together_is_refused(sfumato, amounts):
    done = sfumato("init", "s.csv", "--try")
    assert done.returncode == 2
    assert "--synthetic" in done.stderr
    done = sfumato("init", "s.csv", "s.csv", "--synthetic")
    assert done.returncode == 2


@pytest.mark.slow
def test_trials_are_told_but_not_written(sfumato, amounts):
    done = sfumato("init", "s.csv", "--synthetic", "--try", "--out", "t.yaml", "--json")
    told = json.loads(done.stdout)
    keys = {"method", "min_leaf", "smooth", "table_ratio", "pmse_ratio", "membership", "inference", "holds", "chosen"}
    assert len(told["trials"]) == 3
    assert all(keys <= set(trial) for trial in told["trials"])
    (best,) = [trial for trial in told["trials"] if trial["chosen"]]
    step = Plan.from_yaml(told["plan"]).steps[-1]
    assert (step.method, step.min_leaf, step.smooth) == (best["method"], best["min_leaf"], best["smooth"])
    assert f"{best['membership']:.3f}"[1:] not in told["plan"]
