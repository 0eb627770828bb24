"""Risk over REST."""

import sfumato as sf


def test_it_is_what_the_command_prints(visit):
    told = visit.client.get("/api/risk", params={"keys": "sex,region"}).json()
    expected = sf.risk(sf.read(visit.folder / "cohort.csv"), keys=["sex", "region"])
    assert told == {"findings": [f.to_plain() for f in expected], "notes": list(expected.notes)}


def test_unknown_columns_are_told(visit):
    answer = visit.client.get("/api/risk", params={"keys": "nobody"})
    assert answer.status_code == 422
    assert "nobody" in answer.json()["detail"]


def test_keys_are_needed(visit):
    assert visit.client.get("/api/risk").status_code == 422
    assert visit.client.get("/api/risk", params={"keys": ","}).status_code == 422


def test_identifiers_are_no_keys_unless_the_plan_says_so(visit):
    values = visit.studio.opened.table.frame["nhs_number"].drop_nulls()
    answer = visit.client.get("/api/risk", params={"keys": "sex,nhs_number"})
    assert answer.status_code == 422
    assert "'nhs_number'" in answer.json()["detail"]
    assert not any(value in answer.text for value in values)
    assert visit.client.get("/api/risk", params={"keys": "sex", "sensitive": "nhs_number"}).status_code == 422
    edit = {"op": "set", "path": ["variables", "nhs_number", "role"], "value": "key"}
    assert visit.change("POST", "/api/edit", json=edit).status_code == 200
    assert visit.client.get("/api/risk", params={"keys": "sex,nhs_number"}).status_code == 200
    visit.studio.planned.undo()
