"""An edited plan as the ground of a new draft: what it says of variables stays."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.errors import PlanError
from sfumato.plan.edited import Edited
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import Wishes
from sfumato.tuning.drafts import draft_for

pytestmark = pytest.mark.usefixtures("one_draw")

REASON = "given to us alone, and nobody else holds these answers"
N = 300
RNG = np.random.default_rng(5)
FRAME = pl.DataFrame(
    {
        "pid": np.arange(N) + 1,
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(18, 90, N),
        "job": RNG.choice(["a", "b", "c"], N),
        "pay": RNG.lognormal(10, 1, N).round(2),
    }
)
TEXT = """
sfumato: 1
title: Our people
description: of the second wave
variables:
  pid: {role: record}
  sex: {role: key, sensitive: true, kind: categorical, labels: {f: woman, m: man}}
  age: {role: key, kind: integer, unit: years, range: [0, 120]}
  job: {role: identifier}
steps:
  - {do: drop, columns: [job, age]}
limits:
  - {measure: k_anonymity, at_least: 2}
access: controlled
"""
ASKED = TEXT + 'unknown:\n  - {columns: others, because: "?"}\n'


NOTHING = Wishes()


def again(text, because=None, wishes=NOTHING):
    edited = Edited(Plan.from_yaml(text), because)
    drafted, _ = draft_for(FRAME, Codebook(), profile(FRAME, Codebook()), "file", wishes, edited)
    return Plan.from_yaml(drafted.text), drafted


@pytest.mark.parametrize("text", [TEXT, ASKED])
def test_what_is_said_of_the_table_and_its_variables_stays(text):
    old, (new, _) = Plan.from_yaml(text), again(text)
    assert (new.title, new.description, new.access) == ("Our people", "of the second wave", "controlled")
    assert {n: new.variables[n] for n in old.variables} == old.variables
    assert new.variables["pay"].role == ("other" if new.unknown else "key")  # what the plan does not name is guessed
    assert new.unknown == old.unknown
    assert (new.limits[0].measure == "k_anonymity") == bool(new.unknown)
    assert new.steps[0].columns == ("job",)
    assert [step.name for step in new.steps if "pid" in step.changes] == ["pseudonymise"]


def test_a_line_is_written_as_it_was():
    edited = Edited(Plan.from_yaml(TEXT))
    text = draft_for(FRAME, Codebook(), profile(FRAME, Codebook()), "file", edited=edited)[0].text
    for line in TEXT.split("variables:\n")[1].split("steps:")[0].splitlines():
        assert " ".join(line.split()) in {" ".join(row.split("#")[0].split()) for row in text.splitlines()}


def test_the_reason_answers_what_is_open():
    plan, drafted = again(ASKED, REASON)
    assert [(each.columns, each.because) for each in plan.unknown] == [("others", REASON)]
    assert drafted.known == ("sex", "age")
    assert drafted.unknown == ("pay",)
    assert not drafted.open
    assert sf.protect(plan, FRAME, secret=bytes(32)).verdict == "holds"


def test_named_columns_are_unknown_and_all_others_known():
    text = TEXT + f'unknown:\n  - {{columns: [pay, sex], because: "{REASON}"}}\n'
    plan, drafted = again(text.replace("sex: {role: key, ", "sex: {role: other, "))
    assert (drafted.known, drafted.unknown) == (("age",), ("sex", "pay"))
    assert sf.protect(plan, FRAME, secret=bytes(32)).verdict == "holds"


def test_wishes_come_before_the_plan():
    plan, drafted = again(TEXT, wishes=Wishes(keys=("age",), because=REASON))
    assert drafted.known == ("age",)
    sex = plan.variables["sex"]
    assert (sex.role, sex.sensitive, dict(sex.labels)) == ("other", True, {"f": "woman", "m": "man"})


def test_nothing_open_takes_no_reason():
    with pytest.raises(PlanError, match="leaves nothing open"):
        Edited(Plan.from_yaml(TEXT), REASON)


def test_variables_of_another_file_are_told():
    with pytest.raises(PlanError, match="'shoe' is not in the data"):
        again(TEXT.replace("  job:", "  shoe: {role: key}\n  job:"))


def test_a_variable_that_a_step_made_is_none_of_the_file():
    made = "  - {do: derive, column: old, formula: age > 60}\n"
    text = TEXT.replace("steps:\n", "steps:\n" + made).replace("  job:", "  old: {role: key}\n  job:")
    assert "old" not in again(text)[0].variables


def test_a_plan_of_several_tables_is_refused():
    with pytest.raises(PlanError, match="several tables"):
        Edited(Plan(title="two", tables={n: {"file": f"{n}.csv"} for n in ("a", "b")}))


def test_there_is_one_record_column():
    age = "  age: {role: key, kind: integer, unit: years, range: [0, 120]}\n"
    plan, _ = again(TEXT.replace(age, "").replace("pid: {role: record}", "age: {role: record}"))
    assert [n for n, v in plan.variables.items() if v.role == "record"] == ["age"]
    assert plan.variables["pid"].role == "identifier"
