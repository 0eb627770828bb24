"""`sfumato gate maximal` as a user runs it."""

import json

import pytest

from tests.e2e.command import sfumato


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text("A,B,n\nplanted1,p,2\nplanted1,q,3\nplanted2,p,3\nplanted2,q,0\n")
    (tmp_path / "six.csv").write_text("A,B,C,D,E,F,n\n1,1,1,1,1,1,9\n2,2,2,2,2,2,8\n")
    return tmp_path


def test_releases_and_how_many_hold_each_table(folder):
    done = sfumato("gate", "maximal", "t.csv", "--count", "n", "--interval", "2:4", "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert (told["safe"], told["maximal"], told["exhaustive"], told["kind"]) == (3, 2, True, "hierarchical")
    assert told["contained"] == {"A": 1, "B": 1, "A,B": 0}
    plain = sfumato("gate", "maximal", "t.csv", "--count", "n", "--interval", "2:4", cwd=folder)
    assert "[A]" in plain.stdout
    assert "planted" not in plain.stdout + plain.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["six.csv", "--count", "n", "--kind", "hierarchical"],
        ["t.csv", "--count", "m"],
        ["t.csv", "--count", "n", "--interval", "4:4"],
        ["t.csv", "--count", "n", "--attribution", "Q:any"],
        ["t.csv", "--count", "n", "--never", "A=planted1,B=p"],
        ["none.csv"],
    ],
)
def test_bad_input(folder, arguments):
    done = sfumato("gate", "maximal", *arguments, cwd=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "planted2" not in done.stderr
