def test_health(world):
    assert world.client().get("/health").json() == {"status": "ok"}
    (world.folder / "gate.db").rename(world.folder / "away.db")
    answer = world.client().get("/health")
    assert answer.status_code == 503
    assert "gate.db" not in answer.text
    (world.folder / "away.db").rename(world.folder / "gate.db")
    assert world.client().get("/health").status_code == 200
