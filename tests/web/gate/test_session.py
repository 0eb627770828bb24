from datetime import UTC, datetime, timedelta

import pytest

from sfumato.gate.serving import doors
from tests.web.gate.conftest import PASSWORD, USERS

LOGIN = {"id": "ann", "password": PASSWORD}


def test_a_session_begins_and_ends(world):
    client = world.client()
    answer = client.post("/login", json=LOGIN)
    assert (answer.status_code, answer.json()) == (200, {"id": "ann", "role": "analyst"})
    cookie = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert part.lower() in cookie.lower()
    assert client.get("/me/releases").status_code == 200
    assert client.post("/logout", headers={"X-Sfumato": "1"}).status_code == 204
    client.cookies.set("sfumato_gate", cookie.partition("=")[2].partition(";")[0])
    assert client.get("/me/releases").status_code == 401


def test_changes_by_a_session_need_the_header(world):
    client = world.session("ann")
    del client.headers["X-Sfumato"]
    for value in ({}, {"X-Sfumato": "0"}, {"X-Sfumato": "true"}):
        assert client.post("/datasets/ward/tables", json={"by": ["sex"]}, headers=value).status_code == 403
    assert client.get("/datasets").status_code == 200
    assert client.post("/datasets/ward/tables", json={"by": ["sex"]}, headers={"X-Sfumato": "1"}).status_code == 201


def test_a_token_needs_no_header(world):
    assert world.client("ann").post("/datasets/ward/tables", json={"by": ["sex"]}).status_code == 201


def test_token_and_session_at_once(world):
    client = world.session("ann")
    client.headers["Authorization"] = f"Bearer {world.tokens['ann']}"
    for path in ("/datasets", "/public", "/health"):
        assert client.get(path).status_code == 400


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer ", "Bearer nothing", "Basic YW5uOmFubg==", "bearer " + "x" * 500, "Bearer sfg_é"],
)
def test_what_is_no_token(world, given):
    assert world.client().get("/datasets", headers={"Authorization": given.encode("latin-1")}).status_code == 401
    assert world.client().get("/public", headers={"Authorization": given.encode("latin-1")}).status_code == 401


def test_wrong_passwords_are_told_alike_whoever_is_meant(world):
    answers = [
        world.client().post("/login", json={"id": who, "password": "nothing of theirs"})
        for who in ("ann", "nobody", "north", "public")
    ]
    assert {one.status_code for one in answers} == {401}
    assert len({one.text for one in answers}) == 1


def test_who_is_not_there_takes_the_same_work(world, monkeypatch):
    worked = []
    real = doors.matches
    monkeypatch.setattr(doors, "matches", lambda password, kept: worked.append(kept is None) or real(password, kept))
    for who in ("ann", "nobody"):
        world.client().post("/login", json={"id": who, "password": "nothing of theirs"})
    assert worked == [False, True]


def test_five_wrong_passwords_a_minute(world):
    for who in ("ann", "nobody"):
        told = [world.client().post("/login", json={"id": who, "password": "wrong"}).status_code for _ in range(6)]
        assert told == [401] * 5 + [429]
    late = world.client().post("/login", json=LOGIN)
    assert (late.status_code, late.headers["retry-after"]) == (429, "60")
    assert world.client().post("/login", json={"id": "bob", "password": PASSWORD}).status_code == 200


def test_right_passwords_do_not_count(world):
    assert {world.client().post("/login", json=LOGIN).status_code for _ in range(7)} == {200}


def test_an_account_is_open_again_after_a_minute(world, monkeypatch):
    for _ in range(6):
        world.client().post("/login", json={"id": "ann", "password": "wrong"})
    later = datetime.now(UTC) + timedelta(seconds=61)
    monkeypatch.setattr(doors, "_now", lambda: later)
    assert world.client().post("/login", json=LOGIN).status_code == 200


@pytest.mark.parametrize(
    ("steps", "status"),
    [([29, 29, 29], 200), ([31], 401), ([29] * 24, 200), ([29] * 25, 401)],
    ids=["used", "idle", "long", "too long"],
)
def test_a_session_ends_when_it_is_idle_or_old(world, monkeypatch, steps, status):
    client = world.session("ann")
    at = datetime.now(UTC)
    for minutes in steps:
        at += timedelta(minutes=minutes)
        monkeypatch.setattr(doors, "_now", lambda at=at: at)
        told = client.get("/me/releases").status_code
    assert told == status


def test_a_login_gives_another_session_and_ends_the_one_before(world):
    """Fixation: what somebody put into the browser before is nothing after."""
    client = world.client()
    client.cookies.set("sfumato_gate", "chosen-by-somebody-else", domain="localhost.local", path="/")
    client.post("/login", json=LOGIN)
    first = client.cookies.get("sfumato_gate", domain="localhost.local")
    assert first != "chosen-by-somebody-else"
    client.post("/login", json=LOGIN)
    second = client.cookies.get("sfumato_gate", domain="localhost.local")
    assert second != first
    old = world.client()
    old.cookies.set("sfumato_gate", first, domain="localhost.local", path="/")
    assert old.get("/me/releases").status_code == 401


def test_a_password_that_holds_once(world):
    password = world.gate.add_user("new", None, "analyst", "research")
    client = world.client()
    told = client.post("/login", json={"id": "new", "password": password})
    assert told.status_code == 401
    assert "new_password" in told.json()["detail"]
    for bad in ("short", password, "has new in it, this one"):
        body = {"id": "new", "password": password, "new_password": bad}
        assert client.post("/login", json=body).status_code == 422
    body = {"id": "new", "password": password, "new_password": "another horse battery"}
    assert client.post("/login", json=body).status_code == 200
    assert world.client().post("/login", json={"id": "new", "password": password}).status_code == 401
    assert world.session("new", "another horse battery").get("/datasets").status_code == 200


def test_another_password_ends_all_sessions(world):
    before = world.session("ann")
    body = LOGIN | {"new_password": "another horse battery"}
    assert world.client().post("/login", json=body).status_code == 200
    assert before.get("/me/releases").status_code == 401


def test_who_is_removed_is_out_at_once(world):
    session, token = world.session("ann"), world.client("ann")
    assert world.client("eve").delete("/users/ann").json()["decision"] == "granted"
    for client in (session, token):
        assert client.get("/me/releases").status_code == 401
    assert world.client().post("/login", json=LOGIN).status_code == 401


@pytest.mark.parametrize("body", [{}, {"id": "ann"}, LOGIN | {"x": 1}, {"id": ["ann"], "password": PASSWORD}, [], None])
def test_bad_logins(world, body):
    assert world.client().post("/login", json=body).status_code == 422


def test_sessions_go_to_every_worker(world, tmp_path):
    from sfumato.gate.service import Gate

    with Gate.open(world.gate.config) as other:
        login = other.login("ann", PASSWORD)
        client = world.client()
        client.cookies.set("sfumato_gate", login.session)
        assert client.get("/me/releases").status_code == 200
        assert set(USERS) <= set(other.people())


def test_the_store_has_hashes_alone(world):
    login = world.gate.login("ann", PASSWORD)
    kept = b"".join(path.read_bytes() for path in world.folder.glob("gate.db*"))
    for opens in (login.session, world.tokens["ann"], PASSWORD):
        assert opens.encode() not in kept
