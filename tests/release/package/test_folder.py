import errno
import os
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from sfumato.data.files.locks import locked
from sfumato.errors import FileError, ReleaseExists
from sfumato.release.package.folder import whole_folder, whole_folders

HOLD = """
import signal, sys
from pathlib import Path
from sfumato.release.package import folder
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the tests were started to ignore
point = sys.argv[2]
def hold():
    print("ready", flush=True)
    sys.stdin.read()  # until a signal comes, or the tests are gone
if point == "settling":
    folder._settle = lambda *a: hold()
if point == "renaming":
    real = Path.rename
    def rename(self, to):
        hold()
    Path.rename = rename
with folder.whole_folder(Path(sys.argv[1]), overwrite=True) as work:
    if point == "empty": hold()
    (work / "data.csv").write_text("a\\n1\\n")
    if point == "half": hold()
"""


def start(target, point):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target), point],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("point", ["empty", "half", "settling", "renaming"])
def test_kill_leaves_nothing_under_the_name_and_the_next_run_cleans_up(tmp_path, point):
    target = tmp_path / "release"
    process = start(target, point)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not target.exists()
    assert len(list(tmp_path.iterdir())) == 2  # the folder, and its lock
    with whole_folder(target) as work:
        (work / "data.csv").write_text("a\n2\n")
    assert [p.name for p in tmp_path.iterdir()] == ["release"]
    assert (target / "data.csv").read_text() == "a\n2\n"


@pytest.mark.slow
@pytest.mark.parametrize("point", ["empty", "half", "settling"])
def test_interrupt_leaves_nothing(tmp_path, point):
    process = start(tmp_path / "release", point)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_run_that_is_alive_keeps_its_folder(tmp_path):
    process = start(tmp_path / "release", "half")
    try:
        with whole_folder(tmp_path / "release") as work:
            (work / "data.csv").write_text("")
        assert len(list(tmp_path.iterdir())) == 3  # this release, and of the other run its folder and lock
    finally:
        process.kill()
        process.communicate()


def test_a_run_of_another_machine_keeps_its_folder_while_it_holds_the_lock(tmp_path):
    """No process here has its number."""
    other = tmp_path / ".sfumato-release-99999999-01234567.tmp"
    other.mkdir()
    for held in (True, False):
        with locked(other) if held else nullcontext(), whole_folder(tmp_path / "release") as work:
            (work / "datapackage.json").write_text("new")
            assert other.exists() == held
        shutil.rmtree(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_leaves_what_was_there(tmp_path):
    target = tmp_path / "release"
    with whole_folder(target) as work:
        (work / "datapackage.json").write_text("old")
    with pytest.raises(ZeroDivisionError), whole_folder(target, overwrite=True) as work:
        (work / "datapackage.json").write_text("new")
        raise ZeroDivisionError
    assert (target / "datapackage.json").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["release"]


def test_a_full_disk_is_a_clear_error(tmp_path):
    with pytest.raises(FileError, match="No space left"), whole_folder(tmp_path / "release"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_replaced_only_when_asked_and_only_if_it_is_a_release(tmp_path):
    target = tmp_path / "release"
    with whole_folder(target) as work:
        (work / "datapackage.json").write_text("old")
    with pytest.raises(ReleaseExists, match="exists already"), whole_folder(target):
        pass
    with whole_folder(target, overwrite=True) as work:
        (work / "datapackage.json").write_text("new")
    assert (target / "datapackage.json").read_text() == "new"
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    with pytest.raises(ReleaseExists, match="not a release"), whole_folder(precious, overwrite=True):
        pass
    assert (precious / "thesis.tex").exists()
    (target / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseExists, match="other files"), whole_folder(target, overwrite=True) as work:
        pass
    assert (target / "notes.txt").exists()


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_link_is_refused(tmp_path, overwrite):
    with whole_folder(tmp_path / "release") as work:
        (work / "datapackage.json").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "release")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    before = set(tmp_path.iterdir())
    for name in ("link", "dangling"):
        with pytest.raises(FileError, match="symbolic link"), whole_folder(tmp_path / name, overwrite=overwrite):
            raise AssertionError("the body must not run")
    assert set(tmp_path.iterdir()) == before
    assert (tmp_path / "release" / "datapackage.json").read_text() == "old"


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError, match="Permission denied"), whole_folder(tmp_path / "release"):
        pass


@pytest.mark.parametrize("fault", [OSError(errno.EIO, os.strerror(errno.EIO)), KeyboardInterrupt()])
def test_a_failed_rename_brings_the_old_one_back(tmp_path, monkeypatch, fault):
    target = tmp_path / "release"
    with whole_folder(target) as work:
        (work / "datapackage.json").write_text("old")
    real, calls = Path.rename, []

    def rename(self, to):
        calls.append(to)
        if len(calls) == 2:
            raise fault
        return real(self, to)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises((FileError, KeyboardInterrupt)), whole_folder(target, overwrite=True) as work:
        (work / "datapackage.json").write_text("new")
    assert (target / "datapackage.json").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("fault", [OSError(errno.EIO, os.strerror(errno.EIO)), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [(), ("a",), ("b",), ("a", "b")])
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_several_folders_are_there_all_or_none(tmp_path, monkeypatch, fault, there, nth):
    targets = [tmp_path / "a", tmp_path / "b"]
    for name in there:
        with whole_folder(tmp_path / name) as work:
            (work / "datapackage.json").write_text("old")
    real, calls = Path.rename, []

    def rename(self, to):
        calls.append(to)
        if len(calls) == nth:
            raise fault
        return real(self, to)

    monkeypatch.setattr(Path, "rename", rename)
    failed = False
    try:
        with whole_folders(targets, overwrite=True) as works:
            for work in works:
                (work / "datapackage.json").write_text("new")
    except (FileError, KeyboardInterrupt):
        failed = True
    found = {path.name: (path / "datapackage.json").read_text() for path in tmp_path.iterdir()}
    assert failed == (nth <= 2 + len(there))
    assert found == (dict.fromkeys(there, "old") if failed else {"a": "new", "b": "new"})
