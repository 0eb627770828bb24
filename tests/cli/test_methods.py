import json

import pytest

from sfumato.methods.registry import methods
from sfumato.plan.plan import Plan


@pytest.mark.slow
def test_every_method_in_json(sfumato):
    told = json.loads(sfumato("methods", "--json").stdout)["methods"]
    assert [m["name"] for m in told] == list(methods())
    for method in told:
        cls = methods()[method["name"]]
        assert method.keys() == {"name", "purpose", "masks", "whole_strata", "passes", "parameters"}
        assert method["masks"] is bool(cls.masks)
        assert (method["whole_strata"], method["passes"]) == (cls.whole_strata, cls.passes)
        assert method["purpose"].endswith(".")
        assert method["parameters"]["properties"].keys() == cls.model_fields.keys()
        in_plan = Plan.json_schema()["$defs"][cls.__name__]["properties"]
        assert method["parameters"]["properties"] == in_plan


def test_one_method(sfumato):
    told = json.loads(sfumato("methods", "swap", "--json").stdout)["methods"]
    assert [m["name"] for m in told] == ["swap"]
    shown = sfumato("methods", "swap").stdout
    assert "Exchange values within groups of similar records" in shown
    assert "window" in shown


def test_every_method_on_the_screen(sfumato):
    shown = sfumato("methods").stdout
    lines = [line.split() for line in shown.splitlines()]
    assert all([name, "yes" if cls.masks else "no"] in [line[:2] for line in lines] for name, cls in methods().items())


def test_a_method_that_there_is_not(sfumato):
    done = sfumato("methods", "centroid")
    assert (done.returncode, done.stdout) == (2, "")
    assert "centroids" in done.stderr
