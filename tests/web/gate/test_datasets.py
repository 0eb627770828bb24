import json


def test_data_sets_are_listed(world):
    assert world.client("ann").get("/datasets").json() == {
        "items": [{"id": "ward", "versions": ["v1"]}],
        "next": None,
    }


def test_the_codebook_and_nothing_of_the_records(world):
    told = world.client("ann").get("/datasets/ward").json()
    assert (told["id"], told["versions"]) == ("ward", ["v1"])
    variables = {one["name"]: one for one in told["variables"]}
    assert list(variables) == ["sex", "age", "region", "hiv", "cost", "w", "name"]
    assert variables["region"]["levels"] == {"area": ["North", "South"]}
    assert variables["region"]["codes"] == ["Bath", "Leeds", "York"]
    assert (variables["hiv"]["role"], variables["hiv"]["kind"]) == ("sensitive", "categorical")
    for name in ("age", "cost", "w", "name"):
        assert variables[name]["codes"] == []
    assert [name for name, one in variables.items() if one["summed"]] == ["age", "cost"]
    assert not any(isinstance(one, int | float) for one in _leaves(told) if not isinstance(one, bool))


def _leaves(value):
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    else:
        yield value


def test_no_such_data_set(world):
    answer = world.client("ann").get("/datasets/other")
    assert answer.status_code == 404
    assert "other" not in json.dumps(answer.json())
