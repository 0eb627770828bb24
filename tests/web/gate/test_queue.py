import pytest

from sfumato.gate.world import Outcome, World


@pytest.fixture
def waiting(world, monkeypatch):
    """A request that nothing was proved of."""
    real = World.ask
    monkeypatch.setattr(World, "ask", lambda self, *a, **k: Outcome("undecided", ("interval",), "exchange"))
    told = world.client("ann").post("/datasets/ward/tables", json={"by": ["sex"]})
    monkeypatch.setattr(World, "ask", real)
    assert (told.status_code, told.json()["decision"]) == (201, "undecided")
    (one,) = world.client("eve").get("/queue").json()["items"]
    assert (one["who"], one["dataset"], one["table"]) == ("ann", "ward", "sex")
    return world, one["id"]


def test_a_request_that_waits_is_refused(waiting):
    world, name = waiting
    eve = world.client("eve")
    told = eve.post(f"/queue/{name}", json={"decision": "refused", "reason": "coarser will do"}).json()
    assert told["decision"] == "refused"
    assert eve.get("/queue").json()["items"] == []
    assert eve.post(f"/queue/{name}", json={"decision": "refused", "reason": "again"}).status_code == 422


def test_a_request_that_waits_becomes_an_exception(waiting):
    world, name = waiting
    told = world.client("eve").post(f"/queue/{name}", json={"decision": "exception", "reason": "board 12/4"}).json()
    assert told["decision"] == "exception"
    done = world.client("dan").post(f"/exceptions/{told['exception']}/confirm")
    assert (done.status_code, done.json()["decision"]) == (200, "granted")
    assert len(world.client("ann").get("/me/releases").json()["items"]) == 1


def test_an_exception_names_a_request_that_waits(waiting):
    world, name = waiting
    body = {"who": "ann", "dataset": "ward", "request": name, "reason": "board 12/4"}
    for change in ({"who": "bob"}, {"request": "nothing"}, {"dataset": "other"}):
        assert world.client("eve").post("/exceptions", json=body | change).status_code == 422
    assert world.client("eve").post("/exceptions", json=body).status_code == 201


@pytest.mark.parametrize(
    "body",
    [{"decision": "granted", "reason": "because"}, {"decision": "refused"}, {"decision": "refused", "reason": "x"}],
)
def test_bad_decisions(waiting, body):
    world, name = waiting
    assert world.client("eve").post(f"/queue/{name}", json=body).status_code == 422


def test_what_does_not_wait(world):
    body = {"decision": "refused", "reason": "because"}
    assert world.client("eve").post("/queue/nothing", json=body).status_code == 404
