"""Releases that were received: an archive is unpacked once and kept by an id, a folder of this machine is looked at."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import IO

from sfumato.errors import FileError
from sfumato.web.studio.archive import unpacked

__all__ = ["received", "release_of"]

_MOST = 20
_PREFIX = "received-"


def received(temporary: Path, file: IO[bytes]) -> str:
    """Unpack an archive into a private folder, and give the id by which it is found again.

    Parameters
    ----------
    temporary
        The studio's private folder; of the releases in it the oldest go when there are more than 20.
    file
        The archive.

    Raises
    ------
    FileError
        It is no archive of a release, or not safe. Nothing of it is left.
    """
    id_ = secrets.token_hex(8)
    folder = temporary / f"{_PREFIX}{id_}"
    folder.mkdir(mode=0o700)
    try:
        unpacked(file, folder)
    except FileError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    kept = sorted(temporary.glob(f"{_PREFIX}*"), key=lambda path: path.stat().st_mtime_ns)
    for old in kept[:-_MOST]:
        shutil.rmtree(old, ignore_errors=True)
    return id_


def release_of(temporary: Path, start: Path, id_: str, folder: str) -> Path:
    """The folder of a release: one that was received, or one of this machine.

    Raises
    ------
    FileError
        There is none.
    """
    if id_:
        found = sorted((temporary / f"{_PREFIX}{id_}").rglob("datapackage.json")) if id_.isalnum() else []
        if not found:
            raise FileError("The archive is not here any more: choose it again.")
        return min(found, key=lambda path: len(path.parts)).parent
    if "\0" in folder:
        raise FileError("This is no path.")
    path = start / Path(folder).expanduser()
    if not (path / "datapackage.json").is_file():
        raise FileError(f"{str(path)!r} is no release: choose the folder that holds datapackage.json.")
    return path
