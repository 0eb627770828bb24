"""Long work, done in this process: what it gives is what the command of its name prints."""

import json

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.errors import DataError
from sfumato.progress import quiet
from sfumato.web.studio import tasks
from sfumato.web.studio.source import Source
from sfumato.web.studio.tasks import TASKS, Work

PLAN = """sfumato: 1
variables:
  id: {role: record}
  age: {role: key, kind: integer}
  dose: {role: other, kind: continuous}
steps:
  - {do: noise, columns: [dose], sd: 2.0}
limits:
  - {measure: k_anonymity, at_least: BOUND}
unknown:
  - {columns: [id], because: "numbers drawn for this file alone"}
"""
SECRET = bytes(range(32))
OF_FOLDERS = ("release", "next")
"""What the command tells beside: where it wrote, and commands to go on with from there."""
ROWS = ["id,age,dose", *(f"{i},{20 + i % 4},{i * 3 % 11}.5" for i in range(60))]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "data.csv").write_text("\n".join([*ROWS, ""]))
    (folder / "key").write_bytes(SECRET)
    for bound in (3, 40):
        (folder / f"{bound}.yaml").write_text(PLAN.replace("BOUND", str(bound)))
    with pytest.MonkeyPatch.context() as patched:  # drawing takes most of the time, and is looked at elsewhere
        patched.setattr("sfumato.render.plots.draw", lambda picture, name: ())
        patched.setattr("sfumato.render.parts.figures_of", lambda picture: ())
        yield folder


def work(home, tmp_path, task, plan=3, **options):
    source = Source(home / "data.csv", {"skip_rows": 0})
    text = (home / f"{plan}.yaml").read_text()
    return Work(task, source, source.stamp, text, home, options, (SECRET, True), tmp_path)


def printed(home, *arguments):
    line = [str(one) for one in arguments]
    return json.loads(CliRunner().invoke(app, [*line, "--json"]).stdout)


def protected(home, tmp_path, plan, *more):
    asked = (home / f"{plan}.yaml", home / "data.csv", "--secret-file", home / "key", *more)
    return printed(home, "protect", *asked, "--out", tmp_path / "again")


def test_a_run_is_what_the_command_prints_and_writes(home, tmp_path):
    told = TASKS["protect"](work(home, tmp_path, "protect"), quiet)
    again = protected(home, tmp_path, 3)
    assert {name: told[name] for name in again if name not in OF_FOLDERS} == {
        name: value for name, value in again.items() if name not in OF_FOLDERS
    }
    assert told["release"] == "release"
    files = {path.name: path.read_bytes() for path in (tmp_path / "release").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert (tmp_path / "internal.html").is_file()
    assert json.loads((tmp_path / "told.json").read_text())["verdict"]["state"] == "ok"


@pytest.mark.parametrize("force", [False, True])
def test_a_limit_that_does_not_hold_gives_a_release_by_force_alone(home, tmp_path, force):
    told = TASKS["protect"](work(home, tmp_path, "protect", plan=40, force=force), quiet)
    again = protected(home, tmp_path, 40, *(["--force"] if force else []))
    assert (told["release"], told["ok"]) == ("release" if force else None, False)
    assert (again["release"] is None) is not force
    assert {name: told[name] for name in again if name not in OF_FOLDERS} == {
        name: value for name, value in again.items() if name not in OF_FOLDERS
    }
    assert (tmp_path / "release").exists() is force


@pytest.mark.slow
def test_a_search_is_what_the_command_prints(home, tmp_path):
    limits = ["linkage_nearest <= 0.9"]
    asked = {"parameter": "steps.0.sd", "low": 1, "high": 2, "limits": limits, "grid": 0, "replications": 2}
    told = TASKS["tune"](work(home, tmp_path, "tune", **asked), quiet)
    more = ("--parameter", "steps.0.sd", "--range", "1:2", "--limit", limits[0], "--grid", 0, "--replications", 2)
    assert told == printed(home, "tune", home / "3.yaml", home / "data.csv", *more)


def test_a_risk_is_what_the_command_prints(home, tmp_path):
    told = TASKS["risk"](work(home, tmp_path, "risk", keys=("age",)), quiet)
    again = printed(home, "risk", home / "data.csv", "--keys", "age")
    assert again.pop("next")[0].startswith("sfumato init ")
    assert told == again


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_file_that_changes_before_or_while_it_is_read_is_refused(home, tmp_path, monkeypatch, when):
    (tmp_path / "data.csv").write_text("\n".join(ROWS))
    source = Source(tmp_path / "data.csv")
    asked = Work("risk", source, source.stamp, PLAN.replace("BOUND", "3"), tmp_path, {"keys": ("age",)})
    read = Source.read

    def slow(of):
        table = read(of)
        of.path.write_text("\n".join(ROWS[:-1]))
        return table

    if when == "before":
        (tmp_path / "data.csv").write_text("\n".join(ROWS[:-1]))
    monkeypatch.setattr(tasks.Source, "read", slow)
    with pytest.raises(DataError, match="was changed since"):
        TASKS["risk"](asked, quiet)
