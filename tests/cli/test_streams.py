import errno
import io
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from sfumato.cli.streams import Streams


@contextmanager
def stdout_to_pipe(monkeypatch):
    """Makes stdout a pipe of this process, and gives its other end."""
    keep = os.dup(1)
    source, end = os.pipe()
    os.dup2(end, 1)
    os.close(end)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8"))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    try:
        yield source
    finally:
        os.dup2(keep, 1)
        os.close(keep)


def test_what_is_printed_arrives(monkeypatch):
    with stdout_to_pipe(monkeypatch) as source:
        streams = Streams()
        print("é")
        assert streams.end(0) == 0
        assert os.read(source, 10) == "é\n".encode()
    os.close(source)


@pytest.mark.parametrize("status", [0, 1])
def test_a_reader_that_goes_away_changes_nothing(monkeypatch, status):
    with stdout_to_pipe(monkeypatch) as source:
        streams = Streams()
        os.close(source)
        for _ in range(3):
            print("x" * 100_000, flush=True)
        assert streams.end(status) == status
        assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize(("status", "left"), [(0, 2), (1, 1), (2, 2), (130, 130)])
def test_a_full_disk_is_told_at_the_end(monkeypatch, status, left):
    def full(descriptor, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with stdout_to_pipe(monkeypatch) as source:
        streams = Streams()
        monkeypatch.setattr(os, "write", full)
        print("x", flush=True)
        assert streams.end(status) == left
        assert "could be written to stdout: No space left on device" in sys.stderr.getvalue()
    os.close(source)


def test_no_stdout_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    streams = Streams()
    assert streams.end(0) == 0
    print("x")
    assert streams.end(0) == 2
    assert "Bad file descriptor" in sys.stderr.getvalue()


def test_a_stream_of_no_process_stays(monkeypatch):
    """As pytest and others put them in place."""
    mine = io.StringIO()
    monkeypatch.setattr(sys, "stdout", mine)
    monkeypatch.setattr(sys, "stderr", mine)
    Streams()
    assert sys.stdout is sys.stderr is mine


def test_what_is_said_on_stderr_does_not_wait():
    script = """
import sys, time
from sfumato.cli.streams import Streams
Streams()
print(1, file=sys.stderr)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline() == "1\n"
        process.kill()


def test_what_the_encoding_does_not_have_is_written_with_backslashes(monkeypatch):
    with stdout_to_pipe(monkeypatch) as source:
        sys.stdout.reconfigure(encoding="cp1252")
        streams = Streams()
        print("é ω")
        assert streams.end(0) == 0
        assert os.read(source, 20) == b"\xe9 \\u03c9\n"
    os.close(source)
