import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.data.files.atomic import replacing
from sfumato.errors import DataError, FileError


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".sfumato-a.csv-")
        assert temporary.name.endswith(".tmp")
    assert target.read_text() == "new"
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit, DataError, MemoryError, ValueError, GeneratorExit])
def test_nothing_is_left_behind(tmp_path, fault):
    target = tmp_path / "a.csv"
    target.write_text("old")
    expected = FileError if fault in (MemoryError, ValueError) else fault
    with pytest.raises(expected), replacing(target) as temporary:
        temporary.write_text("half")
        raise fault("PLANTED")
    assert names(tmp_path) == ["a.csv"]
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        (OSError(errno.ENOSPC, "PLANTED"), "disk is full"),
        (OSError(errno.EDQUOT, "PLANTED"), "disk is full"),
        (OSError(errno.EROFS, "PLANTED"), "permission"),
        (PermissionError(errno.EACCES, "PLANTED"), "permission"),
        (OSError(errno.EFBIG, "PLANTED"), "File too large"),
        (OSError("PLANTED: No space left on device (os error 28)"), "disk is full"),
        (RuntimeError(OSError(errno.ENOSPC, "PLANTED")), "disk is full"),
        (RuntimeError("PLANTED"), "failed"),
    ],
)
def test_the_reason_is_told_but_not_in_the_library_words(tmp_path, fault, word):
    with pytest.raises(FileError, match=word) as caught, replacing(tmp_path / "a.csv"):
        raise fault
    assert "PLANTED" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert names(tmp_path) == []


def test_a_disk_that_is_full_when_the_file_is_flushed(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="disk is full"), replacing(tmp_path / "a.csv") as temporary:
        temporary.write_text("whole")
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    def denied(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(FileError, match="no permission"), replacing(tmp_path / "a.csv"):
        raise AssertionError("the body must not run")
    assert names(tmp_path) == []


def test_odd_targets_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target, word in (
        (tmp_path, "folder"),
        (tmp_path / "none" / "a.csv", "does not exist"),
        (tmp_path / "pipe", "ordinary"),
    ):
        with pytest.raises(FileError, match=word), replacing(target):
            raise AssertionError("the body must not run")


def test_a_link_is_refused_and_folders_may_be_links(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real" / "a.csv")
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "none")
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    for name in ("link.csv", "dangling.csv", "folder"):
        with pytest.raises(FileError, match=f"{name}' is a symbolic link"), replacing(tmp_path / name):
            raise AssertionError("the body must not run")
    assert (tmp_path / "real" / "a.csv").read_text() == "old"
    with replacing(tmp_path / "folder" / "a.csv") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "real" / "a.csv").read_text() == "new"
    assert names(tmp_path) == ["dangling.csv", "folder", "link.csv", "real"]


def test_a_private_file_stays_private(tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    target.chmod(0o600)
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert target.stat().st_mode & 0o777 == 0o600


def test_only_what_was_left_for_the_same_target_is_removed(tmp_path):
    stale = tmp_path / ".sfumato-a.csv-0123456789abcdef.tmp"
    others = [".sfumato-b.csv-0123456789abcdef.tmp", ".sfumato-a.csv-mine.tmp", "a.csv.tmp"]
    others.append(".sfumato-a.csv-b-0123456789abcdef.tmp")  # Of a target named "a.csv-b".
    for name in [stale.name, *others]:
        (tmp_path / name).write_text("half")
    with replacing(tmp_path / "a.csv") as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == sorted([*others, "a.csv"])


def test_very_long_names(tmp_path):
    target = tmp_path / ("é" * 120 + ".csv")
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_a_lock_whose_file_is_about_to_be_made_is_not_removed(tmp_path):
    young, old = (tmp_path / f".sfumato-a.csv-{n * 16}.lock" for n in "01")
    young.touch()
    old.touch()
    os.utime(old, (0, 0))
    with replacing(tmp_path / "a.csv") as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == [young.name, "a.csv"]


def test_two_write_the_same_target_at_once(tmp_path):
    target = tmp_path / "a.csv"
    with replacing(target) as one:
        one.write_text("one")
        with replacing(target) as other:
            other.write_text("other")
        assert target.read_text() == "other"
    assert target.read_text() == "one"
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_a_file_system_without_locks(tmp_path, monkeypatch, number):
    def unknown(*asked):
        raise OSError(number, "PLANTED")

    monkeypatch.setattr(fcntl, "flock", unknown)
    (tmp_path / ".sfumato-a.csv-0123456789abcdef.tmp").write_text("half")
    with replacing(tmp_path / "a.csv") as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == ["a.csv"]


SCRIPT = """
import sys, time
from sfumato.data.files.atomic import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_killed_run_leaves_nothing_under_the_name_and_the_next_one_cleans_up(tmp_path):
    target = tmp_path / "a.csv"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(target)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "ready\n"
        # A run that is still writing keeps its file, whoever writes the same target meanwhile.
        with replacing(target) as temporary:
            temporary.write_text("mine")
        assert len(names(tmp_path)) == 3  # the target, and of the other run its file and lock
        target.unlink()
        process.send_signal(signal.SIGKILL)
    assert not target.exists()
    assert len(names(tmp_path)) == 2
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == ["a.csv"]
