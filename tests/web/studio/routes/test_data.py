"""The variables over REST."""

import pytest

from sfumato.web.studio.source import Source
from tests.web.studio.conftest import COLUMNS
from tests.web.studio.pages.opened import looking


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


@pytest.mark.parametrize("path", ["/api/data", "/api/risk?keys=a", "/api/plan"])
def test_without_a_file_it_is_said_where_to_choose_one(tmp_path, path):
    with looking(tmp_path, None) as someone:
        answer = someone.client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
    assert "No file is open: choose one on the page Data." in answer.json()["detail"]


def test_of_a_plan_of_several_tables_the_one_that_is_open(tmp_path):
    plan = "sfumato: 1\ntables:\n  doses:\n    file: small.csv\n    variables:\n      age: {role: outcome}\n"
    with looking(tmp_path, plan) as someone:
        told = someone.client.get("/api/data").json()
        refused = someone.client.post("/api/protect", json={})
    assert told["records"] == 60
    assert {one["name"]: one["role"] for one in told["columns"]}["age"] == "outcome"
    assert refused.status_code == 422
    assert "sfumato protect PLAN FOLDER" in refused.json()["detail"]


def test_a_file_that_cannot_be_read_is_told_in_the_command_lines_words(tmp_path):
    with looking(tmp_path) as someone:
        (tmp_path / "empty.csv").write_bytes(b"")
        someone.studio.open(Source(tmp_path / "empty.csv"))
        answer = someone.client.get("/api/data")
    assert (answer.status_code, answer.json()["detail"].startswith("'empty.csv' ")) == (422, True)
