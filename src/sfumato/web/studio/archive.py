"""Release folders as archives: packed so that equal folders give equal bytes, unpacked from whoever sends them."""

from __future__ import annotations

import errno
import io
import shutil
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from sfumato.errors import FileError

__all__ = ["archived", "packed", "unpacked"]

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MOST_FILES, _MOST_BYTES, _MOST_RATIO = 1_000, 4 << 30, 200
_SPARE = 64 << 20
"""Bytes of the disk that are left to others."""
_FULL = "There is not enough room on the disk of this machine to unpack the archive."


def packed(folder: Path, beside: Mapping[str, bytes]) -> bytes:
    """A folder as an archive, below its own name.

    Parameters
    ----------
    folder
        What is packed.
    beside
        Further files, by path in the archive.
    """
    files = {
        f"{folder.name}/{p.relative_to(folder).as_posix()}": p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }
    return archived({**files, **beside})


def archived(files: Mapping[str, bytes]) -> bytes:
    """Files as an archive, by path; equal files give equal bytes.

    Examples
    --------
    >>> archived({"a": b"1", "b": b"2"}) == archived({"b": b"2", "a": b"1"})
    True
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            archive.writestr(info, content)
    return out.getvalue()


def unpacked(file: IO[bytes], to: Path) -> Path:
    """The release folder of an archive, unpacked.

    Paths that climb out, links, archives of too many files and those that grow too much are refused before anything
    is written.

    Parameters
    ----------
    file
        The archive.
    to
        An empty folder.

    Returns
    -------
    Path
        The folder in it that has `datapackage.json`.

    Raises
    ------
    FileError
        It is no archive, is not safe, holds no release, or the disk has no room for it.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            _refuse_unsafe(members)
            if sum(info.file_size for info in members) > shutil.disk_usage(to).free - _SPARE:
                raise FileError(_FULL)
            for info in members:
                target = to / info.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as source, target.open("xb") as out:
                    _copied(source, out, info.file_size)
    except (FileError, MemoryError):
        raise
    except Exception as error:  # of four libraries that take bytes apart, each with errors of its own
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(_FULL) from None
        raise FileError(f"The archive cannot be read ({type(error).__name__}): choose the zip of a release.") from None
    found = sorted(to.rglob("datapackage.json"), key=lambda path: len(path.parts))
    if not found:
        raise FileError("The archive holds no release: there is no datapackage.json in it.")
    return found[0].parent


def _refuse_unsafe(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > _MOST_FILES:
        raise FileError(f"The archive has more than {_MOST_FILES:,} files: it is no release.")
    whole = sum(info.file_size for info in members)
    packed_size = sum(info.compress_size for info in members)
    if whole > _MOST_BYTES or whole > max(packed_size, 1 << 20) * _MOST_RATIO:
        raise FileError("The archive grows too large when it is unpacked.")
    for info in members:
        path = PurePosixPath(info.filename)
        kind = info.external_attr >> 16
        odd = "\\" in info.filename or ":" in info.filename or "\0" in info.filename
        if odd or path.is_absolute() or ".." in path.parts or (kind and stat.S_ISLNK(kind)):
            raise FileError("The archive holds a path that leads out of it, or a link.")


def _copied(source: IO[bytes], out: IO[bytes], most: int) -> None:
    """Copy, and stop where there is more than was said."""
    left = most
    while block := source.read(1 << 20):
        left -= len(block)
        if left < 0:
            raise FileError("The archive is not as large as it says.")
        out.write(block)
