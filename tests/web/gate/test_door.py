import time

import pytest

from sfumato.web.gate import door
from sfumato.web.gate.door import cookie_name


@pytest.mark.parametrize(
    ("body", "status"), [({"by": ["sex"]}, 201), ({"by": ["sex", "region", "hiv"]}, 201), ({"by": ["x"]}, 422)], ids=str
)
def test_answers_of_decisions_leave_at_steps(world, monkeypatch, body, status):
    slept = []
    real = door.asyncio.sleep

    async def sleep(seconds):
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr(door, "STEP", 0.25)
    monkeypatch.setattr(door.asyncio, "sleep", sleep)
    client = world.client("ann")
    begun = time.monotonic()
    assert client.post("/datasets/ward/tables", json=body).status_code == status
    took = time.monotonic() - begun
    assert len(slept) == 1
    assert 0 < slept[0] <= 0.25
    assert slept[0] + took > 0.25 * 0.9
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
