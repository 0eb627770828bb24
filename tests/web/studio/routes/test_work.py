"""Long work over REST: begun, looked at, followed, cancelled."""

import json

import pytest

from sfumato.web.studio.jobs import Job, Jobs
from tests.web.studio.pages.opened import looking


class Waiting(Jobs):
    """Work that goes on until it is told otherwise."""

    def warm(self):
        pass

    def start(self, work):
        job = self._jobs[f"j{len(self._jobs)}"] = Job(f"j{len(self._jobs)}", work)
        return job


@pytest.fixture(scope="module")
def someone(tmp_path_factory):
    with looking(tmp_path_factory.mktemp("work")) as one:
        yield one


@pytest.fixture(autouse=True)
def jobs(someone):
    someone.studio.jobs = Waiting()
    return someone.studio.jobs


TUNING = {"parameter": "steps.0.k", "low": 3, "high": 5}


@pytest.mark.parametrize(("task", "body"), [("protect", {"force": False}), ("protect", {}), ("tune", TUNING)])
def test_it_begins_and_one_is_done_at_a_time(someone, jobs, task, body):
    answer = someone.client.post(f"/api/{task}", json=body)
    job = jobs.running
    assert (answer.status_code, answer.json()) == (202, {"job": job.id})
    assert job.work.options.items() >= body.items()
    for other in ("protect", "tune"):
        again = someone.client.post(f"/api/{other}", json={} if other == "protect" else TUNING)
        assert (again.status_code, again.json()["job"]) == (409, job.id)
    told = someone.client.get(f"/api/jobs/{job.id}").json()
    assert told == {"state": "running", "progress": None, "message": "", "result": None}


def test_it_is_cancelled_once(someone, jobs):
    id_ = someone.client.post("/api/protect", json={}).json()["job"]
    for _ in range(2):
        answer = someone.client.delete(f"/api/jobs/{id_}")
        assert (answer.status_code, answer.content) == (204, b"")
    assert someone.client.get(f"/api/jobs/{id_}").json()["state"] == "cancelled"
    assert not jobs.find(id_).work.out.exists()
    assert someone.client.post("/api/protect", json={}).status_code == 202


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_events_are_the_same_and_end_with_the_work(someone, jobs, state):
    id_ = someone.client.post("/api/protect", json={}).json()["job"]
    jobs.find(id_).tell(state=state, result={"ok": True}, message="So.")
    answer = someone.client.get(f"/api/jobs/{id_}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    (line,) = [line for line in answer.text.splitlines() if line.startswith("data:")]
    assert json.loads(line.removeprefix("data:")) == someone.client.get(f"/api/jobs/{id_}").json()


def test_events_end_with_the_studio(someone, jobs):
    id_ = someone.client.post("/api/protect", json={}).json()["job"]
    someone.studio.ending.set()
    assert someone.client.get(f"/api/jobs/{id_}/events").status_code == 200
    someone.studio.ending.clear()


@pytest.mark.parametrize(("method", "path"), [("GET", "none"), ("GET", "none/events"), ("DELETE", "none")])
def test_work_that_is_not_there(someone, method, path):
    assert someone.client.request(method, f"/api/jobs/{path}").status_code == 404


@pytest.mark.parametrize(
    ("task", "body"),
    [
        ("protect", {"force": "perhaps"}),
        ("protect", {"fast": True}),
        ("protect", []),
        ("tune", {}),
        ("tune", TUNING | {"low": "few"}),
        ("tune", TUNING | {"replications": 0}),
        ("tune", TUNING | {"family": "odd"}),
    ],
)
def test_what_is_asked_wrongly_is_told(someone, jobs, task, body):
    answer = someone.client.post(f"/api/{task}", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert jobs.running is None


def test_a_plan_that_cannot_run_is_told_with_its_lines(someone):
    planned = someone.studio.planned
    planned.change("*", lambda text: text.replace("columns: [age, dose]", "columns: [nobody]"))
    answer = someone.client.post("/api/protect", json={})
    planned.undo()
    assert answer.status_code == 422
    assert any("nobody" in one["message"] and one["line"] == 8 for one in answer.json()["problems"])
