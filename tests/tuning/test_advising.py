"""Where a plan stops: the edit that is advised holds when it is run, keeps every limit, and none cheaper does."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, PlanError
from sfumato.tuning.advising import Advised
from tests.release.brief import measured_briefly

SECRET = bytes(range(32))


@pytest.fixture(scope="module")
def people():
    """200 people, whose ages tell many of them apart."""
    rng = np.random.default_rng(1)
    n = 200
    age = rng.integers(20, 80, n)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": age,
            "income": (age * 30 + rng.normal(0, 400, n)).round(0).astype(int),
            "town": rng.choice(["Ash", "Elm", "Oak"], n),
        }
    )


VARIABLES = """
sfumato: 1
title: people
variables:
  sex: {role: key, kind: categorical}
  age: {role: key, kind: integer}
  income: {role: key, kind: integer}
  town: {role: key, kind: categorical}
"""
GROUPS = (
    VARIABLES
    + """steps:
  # who is near whom
  - {do: swap, columns: [sex, age, income, town], group: 3}  # small groups
limits:
  - {measure: linkage_nearest, group: released, at_most: 0.1}
  - {measure: uniques_kept, at_most: 0.05}
"""
)


def protected(text, people):
    with measured_briefly("uniques_sample"):
        return sf.protect(sf.Plan.from_yaml(text), people, secret=SECRET)


def test_groups_grow_until_the_limit_is_met_and_nothing_else_of_the_text_changes(people, tmp_path):
    (tmp_path / "plan.yaml").write_text(GROUPS)
    found = sf.advise(tmp_path / "plan.yaml", people, secret=SECRET)
    assert len(found.diff) == 2
    group = sf.Plan.from_yaml(found.text).steps[0].group
    assert found.text == GROUPS.replace("group: 3", f"group: {group}")
    assert not protected(GROUPS, people).ok
    assert protected(found.text, people).ok
    smaller = [size for size in (5, 8, 12, 20, 30) if size < group]
    assert not any(protected(GROUPS.replace("group: 3", f"group: {size}"), people).ok for size in smaller)


def test_a_plan_that_holds_needs_no_advice(people):
    assert sf.advise(sf.Plan.from_yaml(GROUPS.replace("group: 3", "group: 20")), people, secret=SECRET) is None


def test_no_limit_is_loosened_by_a_draft_from_the_roles(people):
    """Noise too weak to hide anybody: more of it does not help enough, and values are exchanged in its place."""
    rows = people.with_row_index("id").with_columns(pl.col("id") + 1000)
    text = (
        VARIABLES
        + """  id: {role: record}
steps:
  - {do: noise, columns: [age, income], share: 0.001}
  - {do: pseudonymise, columns: [id]}
limits:
  - {measure: linkage_nearest, group: released, at_most: 0.12}
"""
    )
    found = sf.advise(sf.Plan.from_yaml(text), rows, secret=SECRET)
    limits = {(x.measure, x.group): x.bound for x in sf.Plan.from_yaml(found.text).limits}
    assert limits["linkage_nearest", "released"] == 0.12
    assert found.report.verdict == "holds"
    assert found.runs <= 12


def test_what_leaves_open_is_exchanged_with_the_limits_that_this_needs(people):
    text = """
sfumato: 1
title: people
variables:
  sex: {role: key, kind: categorical}
  town: {role: key, kind: categorical}
limits:
  - {measure: k_anonymity, at_least: 5}
steps: []
"""
    assert protected(text, people).verdict == "undecided"
    found = sf.advise(sf.Plan.from_yaml(text), people, secret=SECRET)
    plan = sf.Plan.from_yaml(found.text)
    assert [step.name for step in plan.steps] == ["swap"]
    assert set(plan.steps[0].columns) == {"age", "income"}
    assert {x.measure for x in plan.limits} == {"k_anonymity", "linkage_nearest", "uniques_kept"}
    assert not plan.unknown
    assert protected(found.text, people).ok


def test_ids_that_leave_are_replaced(people):
    rows = people.with_row_index("id").with_columns(pl.col("id") + 1000)
    text = GROUPS.replace("group: 3", "group: 20").replace("variables:", "variables:\n  id: {role: record}")
    found = sf.advise(sf.Plan.from_yaml(text), rows, secret=SECRET)
    assert found.edits == ("new ids for id",)
    assert found.diff == ("+ - {do: pseudonymise, columns: [id], scope: table, format: number}",)


def test_where_nothing_holds_it_says_so_with_figure_and_column(people, monkeypatch):
    monkeypatch.setattr("sfumato.tuning.advising._MOST_RUNS", 6)
    text = GROUPS.replace("at_most: 0.1", "at_most: 0.000001")
    found = sf.advise(sf.Plan.from_yaml(text), people, secret=SECRET)
    assert found.text is None
    assert found.to_plain() == {"holds": False, "because": found.because}
    assert "of the people are found; the limit is less than 0.1%" in found.because
    assert "income" in found.because


def test_several_tables_and_tables_off_memory_are_refused(people, tmp_path):
    with pytest.raises(PlanError, match="of one table"):
        sf.advise(sf.Plan(tables={"a": {"file": "a.csv"}}), {"a": people})
    (tmp_path / "parts").mkdir()
    people.with_row_index("id").write_parquet(tmp_path / "parts" / "1.parquet")
    with pytest.raises(DataError, match="in memory"):
        sf.advise(sf.Plan.from_yaml(GROUPS), tmp_path / "parts")


def test_lines_that_go_and_come():
    assert Advised((), "a: 1\nb: 2\n", "a: 1\nb: 3\nc: 4\n").diff == ("- b: 2", "+ b: 3", "+ c: 4")
