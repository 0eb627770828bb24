"""Long work in a process of its own: one at a time, told of while it runs, stopped at once when nobody wants it."""

from __future__ import annotations

import multiprocessing
import secrets
import shutil
import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

from sfumato.web.problems import Problem
from sfumato.web.studio.tasks import Work
from sfumato.web.studio.worker import work as worker

__all__ = ["Job", "Jobs"]

State = Literal["running", "done", "failed", "cancelled"]
_KILLED = "The work ended before it was done; perhaps the memory of this machine did not do for it."
_MOST_KEPT = 20
_LASTING = frozenset({"fit"})
"""Tasks whose results are small: those of older work stay as well, for whoever still looks at them."""


@dataclass
class Job:
    """A piece of long work, and how far it is.

    Parameters
    ----------
    id
        By which it is asked for.
    work
        What is done.
    state, progress, message, result
        As they are told.
    begun, ended
        Seconds of a clock that never goes back.
    """

    id: str
    work: Work = field(repr=False)
    state: State = "running"
    progress: float | None = None
    message: str = ""
    result: dict[str, Any] | None = None
    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None
    pipe: Connection | None = field(default=None, repr=False)
    """To the process that does it."""
    changes: int = 0
    """How often it was told of: whoever watches sees by it whether there is anything new."""

    @property
    def seconds(self) -> float:
        """For how long it has run, or ran."""
        return (time.monotonic() if self.ended is None else self.ended) - self.begun

    def to_plain(self) -> dict[str, Any]:
        """What is told of it."""
        return {"state": self.state, "progress": self.progress, "message": self.message, "result": self.result}

    def tell(self, **news: Any) -> None:
        """Take over what is new."""
        for name, value in news.items():
            setattr(self, name, value)
        if self.state != "running" and self.ended is None:
            self.ended, self.pipe = time.monotonic(), None
        self.changes += 1


class Jobs:
    """All jobs of a studio, and the process that does them; it is started before it is needed, and again after its end.

    Examples
    --------
    >>> jobs = Jobs()
    >>> jobs.running is None
    True
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.RLock()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._closed = False

    @property
    def running(self) -> Job | None:
        """The job that runs."""
        return next((job for job in list(self._jobs.values()) if job.state == "running"), None)

    def warm(self) -> None:
        """Start the process."""
        with self._lock:
            if self._closed or (self._process is not None and self._process.is_alive()):
                return
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            self._process = context.Process(target=worker, args=(theirs,), daemon=True, name="studio-worker")
            self._process.start()
            theirs.close()
            self._pipe = ours
            threading.Thread(target=self._hear, args=(ours,), daemon=True).start()

    def start(self, work: Work) -> Job:
        """Begin a piece of work.

        Raises
        ------
        Problem
            409 with the id of the one that runs.
        """
        with self._lock:
            if (other := self.running) is not None:
                raise Problem(409, "Something else is being done. Wait for it, or cancel it.", {"job": other.id})
            self.warm()
            job = Job(secrets.token_urlsafe(9), work, pipe=self._pipe)
            for old in list(self._jobs)[: 1 - _MOST_KEPT]:
                if self.last(self._jobs[old].work.task) is not self._jobs[old]:  # pages show the newest of each task
                    _cleared(self._jobs.pop(old))
            self._jobs[job.id] = job
            if self._pipe is None:  # it was told to end
                job.tell(state="failed", message=_KILLED)
                return job
            try:
                self._pipe.send(work)
            except OSError:
                job.tell(state="failed", message=_KILLED)
                self._tidy(job)
            return job

    def find(self, id_: str) -> Job:
        """A job.

        Raises
        ------
        Problem
            404 where there is none.
        """
        if id_ not in self._jobs:
            raise Problem(404, "There is no such work.")
        return self._jobs[id_]

    def last(self, task: str) -> Job | None:
        """The newest job of a task."""
        return next(iter(self.all(task)), None)

    def all(self, task: str) -> list[Job]:
        """The jobs of a task, the newest first."""
        return [job for job in reversed(list(self._jobs.values())) if job.work.task == task]

    def cancel(self, id_: str) -> None:
        """Stop a job; one that is over stays as it is."""
        job = self.find(id_)
        with self._lock:
            if job.state == "running":
                job.tell(state="cancelled", message="Cancelled.", progress=None)
                self._end()
                self._tidy(job)
        self.warm()

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self._closed = True
            self._end()

    def _end(self) -> None:
        """Kill the process; its pipe is closed by who listens to it, whom another pipe of that number could mislead."""
        process, self._process, self._pipe = self._process, None, None
        if process is not None:
            process.kill()
            process.join(1)

    def _hear(self, pipe: Connection) -> None:
        """Listen to one process, until it ends."""
        while True:
            try:
                said = pipe.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                job = self._of(pipe)
                if job is None:
                    continue
                if said[0] == "progress":
                    job.tell(message=said[1], progress=said[2])
                elif said[0] == "done":
                    job.tell(state="done", result=said[1], progress=1.0, message="Done.")
                else:
                    job.tell(state="failed", message=said[1])
                self._tidy(job)
        with self._lock:
            pipe.close()
            if pipe is self._pipe:
                self._pipe = self._process = None
            if (job := self._of(pipe)) is not None:  # whatever was started since
                job.tell(state="failed", message=_KILLED)
                self._tidy(job)

    def _of(self, pipe: Connection) -> Job | None:
        """The job that the process at the other end of a pipe does."""
        return next((job for job in self._jobs.values() if job.pipe is pipe), None)

    def _tidy(self, job: Job) -> None:
        """Remove what a job wrote that came to nothing; of one that is done, what those before it wrote."""
        if job.state in ("failed", "cancelled"):
            _cleared(job)
        elif job.state == "done" and job.work.task not in _LASTING:
            for other in self._jobs.values():
                if other is not job and other.work.task == job.work.task:
                    _cleared(other)


def _cleared(job: Job) -> None:
    if job.work.out is not None:
        shutil.rmtree(job.work.out, ignore_errors=True)
