"""The JSON Schema of plans, from which editors complete and forms are made."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Annotated, Union

import pytest
from pydantic import Field

from sfumato.data.described import Described
from sfumato.data.yaml import load_yaml
from sfumato.methods.registry import methods, methods_told
from sfumato.plan.plan import Plan

DOCS = Path(__file__).parents[2] / "docs"
PLANS = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCHEMA = Plan.json_schema()


def _plans():
    """Every plan, or part of one, on the pages."""
    for path in sorted(DOCS.rglob("*.md")):
        for i, text in enumerate(PLANS.findall(path.read_text(encoding="utf-8"))):
            if text.startswith("sfumato:") or text.partition(":")[0] in ("variables", "steps", "limits"):
                whole = text if text.startswith("sfumato:") else f"sfumato: 1\n{text}"
                yield pytest.param(whole, id=f"{path.stem}-{i}")


def _valid(plan):
    return not list(import_module("jsonschema_rs").validator_for(SCHEMA).iter_errors(plan))


@pytest.mark.parametrize("text", list(_plans()))
def test_every_plan_of_the_pages_keeps_to_it(text):
    assert _valid(json.loads(json.dumps(load_yaml(text)[0])))


@pytest.mark.parametrize(
    "wrong",
    [{"steps": [{"do": "drop"}]}, {"steps": [{"do": "dorp"}]}, {"stops": []}, {"limits": [{"at_least": 3}]}],
)
def test_what_is_no_plan_does_not(wrong):
    assert not _valid({"sfumato": 1, **wrong})
    assert _valid({"sfumato": 1})


@pytest.mark.parametrize("told", methods_told(), ids=lambda told: told["name"])
def test_a_form_can_be_made_of_every_method(told):
    """Each key, those of its parts too, has words, a title, and a form: a type, choices, or several of these."""
    schema = told["parameters"]
    assert told["purpose"]
    assert schema["title"] == methods()[told["name"]].__name__
    for part in (schema, *schema.get("$defs", {}).values()):
        assert part["description"].strip()
        for key, value in part.get("properties", {}).items():
            assert value.get("description", "").strip(), key
            assert {"type", "enum", "const", "anyOf", "oneOf", "$ref"} & value.keys(), key
            assert key in part.get("required", ()) or "default" in value or "title" in value, key


def test_its_steps_are_those_of_a_union_of_all_methods():
    every = Annotated[Union[tuple(methods().values())], Field(discriminator="do")]  # noqa: UP007

    class Whole(Described):
        """A plan in which all methods stand.

        Parameters
        ----------
        steps
            The steps in order.
        """

        steps: tuple[every, ...] = ()

    whole = Whole.json_schema()
    assert SCHEMA["properties"]["steps"] == whole["properties"]["steps"]
    assert SCHEMA["$defs"]["TablePlan"]["properties"]["steps"]["items"] == whole["properties"]["steps"]["items"]
    assert {name: SCHEMA["$defs"][name] for name in whole["$defs"]} == whole["$defs"]
    assert whole["properties"]["steps"]["items"]["discriminator"]["mapping"].keys() == methods().keys()
