"""Jobs, with a process that is none: what becomes of those whose process ends, and of what they wrote."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from sfumato.web.problems import Problem
from sfumato.web.studio import jobs as module
from sfumato.web.studio.jobs import Jobs
from sfumato.web.studio.source import Source
from sfumato.web.studio.tasks import Work


class Process:
    """Stands for the process of a worker."""

    def __init__(self, pipe):
        self.pipe, self.alive = pipe, True

    def is_alive(self):
        return self.alive

    def kill(self):
        self.alive = False
        self.pipe.close()

    def start(self):
        pass

    def join(self, _):
        pass


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Jobs, the processes that were started, and what makes work."""
    started = []

    class Context:
        @staticmethod
        def Pipe():
            ours, theirs = multiprocessing.Pipe()
            copy = multiprocessing.connection.Connection(os.dup(theirs.fileno()))
            started.append(Process(copy))
            return ours, theirs

        @staticmethod
        def Process(**_):
            return started[-1]

    monkeypatch.setattr(module.multiprocessing, "get_context", lambda _: Context)
    made = Jobs()

    def work(task="protect"):
        out = tmp_path / f"{task}-{time.monotonic_ns()}"
        out.mkdir()
        return Work(task, Source(Path("none")), (0, 0, 0, 0), "", tmp_path, out=out)

    yield made, started, work
    made.close()


def until(look):
    last = time.monotonic() + 60
    while time.monotonic() < last:
        if look():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_a_job_is_told_of_and_the_next_waits(world):
    jobs, started, work = world
    job = jobs.start(work())
    with pytest.raises(Problem) as raised:
        jobs.start(work())
    assert (raised.value.status, raised.value.more) == (409, {"job": job.id})
    started[-1].pipe.send(("progress", "looking", 0.5))
    until(lambda: job.progress == 0.5)
    started[-1].pipe.send(("done", {"ok": True}))
    until(lambda: job.state == "done")
    assert job.to_plain() == {"state": "done", "progress": 1.0, "message": "Done.", "result": {"ok": True}}
    assert jobs.running is None
    assert jobs.last("protect") is job
    assert jobs.last("tune") is None


def test_a_process_that_ends_fails_its_job_and_crashes_in_a_row_do_no_harm(world):
    jobs, started, work = world
    for count in range(1, 4):
        job = jobs.start(work())
        assert len(started) == count
        started[-1].kill()
        until(lambda job=job: job.state == "failed" and not job.work.out.exists())
        assert "memory" in job.message
    assert jobs.start(work()).state == "running"


def test_a_job_is_not_lost_if_another_process_is_started_before_the_end_of_its_own_is_heard(world):
    jobs, started, work = world
    job = jobs.start(work())
    with jobs._lock:  # nothing is heard meanwhile
        started[-1].kill()
        jobs.warm()
    until(lambda: job.state == "failed")
    assert len(started) == 2
    assert jobs.start(work()).state == "running"


def test_a_cancelled_job_stays_cancelled_and_its_folder_goes(world):
    jobs, started, work = world
    job = jobs.start(work())
    jobs.cancel(job.id)
    assert (job.state, job.result) == ("cancelled", None)
    assert not started[0].is_alive()
    assert not job.work.out.exists()
    until(lambda: len(started) == 2)  # the next one waits already
    jobs.cancel(job.id)
    assert job.state == "cancelled"


def test_the_folder_of_an_older_job_of_the_same_task_goes(world):
    jobs, started, work = world
    made = []
    for task in ("protect", "tune", "protect"):
        made.append(jobs.start(work(task)))
        started[-1].pipe.send(("done", {}))
        until(lambda: made[-1].state == "done")
    until(lambda: not made[0].work.out.exists())
    assert [job.work.out.exists() for job in made] == [False, True, True]


def test_of_very_many_jobs_the_newest_of_each_task_stays(world):
    jobs, started, work = world
    made = []
    for task in ("protect", *["model"] * 25):
        made.append(jobs.start(work(task)))
        started[-1].pipe.send(("done", {}))
        until(lambda: made[-1].state == "done")
    assert jobs.last("protect") is made[0]
    assert made[0].work.out.exists()
    assert list(jobs.all("model")) == made[:-21:-1]


def test_what_is_not_there_and_what_is_closed(world):
    jobs, _, work = world
    with pytest.raises(Problem) as raised:
        jobs.find("none")
    assert raised.value.status == 404
    jobs.close()
    assert jobs.start(work()).state == "failed"
