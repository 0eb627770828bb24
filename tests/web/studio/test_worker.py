"""The process that does long work: what comes back through the pipe, whatever happens in it."""

import errno
import multiprocessing
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from sfumato.errors import DataError
from sfumato.web.studio import worker
from sfumato.web.studio.source import Source
from sfumato.web.studio.tasks import Work

SECRET_VALUE = "Braund, Mr. Owen"


def asked(task="here"):
    return Work(task, Source(Path("none")), (0, 0, 0, 0), "", Path())


def raising(error):
    def task(work, progress):
        raise error

    return task


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DataError("The column is not there."), "The column is not there."),
        (MemoryError(), "The memory of this machine does not do for it"),
        (OSError(errno.ENOSPC, "x"), "The disk of temporary files is full"),
        (OSError(errno.EIO, SECRET_VALUE), "A fault of its own (OSError)."),
        (ValueError(SECRET_VALUE), "A fault of its own (ValueError)."),
        (KeyError(SECRET_VALUE), "A fault of its own (KeyError)."),
    ],
)
def test_what_is_raised_is_a_sentence_without_values(monkeypatch, error, said):
    monkeypatch.setattr(worker, "TASKS", {"here": raising(error)})
    state, text = worker._done(asked(), None)
    assert state == "failed"
    assert text.startswith(said)
    assert SECRET_VALUE not in text


def test_progress_is_told_from_time_to_time_and_within_its_bounds(monkeypatch):
    ours, theirs = multiprocessing.Pipe()
    clock = iter([1.0, 1.05, 2.0, 3.0])
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: next(clock)))

    def task(work, progress):
        for share in (0.1, 0.2, 7.0, -1.0):
            progress("looking", share)
        return {"a": 1}

    monkeypatch.setattr(worker, "TASKS", {"here": task})
    assert worker._done(asked(), theirs) == ("done", {"a": 1})
    told = [ours.recv() for _ in range(3)]
    assert told == [("progress", "looking", 0.1), ("progress", "looking", 1.0), ("progress", "looking", 0.0)]
    assert not ours.poll()


def test_it_does_one_piece_after_another_until_the_pipe_is_closed(monkeypatch):
    ours, theirs = multiprocessing.Pipe()
    left = []
    monkeypatch.setattr(
        worker, "TASKS", {"here": lambda work, progress: {"task": work.task}, "odd": raising(KeyError())}
    )
    monkeypatch.setattr(worker, "end_with_parent", lambda: None)
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker, "Path", lambda _: Path("/none/such"))  # this process is to stay as it is

    def leave(status):
        left.append(status)
        raise SystemExit

    monkeypatch.setattr(worker, "leave", leave)
    states = []

    def asking():
        for task in ("here", "odd", "here"):
            ours.send(asked(task))
            states.append(ours.recv()[0])
        ours.close()

    thread = threading.Thread(target=asking)
    thread.start()
    with pytest.raises(SystemExit):
        worker.work(theirs)
    thread.join(10)
    assert (states, left) == (["done", "failed", "done"], [0])
