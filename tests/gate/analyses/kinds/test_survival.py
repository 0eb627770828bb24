import pytest

from sfumato.gate.analyses.kinds.survival import present
from sfumato.gate.analyses.request import read_analysis
from tests.gate.analyses.people import records

DATA = records()


def told(rows, formula="weeks ~ 1"):
    names = [*(["ward"] if "ward" in formula else []), "gone", "weeks"]
    names = sorted(names)
    content = {"columns": [*names, "count"], "by": [[name, ""] for name in names], "rows": rows}
    return present(content, read_analysis(DATA, "survival", formula, event="gone"), DATA)


def test_a_life_table():
    """By hand: 100 people; 20 die and 10 leave in the first interval, 19 and 0 in the second."""
    rows = [["yes", "0", 20], ["no", "0", 10], ["yes", "1", 19], ["no", "2", 51], ["yes", "4", 0]]
    found = told(rows)
    assert found["columns"] == ["weeks", "at_risk", "events", "survival"]
    lines = {row[0]: row[1:] for row in found["rows"]}
    assert lines["0"][:2] == [100, 20]
    assert lines["1"][:2] == [70, 19]
    assert lines["2"][:2] == [51, 0]
    first = 1 - 20 / 95
    assert float(lines["0"][2]) == pytest.approx(first, abs=1e-6)
    assert float(lines["1"][2]) == pytest.approx(first * (1 - 19 / 70), abs=1e-6)
    assert float(lines["3"][2]) == float(lines["2"][2])


def test_groups_have_tables_of_their_own():
    rows = [["yes", "a", "0", 5], ["no", "a", "1", 15], ["yes", "b", "0", 2], ["no", "b", "4", 18]]
    found = told([[gone, ward, week, n] for gone, ward, week, n in rows], "weeks ~ ward")
    assert found["columns"][:2] == ["ward", "weeks"]
    assert [row for row in found["rows"] if row[1] == "0"] == [["a", "0", 20, 5, "0.75"], ["b", "0", 20, 2, "0.9"]]


def test_a_response_that_is_not_known_takes_no_part():
    found = told([["yes", "0", 4], ["no", "1", 6], ["yes", "(missing)", 9]])
    assert found["rows"][0][1:3] == [10, 4]
