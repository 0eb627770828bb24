import pytest


def test_a_user_is_declared_and_comes_in(world):
    body = {"id": "new", "organisation": "south", "role": "analyst", "policy": "research"}
    answer = world.client("eve").post("/users", json=body)
    assert answer.status_code == 201
    told = answer.json()
    assert {key: told[key] for key in body} == body
    login = {"id": "new", "password": told["password"], "new_password": "another horse battery"}
    assert world.client().post("/login", json=login).status_code == 200
    listed = world.client("aud").get("/users").json()["items"]
    assert next(one for one in listed if one["id"] == "new") == {
        "id": "new", "policy": "research", "active": True, "role": "analyst", "organisations": ["south"]
    }  # fmt: skip
    (entry,) = [one for one in world.gate.entries() if one.kind == "user" and one.who == "new"]
    assert entry.body["by"] == "eve"


@pytest.mark.parametrize(
    "body",
    [
        {"id": "ann", "policy": "research"},
        {"id": "new", "policy": "none"},
        {"id": "new", "policy": "research", "organisation": "west"},
        {"id": "new", "policy": "research", "role": "god"},
        {"id": "a b", "policy": "research"},
        {"id": "new"},
    ],
)
def test_bad_users(world, body):
    assert world.client("eve").post("/users", json=body).status_code == 422


def test_members(world):
    client = world.client("eve")
    assert client.post("/groups", json={"id": "study", "policy": "research"}).status_code == 201
    for path in ("/groups/study/members/ann", "/organisations/south/members/ann"):
        told = client.put(path, json={"guest": True}).json()
        assert told["decision"] == "granted"
    groups = client.get("/groups").json()["items"]
    assert groups == [{"id": "study", "policy": "research", "active": True, "members": [{"id": "ann", "guest": True}]}]
    assert client.delete("/groups/study/members/ann").json()["decision"] == "granted"
    assert client.put("/groups/study/members/bob").json()["decision"] == "granted"
    assert client.get("/groups").json()["items"][0]["members"] == [{"id": "bob", "guest": False}]
    assert client.delete("/groups/study/members/ann").status_code == 422
    for method, path in (("PUT", "/groups/none/members/ann"), ("PUT", "/groups/study/members/none")):
        assert client.request(method, path, json={}).status_code == 404


def test_a_membership_is_a_decision(world):
    """[sex hiv] and [region hiv] are held apart, and together tell who is hidden in neither."""
    client = world.client("eve")
    answers = [
        client.put("/organisations/south/members/ann", json={"guest": False}),
        client.delete("/organisations/south/members/ann"),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert answer.json()["decision"] in ("granted", "refused", "undecided")


def test_removed_and_gone(world):
    client = world.client("eve")
    assert client.delete("/users/cat").json()["decision"] == "granted"
    assert client.delete("/users/cat").status_code == 404
    assert client.delete("/users/dan").status_code == 200
    last = client.delete("/users/eve")
    assert (last.status_code, "last steward" in last.json()["detail"]) == (422, True)


def test_organisations(world):
    client = world.client("eve")
    assert client.post("/organisations", json={"id": "west", "policy": "research"}).json()["id"] == "west"
    assert client.post("/organisations", json={"id": "west", "policy": "research"}).status_code == 422
    listed = {one["id"]: one["members"] for one in client.get("/organisations").json()["items"]}
    assert [one["id"] for one in listed["north"]] == ["ann", "bob"]
    assert listed["west"] == []
