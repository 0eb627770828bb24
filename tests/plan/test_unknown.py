"""What a plan says that nobody outside knows."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.plan.plan import Plan

BECAUSE = "answers given to us alone; nobody else holds them"
FRAME = pl.DataFrame(
    {
        "id": range(101, 141),
        "name": [f"Person {i} Surname{i}" for i in range(40)],
        "sex": ["f", "m"] * 20,
        "town": ["a", "b", "c", "d"] * 10,
        "age": [20 + i % 17 for i in range(40)],
        "q1": [i % 3 for i in range(40)],
    }
)
HEAD = """
sfumato: 1
variables:
  id: {role: record}
  name: {role: identifier}
  sex: {role: key}
  q1: {kind: categorical}
  age: {kind: integer}
steps:
  - {do: drop, columns: [name]}
  - {do: noise, columns: [age], by: [town], share: 0.1}
"""


def plan(unknown, more=""):
    return Plan.from_yaml(f"{HEAD}{more}unknown:\n  - {unknown}\n")


def protected(unknown, more=""):
    return sf.protect(plan(unknown, more), FRAME, secret=b"k" * 32)


@pytest.mark.parametrize(
    "unknown",
    [
        '{columns: others, because: "too short"}',
        f'{{columns: others, because: "{"x" * 301}"}}',
        '{columns: others, because: "one line of words and\\nanother line of words"}',
        f'{{columns: [], because: "{BECAUSE}"}}',
        "{columns: others}",
        f'{{columns: others, because: "{BECAUSE}", why: no}}',
    ],
)
def test_a_statement_without_columns_or_a_reason_of_one_line_is_refused(unknown):
    with pytest.raises(PlanError, match="unknown 1"):
        plan(unknown)


@pytest.mark.parametrize("column", ["sex", "town", "name", "shoe", "order"])
def test_keys_strata_and_what_does_not_leave_are_refused_by_name(column):
    with pytest.raises(PlanError, match=f"line 13: unknown 1: it names '{column}'|identifier"):
        protected(f'{{columns: [q1, {column}], because: "{BECAUSE}"}}')


def test_the_order_is_a_column_where_the_plan_keeps_it():
    protected(f'{{columns: [order], because: "{BECAUSE}"}}', "order: input\n")


@pytest.mark.parametrize("held", ["PERSON 7 surname7", "139"])
def test_a_reason_that_holds_an_identifier_or_id_is_refused_without_repeating_it(held):
    with pytest.raises(PlanError) as error:
        protected(f'{{columns: others, because: "what {held} told the two of us"}}')
    assert held not in str(error.value)
    assert "unknown 1" in str(error.value)


def test_parts_of_words_and_numbers_are_no_ids():
    protected('{columns: others, because: "what 1399 persons told us in the year 2039"}')


def test_others_are_what_leaves_but_keys_strata_and_ids():
    release = protected(f'{{columns: others, because: "{BECAUSE}"}}')
    told = release.report.to_plain()
    assert told["released"] == ["sex", "town"]
    assert told["unknown"] == [{"columns": ["age", "q1"], "because": BECAUSE}]
    groups = {f.group for f in release.report.findings.select("k_anonymity")}
    assert groups == {"keys", "strata", "released", "everything"}


def test_it_is_kept_in_the_plan_and_in_its_yaml():
    made = plan(f'{{columns: [q1], because: "{BECAUSE}"}}')
    assert Plan.from_yaml(made.to_yaml()).unknown == made.unknown
    assert made.digest != Plan.from_yaml(HEAD).digest
    several = Plan.from_yaml(
        "sfumato: 1\ntables:\n  visits:\n    file: visits.csv\n    unknown:\n"
        f'      - {{columns: others, because: "{BECAUSE}"}}\n'
    )
    assert several.table("visits").unknown[0].because == BECAUSE
    assert Plan.from_yaml(several.to_yaml()) == several
    with pytest.raises(PlanError, match="stands in the table"):
        Plan.from_yaml(several.to_yaml() + f'unknown:\n  - {{columns: others, because: "{BECAUSE}"}}\n')
