import pytest
from pydantic import TypeAdapter, ValidationError

from sfumato.data.problems import problems_of
from sfumato.methods.noise.method import Noise


def found(kind, given, lines=None):
    with pytest.raises(ValidationError) as error:
        TypeAdapter(kind).validate_python(given)
    return problems_of(error.value, given, lines or {})


def test_a_value_of_several_forms_is_one_problem_without_names_of_types():
    given = {"do": "noise", "columns": ["a"], "share": "many"}
    (problem,) = found(Noise, given, {("share",): 4})
    assert (problem.line, problem.path) == (4, ("share",))
    assert "number" in problem.message
    assert "a mapping is needed here" in problem.message
    assert "dict[" not in str(problem)


def test_the_form_that_was_meant_is_the_one_that_is_spoken_of():
    (problem,) = found(Noise, {"do": "noise", "columns": ["a"], "share": {"a": "low"}})
    assert problem.path == ("share", "a")


def test_a_key_that_is_missing_is_the_end_of_the_path():
    (problem,) = found(Noise, {"do": "noise", "share": 0.1}, {("do",): 1})
    assert (problem.line, problem.path, problem.message) == (None, ("columns",), "it is required")


def test_problems_come_in_the_order_of_lines():
    given = {"do": "noise", "colour": 1, "columns": 3, "share": 0.1}
    assert [p.line for p in found(Noise, given, {("colour",): 9, ("columns",): 2})] == [2, 9]


def test_a_name_that_is_a_number():
    (problem,) = found(dict[str, int], {3: 1})
    assert str(problem) == "3: a name is text: put it in quotes"
