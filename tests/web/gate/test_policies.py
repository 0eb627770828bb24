import pytest

STRICT = {"interval": {"count": 60, "width": 120}}


def test_a_dry_run_sets_nothing(world):
    ann, eve = world.client("ann"), world.client("eve")
    assert ann.post("/datasets/ward/tables", json={"by": ["sex", "region"]}).json()["decision"] == "granted"
    seq = ann.post("/datasets/ward/tables", json={"by": ["sex", "region"]}).json()["ledger"]["seq"]
    head = world.gate.head()
    told = eve.put("/policies/research", params={"dry_run": "true"}, json=STRICT).json()
    assert told["version"] == 2
    changed = {one["seq"]: (one["who"], one["decision"], one["would"]) for one in told["changed"]}
    assert changed[seq] == ("ann", "granted", "refused")  # what it repeats would not be known
    assert world.gate.head() == head
    listed = {one["id"]: one for one in eve.get("/policies").json()["items"]}
    assert listed["research"]["policy"] == {"interval": {"count": 2, "width": 4}}
    same = eve.put("/policies/research", params={"dry_run": "true"}, json=listed["research"]["policy"]).json()
    assert same["changed"] == []


def test_a_policy_is_set(world):
    eve = world.client("eve")
    assert eve.put("/policies/research", json=STRICT).json()["version"] == 2
    listed = {one["id"]: one for one in world.client("aud").get("/policies").json()["items"]}
    assert (listed["research"]["version"], listed["research"]["policy"]) == (2, STRICT)
    told = world.client("ann").post("/datasets/ward/tables", json={"by": ["sex", "region"]}).json()
    assert told["decision"] == "refused"
    assert eve.put("/policies/strict", json=STRICT).json()["version"] == 1


@pytest.mark.parametrize(
    "body",
    [{}, {"interval": {"count": 4, "width": 4}}, {"interval": {"count": 4}}, {"preset": "none"}, STRICT | {"x": 1}, []],
    ids=str,
)
def test_bad_policies(world, body):
    for dry in ("true", "false"):
        assert world.client("eve").put("/policies/research", params={"dry_run": dry}, json=body).status_code == 422
