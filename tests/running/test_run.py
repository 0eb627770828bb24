"""Whole runs over small folders of tests, in processes of their own, as `.ci/run` makes them."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.running.limits import LONG
from tests.running.run import Ended, Run
from tests.running.sets import run_set, surroundings

ROOT = Path(__file__).parents[2]
PROJECT = """
[tool.pytest.ini_options]
addopts = "-q --strict-markers -p no:schemathesis"
timeout = 60
markers = ["slow", "browser", "nightly(of)", "once"]
"""
BESIDE = """
import pathlib, pytest
been = pathlib.Path(__file__).parent / "been"

{mark}
def test_alone_it_passes():
    if not been.exists():
        been.touch()
        raise AssertionError("something was left behind")

def test_beside():
    pass
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder of tests with our plug-in; gives what a run of it came to, and its last lines."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.running.plugin"]\n')
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "log").mkdir()

    def run(text, processes=0, without=()):
        (tmp_path / "tests" / "test_x.py").write_text(text)
        made = Run("ci", tmp_path, tmp_path / "log", "0" * 40, 7, Path(sys.executable))
        made.without += without
        run_set(made, "tests", "", ["tests"], processes=processes, together=True)
        fine = made.end()
        told = json.loads((tmp_path / "log" / "summary.json").read_text())
        assert told["ok"] is fine
        lines = (tmp_path / "log" / "log.txt").read_text().splitlines()
        return told, lines[-(3 + len(told["failed"]) + len(told["unstable"])) :]

    return run


@pytest.mark.slow
def test_a_test_that_fails_beside_others_and_passes_alone_is_unstable(small):
    told, last = small(BESIDE.format(mark=""))
    assert told["ok"]
    assert told["counts"] == {"passed": 1, "failed": 0, "unstable": 1, "skipped": 0}
    assert last[0].startswith(
        "UNSTABLE tests/test_x.py::test_alone_it_passes: AssertionError: something was left behind"
    )
    assert last[1] == "seed 7"
    assert last[2].startswith("log ")
    assert last[3].startswith("ci: passed (1 passed, 0 failed, 1 unstable, 0 skipped, ")


def test_marked_once_it_failed(small):
    told, last = small(BESIDE.format(mark="@pytest.mark.once"))
    assert not told["ok"]
    assert [one["test"] for one in told["failed"]] == ["tests/test_x.py::test_alone_it_passes"]
    assert last[0].startswith("FAILED tests/test_x.py::test_alone_it_passes: AssertionError: something was left behind")
    assert last[3].startswith("ci: failed (1 passed, 1 failed")


@pytest.mark.slow
def test_a_worker_that_is_killed_fails_its_test_and_the_run_goes_on(small):
    text = "import os, signal\n\ndef test_killed():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    text += "\ndef test_other():\n    pass\n"
    told, _ = small(text, processes=2)
    assert told["counts"]["passed"] == 1
    assert [one["test"] for one in told["failed"]] == ["tests/test_x.py::test_killed"]


@pytest.mark.slow
def test_a_test_past_its_limit_failed_with_stacks_in_the_log_and_the_run_goes_on(small, tmp_path):
    stuck = "import pytest, threading\n\n@pytest.mark.timeout(1)\ndef test_stuck():\n    threading.Event().wait(60)\n"
    told, _ = small(stuck + "\ndef test_other():\n    pass\n")
    assert told["counts"]["passed"] == 1
    assert "Timeout" in told["failed"][0]["reason"]
    assert "threading.Event().wait(60)" in (tmp_path / "log" / "log.txt").read_text()


@pytest.mark.slow
def test_a_skip_though_the_part_is_here_fails(small):
    text = "import pytest\n\ndef test_skipped():\n    pytest.skip('without java: none')\n"
    assert small(text, without=["java"])[0]["ok"]
    _, last = small(text)
    assert last[0] == "FAILED tests/test_x.py::test_skipped: skipped for want of java, which is here"


@pytest.mark.parametrize(("marks", "limit"), [("not nightly", LONG["slow"]), ("nightly", LONG["nightly"]), ("", 1200)])
def test_a_worker_is_ended_only_past_the_limit_of_the_longest_test(marks, limit, tmp_path, monkeypatch):
    """pytest's own watch over a worker that no signal reaches ends all of it: never before a test's time is over."""
    given = []
    monkeypatch.setattr(Run, "execute", lambda self, command, *_, **__: given.append(command) or Ended(0, ""))
    made = Run("all", tmp_path, tmp_path, "0" * 40, 7, Path(sys.executable))
    run_set(made, "tests", marks, processes=0)
    made.end()
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    said = [str(part) for part in given[0] if str(part).startswith("faulthandler_timeout=")]
    watch = float(said[0].partition("=")[2]) if said else options["faulthandler_timeout"]
    assert limit < watch < limit + 60


def test_a_file_that_cannot_be_read_is_told_by_its_name(small):
    told, _ = small("import nothing_of_this_name\n")
    assert told["failed"][0]["test"] == "tests/test_x.py"
    assert "nothing_of_this_name" in told["failed"][0]["reason"]


def test_results_are_there_before_the_end(small, tmp_path):
    """The second test looks at what is kept of the first."""
    text = "import os, pathlib\n\ndef test_a():\n    pass\n\ndef test_b():\n"
    text += (
        f"    kept = pathlib.Path({str(tmp_path / 'log')!r})\n    assert '' != (kept / 'junit-tests.xml').read_text()\n"
    )
    text += "    assert (kept / 'results-tests.jsonl').exists()\n    assert (kept / 'log.txt').exists()\n"
    assert small(text)[0]["ok"]


def test_a_seed_draws_the_same_surroundings_again():
    assert surroundings(7) == surroundings(7)
    drawn = [surroundings(seed) for seed in range(20)]
    assert len({json.dumps(one) for one in drawn}) > 10
    for one in drawn:  # a language that this machine lacks would be no test of anything
        assert one["LC_ALL"] not in ("de_DE.UTF-8", "en_US.UTF-8") or _has(one["LC_ALL"])


def _has(language):
    return (
        language.lower().replace("-", "")
        in subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.lower()
    )


def test_it_begins_with_python_alone():
    """A bare machine has no pytest, and nothing else of others, before the run has installed it."""
    code = "import tests.running.__main__"
    assert subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True).stderr == ""
