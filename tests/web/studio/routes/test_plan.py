"""The plan over REST."""

import hashlib

import pytest

from sfumato.plan.plan import Plan


@pytest.fixture(autouse=True)
def _as_it_was(visit):
    first = visit.studio.planned.text
    yield
    while visit.studio.planned.text != first:
        visit.studio.planned.undo()


def test_the_draft_is_there_with_its_digest(visit):
    answer = visit.client.get("/api/plan")
    assert answer.headers["content-type"].startswith("text/yaml")
    assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.content).hexdigest()}"'
    assert Plan.from_yaml(answer.text).steps


def test_another_text_is_taken_if_the_last_one_was_seen(visit):
    text = visit.client.get("/api/plan").text.replace("title:", "title: '2'  #")
    headers = {"X-Sfumato": "1"}
    assert visit.client.put("/api/plan", content=text, headers=headers).status_code == 428
    answer = visit.change("PUT", "/api/plan", content=text)
    assert (answer.status_code, answer.json()) == (200, {"problems": []})
    assert answer.headers["ETag"] == visit.tag
    stale = visit.client.put("/api/plan", content=text, headers={**headers, "If-Match": '"another"'})
    assert stale.status_code == 409


def test_what_is_no_plan_is_told_with_its_line_and_not_stored(visit):
    before = visit.tag
    answer = visit.change("PUT", "/api/plan", content="sfumato: 1\ntitle: t\nsteps:\n  - {do: nothing}\n")
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert problem["line"] == 4
    assert "`do` must name a method" in problem["message"]
    assert visit.tag == before


def test_what_the_data_object_to_is_listed_and_stored(visit):
    text = "sfumato: 1\ntitle: t\nsteps:\n  - {do: drop, columns: [nobody]}\n"
    answer = visit.change("PUT", "/api/plan", content=text)
    assert answer.status_code == 200
    assert [p["line"] for p in answer.json()["problems"] if "nobody" in p["message"]] == [4]
    assert visit.client.get("/api/plan").text == text


def test_a_check_stores_nothing(visit):
    before = visit.tag
    for text in ("sfumato: 1\ntitle: t\nsteps:\n  - {do: drop, columns: [nobody]}\n", "steps: ["):
        answer = visit.client.post("/api/check", content=text, headers={"X-Sfumato": "1"})
        assert answer.status_code == 200
        assert answer.json()["problems"]
    assert visit.tag == before


def test_an_edit_changes_one_line(visit):
    before = visit.client.get("/api/plan").text
    step = [step.name for step in Plan.from_yaml(before).steps].index("swap")
    answer = visit.change("POST", "/api/edit", json={"op": "set", "path": ["steps", step, "group"], "value": 19})
    assert answer.status_code == 200
    lines = zip(before.splitlines(), visit.client.get("/api/plan").text.splitlines(), strict=True)
    assert sum(a != b for a, b in lines) == 1
    undone = visit.client.post("/api/undo", headers={"X-Sfumato": "1"})
    assert undone.status_code == 200
    assert visit.client.get("/api/plan").text == before
    assert visit.client.post("/api/redo", headers={"X-Sfumato": "1"}).status_code == 200


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "set", "path": ["steps", 99, "k"], "value": 5},
        {"op": "remove", "path": ["steps", 99]},
        {"op": "jump", "path": ["steps"]},
        {"path": ["steps"]},
        {},
    ],
)
def test_an_edit_that_leads_nowhere_is_told(visit, edit):
    before = visit.tag
    answer = visit.change("POST", "/api/edit", json=edit)
    assert answer.status_code == 422
    assert answer.json()["problems"]
    assert visit.tag == before


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * ((1 << 20) + 1)])
def test_bytes_that_are_no_text_or_too_many_are_refused(visit, content):
    assert visit.change("PUT", "/api/plan", content=content).status_code in (413, 422)
