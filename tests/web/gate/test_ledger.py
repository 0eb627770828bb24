import json

from sfumato.gate.ledger import first_fault, from_line


def test_entries_are_searched(world):
    world.client("ann").post("/datasets/ward/tables", json={"by": ["sex"]})
    aud = world.client("aud")
    found, after = [], 0
    while after is not None:
        told = aud.get("/ledger", params={"after": after, "limit": 5}).json()
        found += told["items"]
        after = told["next"]
    assert [one["seq"] for one in found] == list(range(1, world.gate.head()[0] + 1))
    assert set(found[0]) == {"seq", "at", "kind", "who", "dataset", "body", "previous", "hash"}
    own = aud.get("/ledger", params={"who": "ann", "dataset": "ward"}).json()["items"]
    assert [one["kind"] for one in own] == ["request"]
    assert aud.get("/ledger", params={"who": "nobody"}).json() == {"items": [], "next": None}
    for query in ({"after": -1}, {"after": "x"}, {"limit": 0}, {"after": 10**30}):
        assert aud.get("/ledger", params=query).status_code == 422


def test_the_whole_ledger_is_a_chain(world, monkeypatch):
    monkeypatch.setattr("sfumato.web.gate.ledger._LINES", 3)
    answer = world.client("eve").get("/ledger/export")
    assert answer.headers["content-type"].startswith("application/jsonl")
    lines = answer.text.splitlines()
    assert all(json.loads(line) for line in lines)
    assert first_fault([from_line(line, i) for i, line in enumerate(lines, 1)], world.gate.head()) is None
