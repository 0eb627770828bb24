from datetime import UTC, datetime, timedelta

import pytest

from sfumato.gate.serving import doors


def test_a_token_is_made_used_and_revoked(world):
    client = world.session("ann")
    made = client.post("/me/tokens", json={"scopes": ["tables"], "days": 30})
    assert made.status_code == 201
    token = made.json()
    assert set(token) == {"id", "scopes", "made", "until", "token"}
    program = world.client(token["token"])
    assert program.post("/datasets/ward/tables", json={"by": ["sex"]}).status_code == 201
    assert program.get("/me/releases").status_code == 403
    listed = client.get("/me/tokens").json()["items"]
    assert {one["id"] for one in listed} >= {token["id"]}
    assert all("token" not in one for one in listed)
    assert client.delete(f"/me/tokens/{token['id']}").status_code == 204
    assert program.get("/datasets").status_code == 401
    assert client.delete(f"/me/tokens/{token['id']}").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"scopes": ["steward"]},
        {"scopes": ["tables", "audit"]},
        {"scopes": []},
        {"scopes": ["all"]},
        {"scopes": ["tables"], "days": 0},
        {"scopes": ["tables"], "days": 366},
        {"scopes": ["tables"], "days": 1.5},
        {"scopes": "tables"},
    ],
)
def test_no_token_for_more_than_the_role_may(world, body):
    assert world.session("ann").post("/me/tokens", json=body).status_code == 422


def test_a_token_makes_no_tokens(world):
    assert world.client("ann").post("/me/tokens", json={"scopes": ["tables"]}).status_code == 403


def test_a_token_of_somebody_else_is_not_there(world):
    token = world.gate.issue_token("bob", ["tables"])[0]
    assert world.session("ann").delete(f"/me/tokens/{token.id}").status_code == 404
    assert [one.id for one in world.gate.tokens("bob")][-1] == token.id


def test_a_token_holds_for_its_days(world, monkeypatch):
    client = world.client(world.gate.issue_token("ann", ["tables"], 1)[1])
    assert client.get("/datasets").status_code == 200
    later = datetime.now(UTC) + timedelta(days=1, seconds=1)
    monkeypatch.setattr(doors, "_now", lambda: later)
    assert client.get("/datasets").status_code == 401
