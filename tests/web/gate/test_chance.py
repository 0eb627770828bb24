"""What hangs together in the data: stewards and auditors see it, analysts do not; two stewards call it chance."""

import pytest

from sfumato.gate.world import Outcome, World
from tests.gate.injected import NEVER, TELLS, TOGETHER, injected

WHY = {"columns": ["sex", "age"], "reason": "too few patients"}


@pytest.fixture(autouse=True)
def found(monkeypatch):
    injected(monkeypatch, lambda _: (TOGETHER, NEVER, TELLS))


def listed(world, who="eve"):
    answer = world.client(who).get("/datasets/ward/dependences")
    assert answer.status_code == 200
    return answer.json()["items"]


def test_stewards_and_auditors_see_what_was_found(world):
    assert listed(world) == listed(world, "aud")
    assert listed(world)[1] == {
        "kind": "never", "from": ["age", "sex"], "to": None, "combinations": 3, "expected": 41.5, "version": "",
        "chance": "", "exception": None, "by": "", "because": "",
    }  # fmt: skip


def test_analysts_see_nothing_of_it(world, monkeypatch):
    ann = world.client("ann")
    name = world.client("eve").post("/datasets/ward/chance", json=WHY).json()["id"]
    for method, path in (
        ("GET", "/datasets/ward/dependences"), ("POST", "/datasets/ward/chance"), ("GET", "/exceptions"),
        ("POST", "/datasets/ward/chance/withdraw"), ("POST", f"/exceptions/{name}/confirm"),
    ):  # fmt: skip
        answer = ann.request(method, path, json=WHY if method == "POST" else None)
        assert answer.status_code == 403
        assert "sex" not in answer.text
    seen = ann.get("/datasets").text + ann.get("/datasets/ward").text
    monkeypatch.setattr(World, "ask", lambda *_, **__: Outcome("refused", ("interval",), "cover"))
    asked = ann.post("/datasets/ward/tables", json={"by": ["region", "sex"], "value": "count"})
    assert asked.json()["decision"] == "refused"
    for word in ("chance", "dependence", "tells", "never", "41.5", name, "@(known)"):
        assert word not in seen + asked.text


def test_it_takes_two(world):
    eve, dan = world.client("eve"), world.client("dan")
    answer = eve.post("/datasets/ward/chance", json=WHY)
    assert answer.status_code == 201
    name = answer.json()["id"]
    [one] = world.client("aud").get("/exceptions").json()["items"]
    assert (one["id"], one["chance"], one["by"], one["reason"]) == (name, ["age", "sex"], "eve", "too few patients")
    assert "let see more" in one["means"]
    assert [own["chance"] for own in listed(world)] == ["", "proposed", ""]
    assert eve.post(f"/exceptions/{name}/confirm").status_code == 422
    assert [own["chance"] for own in listed(world)] == ["", "proposed", ""]
    assert dan.post(f"/exceptions/{name}/confirm").json()["decision"] == "granted"
    assert [own["chance"] for own in listed(world)] == ["", "confirmed", ""]
    assert dan.post(f"/exceptions/{name}/confirm").status_code == 422
    assert dan.post("/datasets/ward/chance/withdraw", json=WHY).json()["decision"] == "granted"
    assert [own["chance"] for own in listed(world)] == ["", "", ""]
    assert dan.post("/datasets/ward/chance/withdraw", json=WHY).status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ["region", "sex"]},
        {"columns": ["age", "nothing"]},
        {"columns": ["age"]},
        {"columns": ["age", "sex", "region", "hiv"]},
        {"columns": "age,sex"},
        {"reason": "x"},
        {"by": "dan"},
    ],
    ids=str,
)
def test_bad_proposals(world, change):
    assert world.client("eve").post("/datasets/ward/chance", json=WHY | change).status_code == 422
    assert world.gate.exceptions() == []


def test_no_such_data_set(world):
    eve = world.client("eve")
    assert eve.get("/datasets/other/dependences").status_code == 404
    assert eve.post("/datasets/other/chance", json=WHY).status_code == 404
    assert eve.post("/datasets/other/chance/withdraw", json=WHY).status_code == 404


def test_a_data_set_that_stands_still(world):
    (world.folder / "ward.csv").write_text("id,sex\n1,f\n")
    assert world.client("eve").get("/datasets/ward/dependences").status_code == 503
    assert world.client("eve").post("/datasets/ward/chance", json=WHY).status_code == 503
