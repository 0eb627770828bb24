import pytest

from sfumato.gate.policy import Policy

KEYS = {"mu", "mu_at_most", "perturbed", "requests_left", "grants_left"}
NOISY = Policy(interval={"count": 2, "width": 4}, perturbed={"variance": 4}, requests_per_day=5)


def test_what_is_left(world):
    client = world.client("ann")
    told = client.get("/me/budget", params={"dataset": "ward"})
    assert told.status_code == 200
    assert told.json() == {
        "mu": 0, "mu_at_most": 1, "perturbed": None, "requests_left": None, "grants_left": None,
    }  # fmt: skip
    world.gate.set_policy("research", NOISY)
    assert client.post("/datasets/ward/tables", json={"by": ["sex"], "perturbed": True}).json()["decision"] == "granted"
    after = client.get("/me/budget", params={"dataset": "ward"}).json()
    assert set(after) == KEYS
    assert (after["mu"], after["requests_left"], after["perturbed"]["left"]) == (0.5, 4, 3)
    assert set(after["perturbed"]) == {"variance", "cost", "left"}
    assert (
        world.client("bob").get("/me/budget", params={"dataset": "ward"}).json()["mu"] == 0.5
    )  # he may be passed it on
    assert world.client("cat").get("/me/budget", params={"dataset": "ward"}).json()["mu"] == 0


@pytest.mark.parametrize(
    ("query", "status"), [("?dataset=elsewhere", 404), ("?dataset=", 422), ("", 422), ("?dataset=a%00", 422)]
)
def test_what_is_wrong_is_a_problem(world, query, status):
    told = world.client("ann").get(f"/me/budget{query}")
    assert told.status_code == status
    assert told.headers["content-type"] == "application/problem+json"


def test_who_asks_for_nothing_has_none(world):
    for who in ("eve", "aud"):
        assert world.client(who).get("/me/budget", params={"dataset": "ward"}).status_code == 403
    assert world.client().get("/me/budget", params={"dataset": "ward"}).status_code == 401
