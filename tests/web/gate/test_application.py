import json

from sfumato.web.gate.access import TABLE


def test_the_description_is_for_who_is_logged_in(world):
    assert world.client().get("/openapi.json").status_code == 401
    for client in (world.client("ann"), world.client("aud"), world.session("eve")):
        told = client.get("/openapi.json").json()
        assert told["openapi"].startswith("3.1")
    assert "/datasets/{dataset}/tables" in told["paths"]
    assert "Leeds" not in json.dumps(told)
    for (method, path), rule in TABLE.items():
        if method.lower() in told["paths"].get(path, {}):  # pages and the description itself are not described
            said = told["paths"][path][method.lower()]
            assert ("security" in said) != rule.anonymous
            assert said["responses"]["404"]["content"].keys() == {"application/problem+json"}


def test_a_fault_says_its_type_alone(world, monkeypatch, capsys):
    def fails(self, *_):
        raise ValueError("planted-value")

    monkeypatch.setattr("sfumato.gate.service.Gate.datasets", fails)
    answer = world.client("ann").get("/datasets")
    assert (answer.status_code, answer.json()["detail"]) == (500, "A fault of its own (ValueError).")
    out = capsys.readouterr()
    assert "planted-value" not in answer.text + out.out + out.err + "".join(world.log)
