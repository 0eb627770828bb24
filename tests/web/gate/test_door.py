from types import SimpleNamespace

import pytest

from sfumato.web.gate import door
from sfumato.web.gate.door import cookie_name

DECISIONS = [({"by": ["sex"]}, 201), ({"by": ["sex", "region", "hiv"]}, 201), ({"by": ["x"]}, 422)]


@pytest.mark.parametrize(("took", "rest"), [(0.0, 0.25), (0.1, 0.15), (0.25, 0.0), (0.26, 0.24), (1.1, 0.15)])
@pytest.mark.parametrize(("body", "status"), DECISIONS, ids=str)
def test_answers_of_decisions_leave_at_steps(world, monkeypatch, body, status, took, rest):
    """By a clock of its own, which is read once when a request comes and once when its answer is ready."""
    slept, clock = [], iter((100.0, 100.0 + took, 200.0))

    async def sleep(seconds):
        slept.append(seconds)

    loop = SimpleNamespace(time=lambda: next(clock))
    monkeypatch.setattr(door, "STEP", 0.25)
    monkeypatch.setattr(door, "asyncio", SimpleNamespace(sleep=sleep, get_running_loop=lambda: loop))
    client = world.client("ann")
    assert client.post("/datasets/ward/tables", json=body).status_code == status
    assert slept == [pytest.approx(rest)]
    client.get("/datasets")
    assert len(slept) == 1


def test_too_many_requests(world, monkeypatch):
    monkeypatch.setattr(door, "PER_MINUTE", 3)
    client = world.client("ann")
    told = [client.get("/datasets") for _ in range(4)]
    assert [one.status_code for one in told] == [200] * 3 + [429]
    assert told[-1].headers["retry-after"] == "60"
    assert world.client("bob").get("/datasets").status_code == 200


def test_names_of_cookies():
    assert cookie_name(8750, False) == "sfumato_gate_8750"
    assert cookie_name(443, True) == "__Host-sfumato_gate_443"


def test_cookies_over_https(made):
    world = made("server: {hosts: [gate.example.org]}\n")
    answer = world.client().post(
        "/login", json={"id": "ann", "password": "correct horse battery"}, headers={"Host": "gate.example.org"}
    )
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "secure" in cookie.lower()
    assert "domain" not in cookie.lower()
    assert answer.headers["strict-transport-security"]
