import pytest

from sfumato.errors import FormulaError
from sfumato.gate.margin import Margin, Node
from sfumato.gate.service import Answer, Gate

BODY = {"kind": "logistic", "formula": "hiv ~ C(sex)", "where": {"region@area": ["North"]}, "version": None}


@pytest.fixture
def asked(monkeypatch):
    """What the gate is asked, in place of an answer of its own."""
    seen = []

    def analyse(self, *args, **more):
        seen.append((args, more))
        if "planted(" in args[3]:
            raise FormulaError("There is no function of this name.")
        return Answer("a1", "refused", ("interval",), (), None, (7, "f" * 64))

    monkeypatch.setattr(Gate, "analyse", analyse, raising=False)
    return seen


def test_what_the_gate_is_asked(world, asked):
    answer = world.client("ann").post("/datasets/ward/analyses", json=BODY, headers={"Idempotency-Key": "k"})
    assert answer.status_code == 201
    assert answer.json()["ledger"] == {"seq": 7, "hash": "f" * 64}
    ((args, more),) = asked
    assert args == ("ann", "ward", "logistic", "hiv ~ C(sex)")
    assert more == {
        "where": {Node("region", "area"): ("North",)}, "version": None, "event": None, "cluster": None, "key": "k",
        "options": {},
    }  # fmt: skip
    assert Margin is not None


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "Linear;"},
        {"formula": ""},
        {"formula": "planted(x) ~ y"},
        {"where": {"age": ["20"]}},
        {"where": {"region": []}},
        {"options": {"a": {}}},
        {"options": {"a": [1]}},
        {"more": 1},
    ],
    ids=str,
)
def test_bad_bodies(world, asked, change):
    assert world.client("ann").post("/datasets/ward/analyses", json=BODY | change).status_code == 422


def test_options(world, asked):
    body = BODY | {"options": {"probability": 0.5, "complete_cases": "project", "many": 3, "so": True}}
    assert world.client("ann").post("/datasets/ward/analyses", json=body).status_code == 201
    assert asked[0][1]["options"] == {"probability": 0.5, "complete_cases": "project", "many": 3, "so": True}
    infinite = '{"kind": "linear", "formula": "a ~ b", "options": {"x": NaN}}'
    headers = {"Content-Type": "application/json"}
    assert world.client("ann").post("/datasets/ward/analyses", content=infinite, headers=headers).status_code == 422
