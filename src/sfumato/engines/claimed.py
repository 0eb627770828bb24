"""Folders of one process alone: it holds a lock in each, so that the next knows what a killed one has left."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from sfumato.data.files.atomic import system_says
from sfumato.errors import FileError

__all__ = ["claimed"]

_LOCK = "lock"
_YOUNG = 60.0  # seconds that a folder may be without a lock: whoever makes it is about to


def claimed(prefix: str, temp: str | os.PathLike[str] | None = None) -> tuple[Path, int]:
    """Make a folder that only this user may look into; first remove those of processes that are no more.

    Parameters
    ----------
    prefix
        What names of such folders begin with.
    temp
        Where it is made; the system's folder for temporary files if None.

    Returns
    -------
    folder, held
        The folder, and the descriptor of its lock, to be closed when the folder is removed.

    Raises
    ------
    FileError
        Where none can be made.

    Examples
    --------
    >>> folder, held = claimed("sfumato-example-")
    >>> oct(folder.stat().st_mode)[-3:]
    '700'
    >>> shutil.rmtree(folder)
    >>> os.close(held)
    """
    place = Path(tempfile.gettempdir() if temp is None else temp)
    try:
        _sweep(place, prefix)
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    except OSError as error:
        raise _unmade(place, error) from None
    try:
        held = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise _unmade(place, error) from None
    return made, held


def _unmade(place: Path, error: OSError) -> FileError:
    return FileError(f"No files can be spilled into {str(place)!r}: {system_says(error)}.")


def _sweep(place: Path, prefix: str) -> None:
    """Remove the folders of processes that are no more: nobody holds their locks."""
    for left in place.glob(f"{prefix}*"):
        try:
            told = left.lstat()
            if told.st_uid != os.getuid() or left.is_symlink():
                continue
            if not (left / _LOCK).exists():
                if time.time() - told.st_mtime > _YOUNG:
                    shutil.rmtree(left, ignore_errors=True)
                continue
            held = os.open(left / _LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(held)
