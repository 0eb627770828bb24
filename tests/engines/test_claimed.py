"""Folders of processes that are no more are removed, and no others."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from sfumato.engines.claimed import Claimed
from sfumato.errors import FileError


def test_what_nobody_holds_is_swept(tmp_path):
    own = Claimed("mine-", tmp_path)
    for name in ("mine-killed", "other-killed", "mine-new", "mine-old"):
        (tmp_path / name).mkdir()
    for name in ("mine-killed", "other-killed"):
        (tmp_path / name / "lock").touch()
    os.utime(tmp_path / "mine-old", (0, 0))
    (tmp_path / "mine-link").symlink_to(tmp_path / "other-killed")
    again = Claimed("mine-", tmp_path)
    names = {"mine-link", "mine-new", "other-killed", own.path.name, again.path.name}
    assert {path.name for path in tmp_path.iterdir()} == names
    own.remove()
    again.remove()
    assert not own.path.exists()


def test_where_none_can_be_made(tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        Claimed("mine-", tmp_path / "nowhere")


def test_where_the_file_system_knows_no_locks_a_folder_is_made_and_none_is_swept(tmp_path, monkeypatch):
    def unknown(*asked):
        raise OSError(errno.ENOSYS, "PLANTED")

    monkeypatch.setattr(fcntl, "flock", unknown)
    first = Claimed("mine-", tmp_path)
    os.utime(first.path, (0, 0))
    second = Claimed("mine-", tmp_path)
    assert first.path.exists()
    first.remove()
    second.remove()
    assert not list(tmp_path.iterdir())


def test_where_the_lock_cannot_be_written_no_folder_is_left(tmp_path, monkeypatch):
    def full(*asked, **named):
        raise OSError(errno.ENOSPC, "PLANTED")

    claimed = Claimed("mine-", tmp_path)
    monkeypatch.setattr("sfumato.engines.claimed.hold", full)
    with pytest.raises(FileError, match="No space left"):
        Claimed("other-", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [claimed.path.name]
    claimed.remove()


FORKING = """
import os, sys
from pathlib import Path
from sfumato.engines.claimed import Claimed

claimed = Claimed("mine-", Path(sys.argv[1]))
if not (child := os.fork()):
    claimed.remove()
    os._exit(0)
os.waitpid(child, 0)
Claimed("mine-", Path(sys.argv[1])).remove()
assert claimed.path.exists()
claimed.remove()
"""


def test_a_forked_child_leaves_the_folder_to_its_parent(tmp_path):
    """In a process of its own, for this one may have threads."""
    done = subprocess.run([sys.executable, "-c", FORKING, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())
