"""Folders of one process alone: it holds a lock in each, so that the next knows what a killed one has left."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.data.files.atomic import system_says
from sfumato.data.files.locks import hold
from sfumato.errors import FileError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["Claimed"]

_LOCK = "lock"
_YOUNG = 60.0  # seconds that a folder may be without a lock: whoever makes it is about to


class Claimed:
    """Make a folder that only this user may look into; first remove those of processes that are no more.

    Where the file system knows no locks, what a killed process leaves stays.

    Parameters
    ----------
    prefix
        What names of such folders begin with.
    temp
        Where it is made; the system's folder for temporary files if None.

    Attributes
    ----------
    path
        The folder.

    Raises
    ------
    FileError
        Where none can be made.

    Examples
    --------
    >>> claimed = Claimed("sfumato-example-")
    >>> oct(claimed.path.stat().st_mode)[-3:]
    '700'
    >>> claimed.remove()
    """

    def __init__(self, prefix: str, temp: str | os.PathLike[str] | None = None) -> None:
        place = Path(tempfile.gettempdir() if temp is None else temp)
        self._process = os.getpid()
        try:
            _sweep(place, prefix)
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
            self._held = self._lock()
        except OSError as error:
            raise FileError(f"No files can be put into {str(place)!r}: {system_says(error)}.") from None

    def _lock(self) -> BaseFileLock | None:
        """Hold the lock; None where the file system knows none: its file alone keeps the folder from being swept."""
        try:
            return hold(self.path / _LOCK)
        except OSError:
            if (self.path / _LOCK).exists():
                return None
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove it with all that it holds. A child that was forked has no part in it."""
        if os.getpid() != self._process:
            return
        if self._held is not None:
            self._held.release()  # Windows removes no file that is open
        shutil.rmtree(self.path, ignore_errors=True)


def _sweep(place: Path, prefix: str) -> None:
    """Remove the folders of processes that are no more: nobody holds their locks."""
    for left in place.glob(f"{prefix}*"):
        with suppress(OSError):
            if left.is_symlink() or not _own(left):
                continue
            if (left / _LOCK).exists():
                hold(left / _LOCK).release()
            elif time.time() - left.lstat().st_mtime <= _YOUNG:
                continue
            shutil.rmtree(left, ignore_errors=True)


def _own(path: Path) -> bool:
    return not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()
