import json


def test_a_line_for_each_request(world):
    world.client("ann").post("/datasets/ward/tables", json={"by": ["sex"], "where": {"region": ["York"]}})
    world.client("ann").get("/datasets/planted?planted=1")
    world.client().get("/planted")
    world.client().get("/", headers={"Host": "evil.example"})
    lines = [json.loads(one) for one in "".join(world.log).splitlines()]
    assert [(one["method"], one["route"], one["status"], one["role"]) for one in lines] == [
        ("POST", "/datasets/{dataset}/tables", 201, "analyst"),
        ("GET", "/datasets/{dataset}", 404, "analyst"),
        ("-", "-", 404, "-"),
        ("-", "-", 400, "-"),
    ]
    for one in lines:
        assert set(one) == {"method", "route", "status", "role", "ms", "event", "timestamp"}
        assert one["ms"] % 10 == 0
    for told in ("planted", "York", "sex", "ann", "evil"):
        assert told not in "".join(world.log)
