import tomllib

import pytest

from tests.running.listed import MOST_LISTED, budget_lines, last_night, unstable_entry, unstable_problems, write_night
from tests.running.tree import UNKNOWN


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "tests").mkdir()
    return tmp_path


def test_an_entry_reads_back_and_a_sixth_is_one_too_many(root):
    entry = unstable_entry(root, 'tests/a.py::test_b["é"]', 'assert "x" == 2\\')
    path = root / "tests" / "unstable.toml"
    path.write_text("\n\n".join([entry] * MOST_LISTED))
    assert tomllib.loads(path.read_text())["test"][0]["id"] == 'tests/a.py::test_b["é"]'
    assert unstable_problems(root) == []
    path.write_text("\n\n".join([entry] * (MOST_LISTED + 1)))
    assert len(unstable_problems(root)) == 1
    path.write_text('[[test]]\nid = "x"\n')
    assert "reason" in unstable_problems(root)[0]


def test_what_the_night_found_is_told_the_next_day(root):
    write_night(root, 12.34, ["tests/a.py::test_b"])
    assert tomllib.loads((root / "tests" / "nightly.toml").read_text()) == {
        "commit": UNKNOWN,
        "minutes": 12.3,
        "failures": ["tests/a.py::test_b"],
    }
    assert last_night(root) == "nightly: at a commit that is not among this one's, 1 failed (12.3 minutes)"


def test_before_the_first_night_that_is_said(root):
    (root / "tests" / "nightly.toml").write_text('commit = ""\nminutes = 0.0\nfailures = []\n')
    assert last_night(root) == "nightly: never"


def test_seconds_are_told_by_folder_beside_what_is_expected():
    lines = [
        {"test": "tests/a/b/test_x.py::test_1", "cpu": 2.0},
        {"test": "tests/a/test_y.py::test_2[tests/z]", "cpu": 1.0},
        {"test": "tests/test_z.py::test_3", "cpu": 0.5},
    ]
    told = budget_lines(lines, {"a": 4.0})
    assert told[1].split() == ["3.0", "(4)", "a"]
    assert told[2].split() == ["0.5", "."]
    assert told[3].split() == ["3.5", "(4)", "all"]
    assert told[5].split() == ["2.0", "tests/a/b/test_x.py::test_1"]
