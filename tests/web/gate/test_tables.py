import pytest


def ask(client, **body):
    return client.post("/datasets/ward/tables", json={"by": ["sex"]} | body)


def test_a_table_is_given_with_its_papers(world):
    answer = ask(world.client("ann"), by=["sex", "region@area"])
    assert answer.status_code == 201
    told = answer.json()
    assert set(told) == {"id", "decision", "reasons", "offers", "release", "ledger"}
    assert told["decision"] == "granted"
    assert told["release"]["columns"] == ["region@area", "sex", "count"]
    assert told["release"]["rows"] == [["North", "f", 100], ["North", "m", 100], ["South", "f", 50], ["South", "m", 50]]
    assert told["release"]["exact"] is True
    assert set(told["ledger"]) == {"seq", "hash"}


def test_parts_are_shown_and_the_whole_is_decided(world):
    told = ask(world.client("ann"), where={"region@area": ["North"]}).json()
    assert told["release"]["rows"] == [["f", 100], ["m", 100]]
    (entry,) = [one for one in world.gate.entries() if one.kind == "request"]
    assert entry.body["margin"]["by"] == [["region", "area"], ["sex", ""]]


def test_sums_and_means(world):
    told = ask(world.client("ann"), value={"mean": "cost"}).json()["release"]
    assert told["columns"] == ["sex", "count", "n", "sum", "mean"]
    for _, _, count, total, mean in told["rows"]:
        assert mean == pytest.approx(total / count, rel=0.005)
    told = ask(world.client("ann"), value={"sum": "cost"}).json()["release"]
    assert told["columns"] == ["sex", "count", "n", "sum"]


def test_a_mean_stays_one(world):
    client = world.client("ann")
    told = ask(client, value={"mean": "cost"}).json()
    kept = client.get(f"/releases/{told['release']['id']}").json()
    assert kept["columns"] == ["sex", "count", "n", "sum", "mean"]
    assert kept["rows"] == told["release"]["rows"]
    assert world.gate.verify() == []


@pytest.mark.parametrize("by", ["age", "cost", "name", "w", "id", "region@town", "elsewhere", "age@band10"])
def test_no_table_is_shown_by_numbers_identifiers_or_weights(world, by):
    answer = ask(world.client("ann"), by=[by])
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


@pytest.mark.parametrize(
    "body",
    [
        {"by": "sex"},
        {"by": [1]},
        {"by": ["sex"], "more": 1},
        {"by": ["sex"], "where": {"sex": []}},
        {"by": ["sex"], "where": {"sex": ["q"]}},
        {"by": ["sex"], "value": {"sum": "sex"}},
        {"by": ["sex"], "value": {"sum": "cost", "mean": "cost"}},
        {"by": ["sex"], "value": {"sum": "name"}},
        {"by": ["sex"], "version": "v9"},
        {"by": ["sex"], "perturbed": "yes"},
        {"by": ["sex\u0000"]},
        {"by": ["sex"] * 51},
        {},
    ],
)
def test_bad_bodies(world, body):
    answer = world.client("ann").post("/datasets/ward/tables", json=body)
    assert answer.status_code == 422
    assert answer.json()["status"] == 422


def test_one_key_one_answer(world):
    client = world.client("ann")
    first = client.post("/datasets/ward/tables", json={"by": ["sex"]}, headers={"Idempotency-Key": "k"})
    again = client.post("/datasets/ward/tables", json={"by": ["sex"]}, headers={"Idempotency-Key": "k"})
    assert first.json() == again.json()
    other = client.post("/datasets/ward/tables", json={"by": ["region"]}, headers={"Idempotency-Key": "k"})
    assert other.status_code == 409


def test_no_such_data_set(world):
    assert world.client("ann").post("/datasets/other/tables", json={"by": ["sex"]}).status_code == 404


def test_a_refusal_has_offers(world):
    told = ask(world.client("ann"), by=["sex", "region", "hiv"]).json()
    assert told["release"] is not None or told["reasons"]
    for offer in told["offers"]:
        assert set(offer) == {"kind", "by"}


def test_a_changed_file_stops_its_data_set(world):
    (world.folder / "ward.csv").write_text("id,sex\n1,f\n")
    answer = ask(world.client("ann"))
    assert answer.status_code == 503
    assert answer.headers["retry-after"]


def test_limits_of_a_day(made):
    world = made("  few: {interval: {count: 2, width: 4}, requests_per_day: 1}\n")
    world.gate.add_user("fay", None, "analyst", "few")
    client = world.client(world.gate.issue_token("fay", ["tables"])[1])
    assert ask(client).status_code == 201
    answer = ask(client, by=["region"])
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 86_400
