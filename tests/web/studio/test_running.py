"""Running a studio: its port, and what is left where it does not begin. That it ends is tested with a process."""

import io
import socket
import threading

import pytest

from sfumato.errors import FileError
from sfumato.release.secret import Secret
from sfumato.web.studio import running
from sfumato.web.studio.running import each_line, run_studio


@pytest.fixture
def begun():
    """What was told of those that began, of which there are to be none."""
    return []


def start(begun, file, port=0):
    run_studio(file, None, Secret(bytes(32)), {}, port, lambda *told: begun.append(told))


def test_a_port_that_is_taken(tmp_path, begun):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(FileError, match="Cannot listen"):
            start(begun, tmp_path / "none.csv", taken.getsockname()[1])
    assert begun == []


def test_a_file_that_is_not_there_gives_the_port_back(tmp_path, begun, monkeypatch):
    made = []
    listening = running.listening

    def listens(host, port):
        made.append(listening(host, port))
        return made[-1]

    monkeypatch.setattr(running, "listening", listens)
    with pytest.raises(FileError, match="no file"):
        start(begun, tmp_path / "none.csv")
    assert made[0].fileno() == -1
    assert begun == []


def test_what_is_still_worked_out_does_not_keep_it(monkeypatch):
    """A signal ends it in time: what is left of the work is not waited for."""
    done = []
    studio = type("Studio", (), {"close": lambda self: done.append("closed")})()
    monkeypatch.setattr(running, "leave", done.append)
    running._left(studio)
    assert done == ["closed", 0]


def test_each_line_of_the_terminal_does_something(monkeypatch):
    told = threading.Semaphore(0)
    monkeypatch.setattr(running.sys, "stdin", io.StringIO("\n\n\n"))
    each_line(told.release)
    assert all(told.acquire(timeout=10) for _ in range(3))
