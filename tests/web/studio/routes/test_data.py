"""The variables over REST."""

from tests.web.studio.conftest import COLUMNS


def test_every_variable_with_its_role_and_the_reason(visit):
    told = visit.client.get("/api/data").json()
    assert told["records"] == 250
    assert [one["name"] for one in told["columns"]] == list(COLUMNS)
    assert all(one.keys() == {"name", "label", "kind", "role", "missing", "reason"} for one in told["columns"])
    by_name = {one["name"]: one for one in told["columns"]}
    assert by_name["nhs_number"]["role"] == "identifier"
    assert by_name["sex"]["role"] == "key"
    assert all(one["reason"] for one in told["columns"])


def test_the_plan_has_its_own_word(visit):
    edit = {"op": "set", "path": ["variables", "region", "role"], "value": "other"}
    assert visit.change("POST", "/api/edit", json=edit).status_code == 200
    (region,) = [one for one in visit.client.get("/api/data").json()["columns"] if one["name"] == "region"]
    assert (region["role"], region["reason"]) == ("other", "as the plan says")
    visit.studio.planned.undo()
