"""Locks by which a process tells others that it lives: the system lets go of them when it ends, however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["TAKEN", "abandoned", "hold", "lock_of", "locked"]

TAKEN = (TimeoutError, PermissionError)
"""What `hold` raises where somebody else has the lock, or the file is another user's."""

_POLL = 0.002
"""Seconds after which one who waits looks again."""


def hold(file: Path, wait: float = 0) -> BaseFileLock:
    """Hold a lock.

    Parameters
    ----------
    file
        The file of the lock, which is made where it is missing, and has no content.
    wait
        Most seconds that somebody else may have it first.

    Returns
    -------
    BaseFileLock
        It is let go of by `release`, or when nothing refers to it any more. Its file may stay.

    Raises
    ------
    OSError
        One of `TAKEN`, or any other where the file system knows no locks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = hold(Path(folder) / "lock")
    ...     try:
    ...         hold(Path(folder) / "lock")
    ...     except TAKEN:
    ...         print("taken")
    ...     lock.release()
    taken
    """
    import filelock

    lock = filelock.FileLock(
        file, timeout=wait, poll_interval=_POLL, mode=0o600, thread_local=False, fallback_to_soft=False
    )
    try:
        lock.acquire()
    except NotImplementedError:  # what older versions of the library make of it
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    return lock


@contextmanager
def locked(temporary: Path) -> Iterator[None]:
    """Hold a lock beside a temporary file or folder while it is written; its file goes with it.

    Where the file system knows no locks, nothing tells others that it is being written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with locked(Path(folder) / "a.tmp"):
    ...         print(*os.listdir(folder))
    a.lock
    """
    lock = None
    try:
        with suppress(OSError):
            lock = hold(lock_of(temporary))
        yield
    finally:
        _let_go(lock, lock_of(temporary))


@contextmanager
def abandoned(temporary: Path) -> Iterator[bool]:
    """Hold the lock of a temporary file or folder that a killed process has left, while it is removed.

    Yields
    ------
    bool
        Whether locks tell that it is left; False where the file system knows none.

    Raises
    ------
    OSError
        One of `TAKEN`: it is being written.
    """
    lock = None
    try:
        lock = hold(lock_of(temporary))
    except TAKEN:
        raise
    except OSError:
        pass
    try:
        yield lock is not None
    finally:
        _let_go(lock, lock_of(temporary))


def lock_of(temporary: Path) -> Path:
    """The file of the lock of a temporary file or folder.

    Examples
    --------
    >>> lock_of(Path("a.tmp")).name
    'a.lock'
    """
    return temporary.with_suffix(".lock")


def _let_go(lock: BaseFileLock | None, file: Path) -> None:
    if lock is not None:
        lock.release()  # Windows removes no file that is open
    with suppress(OSError):
        file.unlink(missing_ok=True)
