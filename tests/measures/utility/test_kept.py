from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.finding import Finding, Findings
from sfumato.measures.utility.kept import MEASURE
from sfumato.report.external import external
from tests.measures.utility.lost import lost, lost_in_batches, told, with_ids
from tests.render import reports

FIGURES = ("columns_kept", "records_kept", "values_kept")
PEOPLE = with_ids(
    name=[f"n{i}" for i in range(8)],
    age=[20, 21, 22, 23, 34, 35, None, -9],
    town=["a", "a", "b", "b", "c", "c", "d", None],
    pay=[1.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
    same=[1] * 8,
)
ROLES = {"name": {"role": "identifier"}, "age": {"missing": [-9]}, "town": {"kind": "categorical"}}


def test_of_a_release_that_is_as_it_was_nothing_is_lost():
    """Four columns are no ids, of which one holds a single value from the beginning."""
    found = lost([{"do": "drop", "columns": ["name"]}], PEOPLE, **ROLES)
    assert told(found, *FIGURES) == {
        ("columns_kept", None): (1.0, None),
        ("records_kept", None): (1.0, None),
        ("values_kept", "age"): (6.0, 6.0),
        ("values_kept", "town"): (4.0, 4.0),
        ("values_kept", "pay"): (7.0, 7.0),
        ("values_kept", "same"): (1.0, 1.0),
    }
    assert found.of("columns_kept").at == 3


LOSING = [
    {"do": "drop", "columns": ["name", "pay"]},
    {"do": "complete_cases", "columns": ["age"]},
    {"do": "recode", "columns": ["town"], "map": {"a": "x", "b": "x", "c": "x", "d": "x"}},
]


@pytest.mark.parametrize("where", ["memory", "batches"])
def test_what_steps_dropped_left_out_and_merged_is_lost_from_the_table_as_it_was_read(where):
    """One of three columns keeps two values; six of eight records have an age; four towns became one."""
    if where == "memory":
        found = lost(LOSING, PEOPLE, **ROLES)
    else:
        found = lost_in_batches(LOSING, PEOPLE, ["kept"], **ROLES)
    assert told(found, *FIGURES) == {
        ("columns_kept", None): (pytest.approx(1 / 3), None),
        ("records_kept", None): (0.75, None),
        ("values_kept", "age"): (6.0, 6.0),
        ("values_kept", "town"): (1.0, 4.0),
        ("values_kept", "same"): (1.0, 1.0),
    }


def test_of_two_tables_the_first_is_the_input():
    read = pl.DataFrame({"a": [1, 2, 3, 3], "b": ["x", "y", "x", "y"], "c": [1, 2, 3, 4]})
    found = sf.compare(read, pl.DataFrame({"a": ["1-2", "1-2", "3"], "b": ["x", "x", "x"]}))
    assert told(found, *FIGURES) == {
        ("columns_kept", None): (pytest.approx(1 / 3), None),
        ("records_kept", None): (0.75, None),
        ("values_kept", "a"): (2.0, 3.0),
        ("values_kept", "b"): (1.0, 2.0),
    }


def test_each_copy_is_held_against_the_whole_input():
    frame = with_ids(x=[i % 7 / 2 for i in range(60)], y=[(i * 5 % 11) * 1.0 for i in range(60)])
    steps = [{"do": "synthesise", "columns": ["x", "y"], "copies": 2}, {"do": "drop", "columns": ["y"]}]
    found = lost(steps, frame)
    assert told(found, "columns_kept", "records_kept") == {
        ("columns_kept", None): (0.5, None),
        ("records_kept", None): (1.0, None),
    }


def say(*lines):
    return MEASURE.say(Findings(lines), 1.0)


def of(name, now, before):
    return Finding("values_kept", variable=name, value=now, baseline=before)


WHOLE = (Finding("columns_kept", at=303.0, value=288 / 303), Finding("records_kept", value=1.0))


def test_words():
    assert say() is None
    assert say(*WHOLE) == "288 of 303 columns and all records left."
    assert say(*WHOLE, of("time", 2.0, 1034.0)).endswith("left. `time` has 2 values (of 1,034).")
    assert say(WHOLE[0], Finding("records_kept", value=0.85)) == "288 of 303 columns and 85% of the records left."
    assert say(WHOLE[0], Finding("records_kept", value=0.996)).endswith("and all but 0.4% of the records left.")


def test_at_most_five_columns_are_named_the_worst_first():
    lines = [of(f"c{i}", 4.0 + i, 100.0) for i in range(7)] + [of("fair", 50.0, 100.0)]
    said = say(*WHOLE, *reversed(lines))
    assert said.index("`c0` has 4 values (of 100)") < said.index("`c4` has 8 values")
    assert "c5" not in said
    assert "fair" not in said
    assert said.endswith(", 2 more columns have less than half of them.")


def test_what_is_published_tells_no_number_of_different_values():
    report = replace(reports.report(), findings=Findings((*WHOLE, of("time", 4.0, 1034.0))))
    shown = external(report).findings
    assert shown.of("columns_kept").value == 0.95
    assert (shown.of("values_kept").value, shown.of("values_kept").baseline) == (3.0, 1000.0)
    assert "`time` has at least 3 values (of at least 1,000)" in MEASURE.say(shown, 1.0)


def test_a_limit_may_name_it():
    plan = sf.Plan.from_yaml(
        "sfumato: 1\nvariables: {id: {role: record}}\nsteps: [{do: drop, columns: [b]}]\n"
        "limits: [{measure: columns_kept, at_least: 0.9}]\n"
    )
    frame = with_ids(a=[1, 2, 3], b=[1, 2, 3])
    release = sf.protect(plan, frame, secret=bytes(16))
    assert [f.ok for f in release.report.findings.select("columns_kept")] == [False]
