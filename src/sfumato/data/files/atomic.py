"""Replacing one file in one step: there is the old file or the whole new one, never half of it."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from polars.exceptions import PanicException

from sfumato.data.files.locks import abandoned, lock_of, locked
from sfumato.errors import FileError, SfumatoError

__all__ = ["UNFINISHED", "refuse_link", "replacing", "system_says", "to_disk", "unfinished", "without_links"]

UNFINISHED: set[object] = set()
"""Has one member for each file or folder that is being written now: a process that is stopped removes them first."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_YOUNG = 60.0  # seconds that a lock may be without its file: whoever holds it is about to make one


@contextmanager
def unfinished() -> Iterator[None]:
    """Tell that something is being written, until it is whole or removed.

    Examples
    --------
    >>> with unfinished():
    ...     len(UNFINISHED)
    1
    """
    mark = object()
    UNFINISHED.add(mark)
    try:
        yield
    finally:
        UNFINISHED.discard(mark)


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file through a temporary one beside it that takes its place at the end.

    The temporary file is named `.sfumato-<name>-<random>.tmp`, and beside it is its lock, `.lock`. Both are gone after
    an error or an interruption; what a killed run left behind is removed by the next write to the same target. A
    symbolic link is refused: what it points to is somewhere else than the path says.

    Parameters
    ----------
    target
        The path wanted. Its folder must be there.

    Yields
    ------
    Path
        The temporary file, empty, to be written to by its name.

    Raises
    ------
    FileError
        A link, a target or folder that cannot be written to, a full disk, or an error of the library that writes (whose
        text, which may quote data, is not passed on).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    shown = os.fspath(target)
    refuse_link(shown)
    path = without_links(shown)
    with unfinished(), _replacing(path, shown) as temporary:
        yield temporary
    with suppress(OSError):  # the new name lasts through a power cut, where the system can
        to_disk(path.parent)


@contextmanager
def _replacing(path: Path, shown: str) -> Iterator[Path]:
    try:
        _refuse_odd_target(path, shown)
        _remove_stale(path)
        temporary = path.with_name(f"{_prefix(path)}{secrets.token_hex(8)}.tmp")
        with locked(temporary):
            try:
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
                _keep_mode(path, temporary)
                yield temporary
                to_disk(temporary)
                os.replace(temporary, path)
            finally:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
    except SfumatoError:
        raise
    except (Exception, PanicException) as error:
        raise FileError(f"{shown!r} could not be written: {_reason(error, path.parent)}.") from None


def refuse_link(target: str | os.PathLike[str]) -> None:
    """Refuse to write where a symbolic link stands; links among the folders above it are followed.

    Raises
    ------
    FileError
        Also where the link points to nothing.
    """
    if Path(target).is_symlink():
        raise FileError(
            f"{os.fspath(target)!r} is a symbolic link, which is neither replaced nor written through. Give the path "
            "that it points to, or another one."
        )


def without_links(target: str | os.PathLike[str]) -> Path:
    """Give the absolute path of a target whose folders are no links, so that it stays the same while it is written."""
    path = Path(target)
    return path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name


def _keep_mode(path: Path, temporary: Path) -> None:
    """Give the new file the permissions of the one that it replaces: what was private stays private."""
    if path.exists():
        temporary.chmod(path.stat().st_mode & 0o777)


def _prefix(path: Path) -> str:
    """Give the part of a temporary file's name before the random part, short enough for any file system."""
    name = os.fsencode(path.name)[:180].decode(errors="ignore")
    return f".sfumato-{name}-"


def _refuse_odd_target(path: Path, shown: str) -> None:
    if path.is_dir():
        raise FileError(f"{shown!r} is a folder. Give the path of a file.")
    if path.exists() and not path.is_file():
        raise FileError(f"{shown!r} is not an ordinary file.")
    if not path.parent.is_dir():
        raise FileError(f"The folder of {shown!r} does not exist. Make it first.")


def _remove_stale(path: Path) -> None:
    """Remove what killed runs left behind for this target."""
    stale = re.compile(re.escape(_prefix(path)) + r"[0-9a-f]{16}\.(tmp|lock)")
    names = {name for name in os.listdir(path.parent) if stale.fullmatch(name)}
    for temporary in {path.with_name(name).with_suffix(".tmp") for name in names}:
        with suppress(OSError):  # one of `TAKEN`, or another run was faster
            if temporary.name in names or time.time() - lock_of(temporary).stat().st_mtime > _YOUNG:
                with abandoned(temporary):
                    temporary.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Bring a file or a folder to the disk; folders where the system can.

    Raises
    ------
    OSError
        Where that fails, for want of room for instance.
    """
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: BaseException, folder: Path) -> str:
    """Give the system's reason for a failed write, dug out of what a library made of it; never the library's words."""
    number = _system_error(error)
    if number in _FULL or (number is None and _full(folder)):
        return "the disk is full"
    if number in _DENIED:
        return "no permission to write in its folder"
    return (
        "the library that writes this format failed (is there room on the disk?)"
        if number is None
        else os.strerror(number)
    )


def system_says(error: OSError) -> str:
    """What the system says of a fault; libraries that raise its errors add words of their own.

    Examples
    --------
    >>> system_says(OSError(errno.ENOSPC, "Error writing a cell. Detail: No space left on device"))
    'No space left on device'
    """
    return "the file system failed" if error.errno is None else os.strerror(error.errno)


def _system_error(error: BaseException | None) -> int | None:
    """Find the number of the system's error in an exception, its causes, or its text, where Rust has it."""
    if error is None:
        return None
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    told = re.search(r"\(os error (\d+)\)", str(error))
    if told:
        number = int(told.group(1))
        return OSError(number, "", None, number).errno  # on Windows, whose numbers are others, the last one counts
    inner = [cause for cause in (*error.args, error.__cause__, error.__context__) if isinstance(cause, BaseException)]
    return next((number for number in map(_system_error, inner) if number is not None), None)


def _full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < 1 << 16
    except OSError:
        return False
