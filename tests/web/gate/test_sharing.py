import pytest


def test_sharing_begins_and_ends(world):
    client = world.client("eve")
    answer = client.post("/sharing", json={"from": "north", "to": "south"})
    assert (answer.status_code, answer.json()["decision"]) == (201, "granted")
    assert {"from": "north", "to": "south"} in client.get("/sharing").json()["items"]
    assert client.delete("/sharing/north/south").json()["decision"] == "granted"
    assert client.delete("/sharing/north/south").status_code == 422
    assert client.delete("/sharing/north/none").status_code == 404


@pytest.mark.parametrize("body", [{"from": "north"}, {"from": "north", "to": "north"}, {"from": "x", "to": "north"}])
def test_bad_sharing(world, body):
    assert world.client("eve").post("/sharing", json=body).status_code == 422
