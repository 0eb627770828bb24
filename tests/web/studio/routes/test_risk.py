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
