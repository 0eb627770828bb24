import random

import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.yaml import load_yaml
from sfumato.errors import PlanError, Problem
from sfumato.plan.editing.places import located, place
from sfumato.plan.plan import Plan
from tests.plan.editing.styles import Writer, plan

TEXT = """\
sfumato: 1
variables:
  Age: {role: key, kind: date}
  Gone: {role: key}
  Id: {role: identifier}
steps:
  - do: noise
    columns: [Age]
    sd: 0.5
  - {do: drop, columns: [Nobody]}
limits:
  - {measure: k_anonymity, at_least: 3}
  - {measure: none_such, at_least: 3}
"""


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (["variables", "Age"], (3, 3)),
        (["variables", "Age", "kind"], (3, 20)),
        (["steps"], (6, 1)),
        (["steps", 0], (7, 3)),
        (["steps", 0, "sd"], (9, 5)),
        (["steps", 1, "columns", 0], (10, 26)),
        ([], (1, 1)),
    ],
)
def test_places(path, where):
    assert place(TEXT, path) == place(TEXT.replace("\n", "\r\n"), path) == where
    with pytest.raises(PlanError, match="has no (key 'more'|item more)"):
        place(TEXT, [*path, "more"])


def test_lines_are_those_that_the_reader_of_plans_says():
    for seed in range(20):
        draw = random.Random(seed)
        written = Writer(draw, plan(draw))
        lines = load_yaml(written.text)[1]
        keys = [path for path in lines if isinstance(path[-1], str)]
        assert {path: place(written.text, path)[0] for path in keys} == {path: lines[path] for path in keys}


def _problems(call):
    with pytest.raises(PlanError) as caught:
        call()
    return caught.value


def test_what_the_data_object_to_stands_at_its_line():
    frame = pl.DataFrame({"Age": [1, 2, 3], "Id": ["a", "b", "c"]})
    made = Plan.from_yaml(TEXT)
    lines = {p.line for p in _problems(lambda: made.check(made.codebook(frame, Codebook({})))).problems}
    assert {4, 5, 7, 10, 13} <= lines
    made = Plan.from_yaml(TEXT.replace("date", "continuous"))
    words = frame.with_columns(Age=pl.lit("old"))
    assert [p.line for p in _problems(lambda: made.check_kinds(words)).problems] == [3]


def test_what_is_no_plan_stands_at_its_line():
    for wrong, line in [("steps:", 6), ("do: noise", 7), ("kind: date", 3), ("sd: 0.5", 9)]:
        text = TEXT.replace(wrong, wrong.replace("date", "when").replace("noise", "loud").replace("0.5", "[x]"))
        text = text.replace("steps:", "stops:") if wrong == "steps:" else text
        assert [p.line for p in _problems(lambda text=text: Plan.from_yaml(text)).problems] == [line]


def test_problems_without_lines_get_them():
    problems = [
        Problem("whole plan"),
        Problem("a step", path=("steps", 1)),
        Problem("a key that is not there", path=("steps", 0, "k")),
        Problem("not mentioned", path=("variables", "Fare")),
        Problem("has one", line=2, path=("steps", 1)),
        Problem("a section", path=("limits",)),
    ]
    found = located(TEXT, problems)
    assert [(p.message, p.line) for p in found] == [
        ("has one", 2),
        ("a key that is not there", 7),
        ("a step", 10),
        ("a section", 11),
        ("whole plan", None),
        ("not mentioned", None),
    ]
    assert located("a: [", problems) == tuple(problems)


def test_a_plan_of_several_tables():
    text = "sfumato: 1\ntables:\n  a:\n    file: a.csv\n    steps:\n      - {do: drop, columns: [x]}\n"
    made = Plan.from_yaml(text).table("a")
    found = _problems(lambda: made.check(Codebook({})))
    assert [p.line for p in found.problems] == [6]
