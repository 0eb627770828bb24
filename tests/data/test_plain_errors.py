import re
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from sfumato.data.codebook import Variable
from sfumato.data.plain_errors import plain_errors
from sfumato.data.yaml import dump_yaml
from sfumato.errors import PlanError
from sfumato.methods.registry import methods
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan


def told(kind, given):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(given)
    return plain_errors(caught.value, given)


class Model(BaseModel):
    size: int = Field(ge=2)
    share: float = Field(gt=0, le=1, default=0.5, allow_inf_nan=False)


Strength = float | dict[str, float] | None


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        (Model, {}, [(("size",), "it is required")]),
        (Model, {"size": 1}, [(("size",), "a number of at least 2 is needed here, not 1")]),
        (Model, {"size": 2.5}, [(("size",), "a whole number is needed here, not 2.5")]),
        (Model, {"size": None}, [(("size",), "a whole number is needed here; nothing is given")]),
        (Model, {"size": 2, "share": 0}, [(("share",), "a number above 0 is needed here, not 0")]),
        (Model, {"size": 2, "share": 2}, [(("share",), "a number of at most 1 is needed here, not 2")]),
        (Model, {"size": 2, "share": float("inf")}, [(("share",), "a finite number is needed here")]),
        (list[str], ["a", 1], [((1,), "text is needed here, not 1; put it in quotes")]),
        (list[str], "bmi", [((), "a list is needed here, not 'bmi'")]),
        (dict[str, int], {1: 2}, [((1,), "a name is text: put it in quotes")]),
        (Literal["keep", "drop"], "kep", [((), "'keep' or 'drop' is needed here, not 'kep'")]),
        (Annotated[tuple[str, ...], Field(min_length=1)], [], [((), "at least 1 entry must stand here")]),
        (Strength, [1], [((), "a number or a mapping is needed here, not a list")]),
        (Strength, {"bmi": "x"}, [(("bmi",), "a number is needed here, not 'x'")]),
        (Literal["input"] | Strength, "x", [((), "'input', a number or a mapping is needed here, not 'x'")]),
        (dict[str, Literal["input"] | float], {"a": []}, [(("a",), "'input' or a number is needed here, not a list")]),
        (tuple[int | str, ...] | dict[str, int], [[1]], [((0,), "a whole number or text is needed here, not a list")]),
        (Strength, "x" * 41, [((), "a number or a mapping is needed here")]),
    ],
)
def test_what_is_said(kind, given, says):
    assert told(kind, given) == says


def test_all_that_is_wrong_is_said():
    assert [path for path, _ in told(dict[str, Strength], {"a": "x", "b": {"c": []}, "d": 1})] == [("a",), ("b", "c")]


WRONG = [
    *(None, True, 1, -1, 0, 2.5, "x", "", [], [1], ["a"], [None], [True], [[1]], [[1, "x"]], [{}], [{"a": 1}], {}),
    *({"a": 1}, {"a": "x"}, {"a": [1]}, {"a": [1, 2, 3]}, {"a": {"b": 1}}, {1: 2}, {"a": True}, {"a": None}),
]
QUOTED = re.compile("'[^']*'")
PYTHONIC = re.compile(
    r"\b(str|int|float|bool|boolean|integer|dict|dictionary|tuple|NoneType|None|True|False|string|literal|Input"
    r"|input should|validation|object|instance|ordereddict|Commented\w+)\b|[\[\]<>]"
)


def plans():
    """For every parameter of every method and every key of a variable and a limit, a plan with everything wrong."""
    for name, method in methods().items():
        columns = {"columns": ["bmi"]} if "columns" in method.model_fields else {}
        for field in method.model_fields:
            yield {"steps": [{"do": name, **columns, field: wrong} for wrong in WRONG]}
    for field in Variable.model_fields:
        yield {"variables": {f"bmi{i}": {field: wrong} for i, wrong in enumerate(WRONG)}}
    for field in Limit.model_fields:
        yield {"limits": [{"measure": "risk1", "at_most": 1, field: wrong} for wrong in WRONG]}
    for wrong in WRONG:
        yield from ({key: wrong} for key in Plan.model_fields)
    yield {"steps": WRONG, "limits": WRONG, "variables": {f"a{i}": wrong for i, wrong in enumerate(WRONG)}}


def test_a_key_that_is_called_like_the_method_leads_to_no_other_place():
    with pytest.raises(PlanError) as refused:
        Plan.from_yaml("sfumato: 1\nsteps:\n  - {do: drop, columns: 3, drop: {columns: 4}}\n")
    assert [(problem.path, problem.line) for problem in refused.value.problems] == [
        (("steps", 0, "columns"), 3),
        (("steps", 0, "drop"), 3),
    ]


@pytest.mark.slow
def test_no_message_about_a_plan_speaks_python():
    said, faults = set(), 0
    for plan in plans():
        try:
            Plan.from_yaml(dump_yaml({"sfumato": 1, **plan}))
        except PlanError as error:
            said.update(map(str, error.problems))
            faults += len(error.problems)
    assert len(said) > 200
    assert faults > 100 * len(WRONG)  # each of them is told, though many stand in one plan
    assert [sentence for sentence in sorted(said) if PYTHONIC.search(QUOTED.sub("", sentence))] == []
    assert [sentence for sentence in sorted(said) if "what is given cannot stand here" in sentence] == []
