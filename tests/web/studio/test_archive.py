"""Archives of releases: what is packed, and what is refused before anything is unpacked."""

import errno
import io
import stat
import zipfile
from contextlib import suppress

import pytest

from sfumato.errors import FileError
from sfumato.web.studio import archive
from sfumato.web.studio.archive import packed, unpacked


def made(files, **info):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            one = zipfile.ZipInfo(name)
            one.compress_type = zipfile.ZIP_DEFLATED
            for key, value in info.items():
                setattr(one, key, value)
            file.writestr(one, content)
    out.seek(0)
    return out


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "datapackage.json").write_text("{}")
    (folder / "data.csv").write_text("a\n1\n")
    return folder


def test_equal_folders_make_equal_archives(release):
    first = packed(release, {"plan.yaml": b"x"})
    (release / "data.csv").touch()
    assert packed(release, {"plan.yaml": b"x"}) == first
    with zipfile.ZipFile(io.BytesIO(first)) as file:
        assert file.namelist() == ["plan.yaml", "release/data.csv", "release/datapackage.json"]


def test_what_was_packed_is_found_again(release, tmp_path):
    to = tmp_path / "to"
    to.mkdir()
    found = unpacked(io.BytesIO(packed(release, {"plan.yaml": b"x"})), to)
    assert {p.name: p.read_bytes() for p in found.iterdir()} == {p.name: p.read_bytes() for p in release.iterdir()}


@pytest.mark.parametrize(
    "name", ["../out.txt", "/out.txt", "release/../../out.txt", "C:\\out.txt", "a\\..\\..\\out.txt", "c:out.txt"]
)
def test_paths_that_lead_out_are_refused(tmp_path, name):
    to = tmp_path / "to"
    to.mkdir()
    with pytest.raises(FileError, match="leads out"):
        unpacked(made({"datapackage.json": "{}", name: "x"}), to)
    assert not list(to.iterdir())
    assert not (tmp_path / "out.txt").exists()


def test_links_are_refused(tmp_path):
    with pytest.raises(FileError, match="link"):
        unpacked(made({"datapackage.json": "/etc/passwd"}, external_attr=(stat.S_IFLNK | 0o777) << 16), tmp_path)
    assert not list(tmp_path.iterdir())


def test_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_MOST_RATIO", 3)
    with pytest.raises(FileError, match="too large"):
        unpacked(made({"datapackage.json": "{}", "data.csv": bytes(4 << 20)}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_larger_than_it_says_is_refused(tmp_path):
    content = made({"datapackage.json": "{}" * 5000}).getvalue()
    lying = content.replace((10_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    with pytest.raises(FileError):
        unpacked(io.BytesIO(lying), tmp_path)


def test_archives_of_too_many_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_MOST_FILES", 3)
    with pytest.raises(FileError, match="more than 3"):
        unpacked(made({f"{i}.txt": "" for i in range(4)}), tmp_path)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04" + bytes(40)])
def test_what_is_no_archive_is_refused(tmp_path, content):
    with pytest.raises(FileError, match="cannot be read"):
        unpacked(io.BytesIO(content), tmp_path)


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_is_broken_anywhere_is_told_as_such(tmp_path, kind):
    """Each library that unpacks has errors of its own; no byte that is changed leads to another answer."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as file:
        file.writestr("release/datapackage.json", "{}" * 50)
    whole = out.getvalue()
    for at in range(0, len(whole), 3):
        folder = tmp_path / str(at)
        folder.mkdir()
        with suppress(FileError):
            unpacked(io.BytesIO(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :]), folder)


def test_a_disk_without_room_is_told_before_or_while_it_is_unpacked(release, tmp_path, monkeypatch):
    content = packed(release, {})
    for number, (place, what) in enumerate(
        (
            ("shutil.disk_usage", lambda _: type("Room", (), {"free": 10 << 20})),
            ("_copied", raising(OSError(errno.ENOSPC, "full"))),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with monkeypatch.context() as patched:
            patched.setattr(f"sfumato.web.studio.archive.{place}", what)
            with pytest.raises(FileError, match="not enough room"):
                unpacked(io.BytesIO(content), folder)


def raising(error):
    def act(*_):
        raise error

    return act


def test_an_archive_without_a_release_is_refused(tmp_path):
    with pytest.raises(FileError, match="no release"):
        unpacked(made({"a.txt": "x"}), tmp_path)
