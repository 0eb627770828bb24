"""Write a folder so that it is there whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.data.files.atomic import refuse_link, unfinished, without_links
from sfumato.errors import FileError, ReleaseExists
from sfumato.release.package.papers import all_papers

__all__ = ["refuse_existing", "whole_folder"]

_DOCUMENTS = frozenset({"datapackage.json", "plan.yaml", "report.html"})


def refuse_existing(target: Path, overwrite: bool) -> None:
    """Refuse a folder that is there, unless it is a release and may be replaced; and a symbolic link to one.

    Raises
    ------
    ReleaseExists, FileError
        Before any work is done in vain.
    """
    refuse_link(target)
    if not target.exists():
        return
    if not overwrite:
        raise ReleaseExists(
            f"{str(target)!r} exists already. Choose another folder, or allow it to be replaced: --overwrite."
        )
    if not target.is_dir() or not _is_release(target):
        raise ReleaseExists(
            f"{str(target)!r} exists and is not a release, or holds other files as well, so it is not replaced. Choose "
            "another folder."
        )


def _is_release(folder: Path) -> bool:
    """Whether a folder holds what a release holds and nothing else."""
    names = {path.name for path in folder.iterdir()}
    others = {n for n in names if n not in _DOCUMENTS and not n.startswith("data.")}
    return not names or ("datapackage.json" in names and others <= _described(folder))


def _described(folder: Path) -> set[str]:
    """Names of the data files that a release of several tables tells of; none where that cannot be read."""
    try:
        return {papers.data.name for papers in all_papers(folder)}
    except FileError:
        return set()


@contextmanager
def whole_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside `target`, which takes its name when the block ends without an error.

    Whatever goes wrong, nothing stands under the wanted name but what was there before, and the temporary folder goes.
    Folders that a killed run has left are removed first.

    Parameters
    ----------
    target
        The wanted folder. Its parent must exist.
    overwrite
        Whether it may replace an existing folder.

    Raises
    ------
    ReleaseExists
        Where the folder exists and may not be replaced.
    FileError
        Where it cannot be written, or is a symbolic link.
    """
    refuse_existing(target, overwrite)
    target = without_links(target)
    with unfinished(), _folder(target, overwrite) as work:
        yield work


@contextmanager
def _folder(target: Path, overwrite: bool) -> Iterator[Path]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        work = target.parent / f".sfumato-{target.name}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        work.mkdir()
    except OSError as error:
        raise FileError(f"{str(target)!r} cannot be written: {error.strerror}.") from None
    try:
        yield work
        refuse_existing(target, overwrite)  # another run may have been faster
        _settle(work, target)
    except OSError as error:
        raise FileError(f"{str(target)!r} cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _settle(work: Path, target: Path) -> None:
    """Bring everything to the disk, then rename: the one step that makes the folder appear."""
    for path in [*work.iterdir(), work]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    old = work.with_name(work.name.replace(".tmp", "-old.tmp"))
    try:
        if target.exists():
            target.rename(old)
        work.rename(target)
    except BaseException:  # also Ctrl-C
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _sweep(target: Path) -> None:
    """Remove what killed runs have left for this target; an old release that one had moved away comes back.

    A run that is alive keeps its folder.
    """
    pattern = re.compile(rf"\.sfumato-{re.escape(target.name)}-(\d+)-[0-9a-f]{{8}}(-old)?\.tmp")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _alive(int(match[1])):
            if match[2] and not target.exists():  # killed between the two renames: the old release comes back
                path.rename(target)
            else:
                shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    if os.name == "nt":  # there, signal 0 is not a question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
