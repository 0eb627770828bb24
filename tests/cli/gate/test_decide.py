"""`sfumato gate decide` as a user runs it."""

import json

import pytest

from tests.e2e.command import sfumato

TABLE = "A,B,cost,n\nplanted1,p,3,2\nplanted1,q,4,3\nplanted2,p,5,3\nplanted2,q,5,0\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that no test changes."""
    made = tmp_path_factory.mktemp("gate")
    (made / "t.csv").write_text(TABLE)
    (made / "top.csv").write_text("code,group\nplanted1,g\nplanted2,g\n")
    (made / "half.csv").write_text("code,group\nplanted1,g\n")
    (made / "levels.yaml").write_text("A: {top: top.csv}\n")
    (made / "half.yaml").write_text("A: {half: half.csv}\n")
    (made / "broken.yaml").write_text("A: [\n")
    return made


def run(folder, *arguments):
    return sfumato("gate", "decide", "t.csv", "--count", "n", *arguments, cwd=folder)


@pytest.mark.parametrize(
    ("arguments", "status", "decision"),
    [
        (["--ask", "A", "--interval", "2:4"], 0, "granted"),
        (["--known", "A", "--ask", "B", "--interval", "2:4"], 1, "refused"),
        (["--known", "A,B", "--ask", "B", "--interval", "2:4"], 0, "granted"),
        (["--ask", "A,B", "--attribution", "B:positive"], 1, "refused"),
        (["--ask", "A@top,B", "--levels", "levels.yaml", "--interval", "1:2"], 0, "granted"),
        (["--ask", "cost|B", "--interval", "2:4"], 1, "refused"),
        (["--ask", "", "--interval", "2:4"], 0, "granted"),
    ],
)
def test_answers_and_exit_statuses(folder, arguments, status, decision):
    done = run(folder, *arguments, "--json")
    assert done.returncode == status, done.stderr
    told = json.loads(done.stdout)
    assert told["decision"] == decision
    assert {"decision", "reasons", "stage", "joint_cells", "small"} <= set(told)
    plain = run(folder, *arguments)
    assert plain.returncode == status
    assert plain.stdout.lower().startswith(decision)


def test_what_is_small(folder):
    told = json.loads(run(folder, "--ask", "A,B", "--interval", "2:4", "--json").stdout)
    assert (told["joint_cells"], told["small"]) == (4, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--ask", "Q"],
        ["--ask", "A@q"],
        ["--ask", "Q|A"],
        ["--ask", "A=planted1"],
        ["--ask", "A", "--known", "Q"],
        ["--ask", "A", "--count", "m"],
        ["--ask", "A", "--count", "B"],
        ["--ask", "A", "--interval", "4:4"],
        ["--ask", "A", "--interval", "0:4"],
        ["--ask", "A", "--interval", "four"],
        ["--ask", "A", "--attribution", "Q:positive"],
        ["--ask", "A", "--attribution", "A:some"],
        ["--ask", "A", "--attribution", "A"],
        ["--ask", "A", "--never", "A=planted1,B=p"],
        ["--ask", "A", "--never", "A=none,B=p"],
        ["--ask", "A", "--never", "Q=1,B=p"],
        ["--ask", "A", "--never", "A"],
        ["--ask", "A", "--levels", "half.yaml"],
        ["--ask", "A", "--levels", "broken.yaml"],
        ["--ask", "A", "--levels", "none.yaml"],
        [],
    ],
)
def test_bad_input_is_said_without_a_value_of_the_data(folder, arguments):
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    if "planted1" not in " ".join(arguments):
        assert "planted" not in done.stderr
