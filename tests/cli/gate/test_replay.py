"""`sfumato gate replay` as a user runs it."""

import json

import pytest

from tests.e2e.command import sfumato

POLICIES = "research: {interval: {count: 2, width: 4}}\npublic: {interval: {count: 2, width: 4}}\n"
PEOPLE = "organisation north research\nuser ann research\njoin ann north\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text("A,B,n\nplanted1,p,2\nplanted1,q,3\nplanted2,p,3\nplanted2,q,0\n")
    (tmp_path / "p.yaml").write_text(POLICIES)
    return tmp_path


def run(folder, lines, *arguments, policies="p.yaml"):
    (folder / "e.txt").write_text(lines)
    given = ("--count", "n", "--policies", policies, "--events", "e.txt", *arguments)
    return sfumato("gate", "replay", "t.csv", *given, cwd=folder)


def test_one_decision_a_line(folder):
    done = run(folder, PEOPLE + "\nask ann A  # first\nask north B\nleave ann north\nask ann B\n", "--json")
    assert done.returncode == 0, done.stderr
    granted = ["granted"] * 4
    assert json.loads(done.stdout) == {"decisions": [*granted, "refused", "granted", "refused"], "narrow": 0}


def test_narrow_cells_in_the_end_are_exit_status_1(folder):
    (folder / "p.yaml").write_text(
        "public: {interval: {count: 1, width: 2}}\nstrict: {interval: {count: 3, width: 4}}\n"
    )
    done = run(folder, "ask public A\nuser ann strict\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith(": 1.")


def test_versions_lie_beside_the_events(folder):
    (folder / "more.csv").write_text("A,B,n\nplanted1,p,12\nplanted1,q,13\nplanted2,p,23\nplanted2,q,0\n")
    done = run(folder, PEOPLE + "ask ann A\nversion v2 more.csv\nask ann A v2\n", "--json")
    assert json.loads(done.stdout)["decisions"] == ["granted"] * 6


@pytest.mark.parametrize(
    ("lines", "policies"),
    [
        ("dance ann", POLICIES),
        ("user ann", POLICIES),
        ("user ann none", POLICIES),
        ("ask ann A", POLICIES),
        (PEOPLE + "ask ann Q", POLICIES),
        (PEOPLE + "ask ann A v7", POLICIES),
        (PEOPLE + "version v2 none.csv", POLICIES),
        (PEOPLE + "version v2 t.csv\nversion v2 t.csv", POLICIES),
        (PEOPLE + "join ann west", POLICIES),
        (PEOPLE, "research: {interval: {count: 4, width: 4}}"),
        (PEOPLE, "research: {}"),
        (PEOPLE, "research: ["),
        (PEOPLE, "research: {attribution: {variables: [Q]}}"),
        (PEOPLE, "research: {dominance: ['nk(2,85) or p(10)']}"),
    ],
)
def test_bad_input_is_said_without_a_value_of_the_data(folder, lines, policies):
    (folder / "p.yaml").write_text(policies)
    done = run(folder, lines)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "planted" not in done.stderr
