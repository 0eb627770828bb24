"""Copying a release to where it is wanted."""

import errno
import os

import pytest

from sfumato.api.place import place
from sfumato.errors import FileError, ReleaseExists


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    for name in ("data.csv", "datapackage.json", "plan.yaml", "report.html"):
        (folder / name).write_text(name)
    return folder


def test_every_byte_is_copied(made, tmp_path):
    place(made, tmp_path / "there")
    assert {p.name: p.read_text() for p in (tmp_path / "there").iterdir()} == {p.name: p.name for p in made.iterdir()}


def test_what_is_there_stays_unless_it_is_a_release_that_may_go(made, tmp_path):
    place(made, tmp_path / "there")
    with pytest.raises(ReleaseExists):
        place(made, tmp_path / "there")
    place(made, tmp_path / "there", overwrite=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(ReleaseExists):
        place(made, tmp_path / "other", overwrite=True)


def test_no_folder_above_it(made, tmp_path):
    with pytest.raises(FileError, match="is no folder"):
        place(made, tmp_path / "none" / "there")
    assert not (tmp_path / "none").exists()


def test_a_full_disk_is_told_and_leaves_nothing(made, tmp_path, monkeypatch):
    def full(source, to):
        to.write_bytes(source.read_bytes()[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("sfumato.api.place.shutil.copyfile", full)
    with pytest.raises(FileError, match="No space left on device"):
        place(made, tmp_path / "full")
    assert sorted(tmp_path.rglob("*")) == before
