import pytest

from sfumato.errors import FormulaError
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
        "where": {"region@area": ["North"]}, "version": None, "event": None, "cluster": None, "key": "k",
        "options": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "Linear;"},
        {"formula": ""},
        {"formula": "planted(x) ~ y"},
        {"formula": "hiv ~ exec(1)"},
        {"formula": "hiv ~ name"},
        {"formula": "hiv ~ w"},
        {"formula": "hiv ~ id"},
        {"kind": "nosuch"},
        {"where": {"age": ["20"]}},
        {"where": {"region": []}},
        {"where": {"hiv": ["yes"]}},
        {"where": {"region": ["nosuch"]}},
        {"version": "v9"},
        {"event": "sex"},
        {"options": {"a": {}}},
        {"options": {"a": [1]}},
        {"more": 1},
    ],
    ids=str,
)
def test_bad_bodies(world, change):
    assert world.client("ann").post("/datasets/ward/analyses", json=BODY | change).status_code == 422


def test_a_fit_is_given(world):
    body = {"kind": "linear", "formula": "cost ~ age + C(sex)"}
    client = world.client("ann")
    told = client.post("/datasets/ward/analyses", json=body).json()
    assert told["decision"] == "granted"
    assert told["release"]["columns"] == ["term", "estimate", "se", "se_added", "low", "high", "p"]
    kept = client.get(f"/releases/{told['release']['id']}").json()
    assert kept["rows"] == told["release"]["rows"]
    for form in ("csv", "xlsx", "parquet"):
        assert client.get(f"/releases/{told['release']['id']}", params={"format": form}).status_code == 200
    assert client.get(f"/decisions/{told['id']}").json() == told


def test_options(world, asked):
    body = BODY | {"options": {"probability": 0.5, "complete_cases": "project", "many": 3, "so": True}}
    assert world.client("ann").post("/datasets/ward/analyses", json=body).status_code == 201
    assert asked[0][1]["options"] == {"probability": 0.5, "complete_cases": "project", "many": 3, "so": True}
    infinite = '{"kind": "linear", "formula": "a ~ b", "options": {"x": NaN}}'
    headers = {"Content-Type": "application/json"}
    assert world.client("ann").post("/datasets/ward/analyses", content=infinite, headers=headers).status_code == 422


def test_complete_cases_may_stand_beside_the_formula(world, asked):
    for given in ("project", ["age", "sex"]):
        world.client("ann").post("/datasets/ward/analyses", json=BODY | {"complete_cases": given}).raise_for_status()
        assert asked[-1][1]["options"] == {"complete_cases": given}


def test_a_fit(world):
    (world.folder / "key").write_bytes(bytes(range(32)))
    answer = world.client("ann").post("/datasets/ward/analyses", json={"kind": "logistic", "formula": "hiv ~ region"})
    told = answer.json()
    assert answer.status_code == 201
    assert set(told) >= {"id", "decision", "reasons", "offers", "release", "ledger"}
    assert told["release"]["columns"] == ["term", "estimate", "se", "se_added", "low", "high", "p"]
    assert told["release"]["exact"]


def test_models_that_are_offered_can_be_asked_for(world):
    (world.folder / "key").write_bytes(bytes(range(32)))
    ann = world.client("ann")
    told = ann.post("/datasets/ward/analyses", json={"kind": "logistic", "formula": "hiv ~ C(age) + region"}).json()
    assert told["decision"] == "refused"
    offers = [offer["analysis"] for offer in told["offers"] if offer["kind"] == "analysis"]
    assert offers
    for offer in offers:
        body = {name: offer[name] for name in ("kind", "formula", "where", "version")}
        again = ann.post("/datasets/ward/analyses", json=body)
        assert again.status_code == 201
    assert again.json()["decision"] == "granted"
