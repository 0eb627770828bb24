"""Lines that are read by themselves: what comes of a text is what the parser makes of the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.yaml import _MAX_NODES, _parsed, load_yaml
from sfumato.data.yaml_lines import taken_out
from sfumato.errors import PlanError

DRAFT = """# A first plan.
sfumato: 1
title: "people"
variables:
  record:   {role: record, kind: integer}             # each record has a value of its own
  age:      {role: key, range: [0, null]}             # perhaps: its name {says} so
  "bad key": {role: other, missing: [-9, {low: 1.5, high: 2}]}
  sex:      {role: key, labels: {1: "it's, {so}", 2: woman}}
  no:       {role: key}
  town:
    role: key
  bmi:      { kind: continuous }
  last:     {role: other, order: []}
steps:
  # First of all.
  - {do: drop, columns: [record]}
  - {do: recode, columns: [age], band: [30, 40]}
  # off: - {do: round, columns: [bmi], base: 5}
  - do: noise
    columns: [bmi]
  - {do: round, columns: [bmi], base: 0.5}
  - {do: derive, column: tall, formula: "a > b"}
limits:
  - {measure: k_anonymity, at_least: 5}
  - {measure: linkage_nearest, at_most: 0.2}
"""
LINES = DRAFT.split("\n")
STRANGE = (
    "  x",
    "  'y: {a: b}",
    "  z: |",
    "    - {do: drop}",
    '  w: {role: "it',
    "   q: {role: key}",
    " q: {role: key}",
)
MORE = (
    "...",
    "---",
    "  ? a",
    "  &a b: c",
    "variables:",
    "steps:",
    "foo: {",
    "  yes: {a: 1}",
    "  5: {a: 1}",
    "\t",
    "  - 1",
)


def outcome(read, text):
    try:
        value, lines = read(text)
    except PlanError as error:
        return [(problem.line, problem.message) for problem in error.problems]
    return repr(value), dict(lines)


def check(text):
    assert outcome(load_yaml, text) == outcome(lambda t: _parsed(t, _MAX_NODES), text)


def test_most_lines_of_a_draft_are_taken_out_and_mean_the_same():
    rest, entries = taken_out(DRAFT)
    assert rest.count("\n") == DRAFT.count("\n")
    assert {"sex", "bad key"} <= {entry.key for entry in entries}
    assert len(entries) > 5
    check(DRAFT)
    check(DRAFT.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    "word", ["null", "yes", "No", "on", "~", "1_0", "010", "0o7", "1e3", ".5", "2024-01-01", "a b"]
)
def test_words_that_may_be_something_else_are_left_to_the_parser(word):
    check(f"variables:\n  a: {{role: key}}\n  b: {{unit: {word}}}\n  c: {{{word}: key}}\n")


@pytest.mark.parametrize("line", [*STRANGE, *MORE])
@pytest.mark.parametrize("at", [4, 6, 15, 23])
def test_a_strange_line_means_what_the_parser_says(line, at):
    check("\n".join([*LINES[:at], line, *LINES[at:]]))


@given(
    at=st.integers(0, len(DRAFT)),
    many=st.integers(0, 3),
    new=st.text("{}[]:,#'\"-? \n\t|>&*!%@~ab1.\\\r\x85", max_size=2),
)
def test_whatever_is_typed_means_what_the_parser_says(at, many, new):
    check(DRAFT[:at] + new + DRAFT[at + many :])


def test_what_stands_in_a_text_of_many_lines_is_no_line_of_the_plan():
    check("description: |\n  variables:\n  a: {b: c}\nvariables:\n  b: |\n    c: {d: e}\n  f: {a: b}\n  g: {a: b}\n")
    check('description: "\nvariables:\n  a: {b: c}\n  d: {e: f}\n"\nvariables:\n  b: {role: key}\n')


def test_keys_that_stand_twice_are_refused_at_their_line():
    check("variables:\n  a: {b: c}\n  d: {role: key}\n  e: {role: key}\n  d: {role: key}\n")
    check("variables:\n  a: {b: c}\n  d: {role: key, role: key}\n")
