import threading

from sfumato.web.gate import daily


def test_health(world):
    assert world.client().get("/health").json() == {"status": "ok", "verified": None, "ok": True}
    (world.folder / "gate.db").rename(world.folder / "away.db")
    answer = world.client().get("/health")
    assert answer.status_code == 503
    assert "gate.db" not in answer.text
    (world.folder / "away.db").rename(world.folder / "gate.db")
    assert world.client().get("/health").status_code == 200


def test_what_is_not_as_it_was_written_stops_the_answers_until_it_is_again(world):
    ann = world.client("ann")
    assert ann.post("/datasets/ward/tables", json={"by": ["sex"]}).json()["decision"] == "granted"
    assert world.gate.prove()
    told = world.client().get("/health").json()
    assert told["verified"]
    assert told["ok"]
    data = world.folder / "ward.csv"
    kept = data.read_bytes()
    data.write_bytes(kept.replace(b"Bath", b"York", 1))
    assert not world.gate.prove()
    answer = world.client().get("/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["ok"]) == (503, "stopped", False)
    assert ann.get("/me/releases").status_code == 503
    assert ann.post("/datasets/ward/tables", json={"by": ["region"]}).status_code == 503
    data.write_bytes(kept)
    assert world.gate.prove()
    assert ann.get("/me/releases").status_code == 200


def test_it_is_proved_at_the_hour(world, monkeypatch):
    proved = threading.Event()
    monkeypatch.setattr(daily, "until", lambda hour, moment: 0.01)
    monkeypatch.setattr(world.gate, "prove", proved.set)
    with daily.daily(world.gate):  # no hour is named
        assert not proved.wait(0.1)
    server = world.gate.config.server.model_copy(update={"verify": "03:00"})
    monkeypatch.setattr(world.gate, "config", world.gate.config.model_copy(update={"server": server}))
    with daily.daily(world.gate):
        assert proved.wait(60)
