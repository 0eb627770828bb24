"""Forms of steps from their schemas: every method has one, and what is typed is what the plan says."""

from __future__ import annotations

import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.yaml import load_yaml
from sfumato.methods.registry import methods
from sfumato.web.layout.forms import Given
from sfumato.web.studio.stepping import Unfit, catalogue, changed, fields, read_step, unsuited

COLUMNS = ["sex", "age", "income"]


def typed(name: str, value: dict, **more: str) -> Given:
    """What a browser sends for the form of a step, with some fields typed anew."""
    pairs: list[tuple[str, str]] = []
    for field in fields(name, value, COLUMNS):
        shown = more.get(field.name, field.value)
        pairs += [(f"p.{field.name}", one) for one in ([shown] if isinstance(shown, str) else shown)]
    return Given(pairs)


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_has_a_form_with_words_for_each_parameter(name):
    made = fields(name, {}, COLUMNS)
    assert {field.name for field in made} == methods()[name].model_fields.keys() - {"do"}
    assert all(field.hint for field in made)
    required = [field.required for field in made]
    assert required == sorted(required, reverse=True)


def test_every_method_stands_once_in_the_catalogue():
    names = [one.name for _, _, offered in catalogue() for one in offered]
    assert sorted(names) == sorted(methods())


STEPS = [
    {"do": "noise", "columns": ["income"], "share": 0.1, "round_to": {"income": 10}},
    {"do": "recode", "columns": ["age"], "band": [20, 40.5], "labels": ["a", "b", "c"]},
    {"do": "top_code", "columns": ["income"], "quantile": 0.99, "weight": True},
    {"do": "coarsen_date", "columns": ["age"], "to": "age", "reference": "income", "top": None, "day_first": False},
    {"do": "derive", "column": "rich", "formula": "income > 3", "role": "key"},
    {"do": "synthesise", "columns": ["age"], "smooth": True, "copies": 2},
    {"do": "to_grid", "x": "age", "y": "income", "crs": 27700, "size": 1000},
    {"do": "suppress_cells", "keys": ["sex", "age"], "k": 4, "importance": ["age", "sex"]},
    {"do": "centroids", "columns": ["income", "age"], "k": 5, "rescale": False},
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["do"])
def test_a_form_that_nobody_touched_gives_the_step_again(step):
    assert read_step(step["do"], typed(step["do"], step), step, COLUMNS) == step


def test_only_what_differs_from_the_defaults_is_written():
    form = typed("noise", {}, columns=["age", "income"], share="0.2", min_stratum="10", missing="keep")
    assert read_step("noise", form, {}, COLUMNS) == {"do": "noise", "columns": ["age", "income"], "share": 0.2}


def test_a_default_that_is_written_out_stays():
    step = {"do": "noise", "columns": ["age"], "share": 0.1, "missing": "keep", "min_stratum": 10}
    text = "steps:\n  - {do: noise, columns: [age], share: 0.1, missing: keep, min_stratum: 10}\n"
    new = read_step("noise", typed("noise", step, share="0.3"), step, COLUMNS)
    assert changed(text, ["steps", 0], new) == text.replace("0.1", "0.3")


def test_columns_keep_their_order_and_new_ones_come_after():
    step = {"do": "drop", "columns": ["income", "sex"]}
    new = read_step("drop", typed("drop", step, columns=["sex", "age", "income"]), step, COLUMNS)
    assert new["columns"] == ["income", "sex", "age"]


def test_what_is_emptied_is_taken_out_of_the_plan():
    step = {"do": "drop", "columns": ["sex"], "reason": "no need"}
    text = "steps:\n  - {do: drop, columns: [sex], reason: no need}  # why\n"
    new = read_step("drop", typed("drop", step, reason=""), step, COLUMNS)
    made = changed(text, ["steps", 0], new)
    assert load_yaml(made)[0]["steps"] == [{"do": "drop", "columns": ["sex"]}]
    assert made.endswith("  # why\n")


@pytest.mark.parametrize(
    ("name", "key", "text", "said"),
    [
        ("recode", "band", "[1, 2", "YAML"),
        ("recode", "band", "&a [1]", "anchor"),
        ("recode", "band", "[3, 1]", "rising"),
        ("merge_rare", "min_count", "a few", "number"),
        ("merge_rare", "min_count", "2.5", "whole number"),
        ("merge_rare", "min_count", "1", "2"),
        ("merge_rare", "min_count", "1e400", "finite"),
        ("merge_rare", "columns", [], "required"),
    ],
)
def test_what_is_no_step_is_told_beside_its_field(name, key, text, said):
    form = typed(name, {"columns": ["age"], "min_count": 5}, **{key: text})
    with pytest.raises(Unfit) as error:
        read_step(name, form, {}, COLUMNS)
    assert said in error.value.errors.get(key, error.value.errors.get("", ""))


def test_nested_yaml_is_bounded():
    form = typed("recode", {"columns": ["age"]}, map="[" * 60 + "]" * 60)
    with pytest.raises(Unfit) as error:
        read_step("recode", form, {}, COLUMNS)
    assert "map" in error.value.errors


def test_columns_that_a_method_refuses_are_told_with_its_reason():
    book = Codebook(
        {"id": Variable(role="record"), "sex": Variable(kind="categorical"), "age": Variable(kind="integer")}
    )
    refused = unsuited("centroids", {"k": 3}, book)
    assert refused.keys() == {"id", "sex"}
    assert "categorical" in refused["sex"]
