"""Several values of a plan's text changed as one edit."""

import itertools

import pytest

from sfumato.errors import PlanError
from sfumato.plan.editing.edits import set_value
from sfumato.plan.editing.many import set_values

PLAN = """# a plan
sfumato: 1
variables:
  a:   {role: other, kind: text}  # why a
  "b c": {kind: integer}
  # of d
  d:
    role: key  # why d
    kind: date
  e: {role: key,
      kind: date}
steps:
  - {do: drop, columns: [a]}
"""
NAMES = ("a", "b c", "d", "e")
ALL = {("variables", name, key): value for name in NAMES for key, value in (("role", "other"), ("kind", "text"))}


def one_by_one(text, values):
    for path, value in values.items():
        text = set_value(text, path, value)
    return text


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_it_is_the_same_as_one_after_the_other(eol):
    text = PLAN.replace("\n", eol)
    for size in (1, 2, 3, 8):
        for chosen in itertools.islice(itertools.combinations(ALL.items(), size), 0, 60, 7):
            values = dict(chosen)
            assert set_values(text, values) == one_by_one(text, values)


@pytest.mark.parametrize(
    "text",
    [
        "variables: {a: {role: key}, b: {role: key}}\n",
        "variables:\n  a: {role: key}\n",  # `b` is not there yet
        "variables:\n  a:\n  b: {}\n",
    ],
)
def test_variables_without_lines_of_their_own(text):
    values = {("variables", "a", "role"): "other", ("variables", "b", "role"): "other"}
    assert set_values(text, values) == one_by_one(text, values)


def test_variables_of_a_table_among_several():
    text = "tables:\n  visits:\n    file: v.csv\n    variables:\n      a: {role: key}\n      b: {role: key}\n"
    values = {("tables", "visits", "variables", name, "role"): "other" for name in "ab"}
    assert set_values(text, values) == text.replace("role: key", "role: other")


def test_what_is_no_plan_is_refused():
    with pytest.raises(PlanError):
        set_values("a: [", {("a", "x"): 1, ("a", "y"): 2})
