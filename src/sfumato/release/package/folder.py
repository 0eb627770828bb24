"""Write a folder so that it is there whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sfumato.data.files.atomic import refuse_link, system_says, to_disk, unfinished, without_links
from sfumato.data.files.locks import TAKEN, abandoned, locked
from sfumato.errors import FileError, ReleaseExists
from sfumato.release.package.papers import all_papers

__all__ = ["refuse_existing", "whole_folder", "whole_folders"]

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
    if "data" in names and (folder / "data").is_dir() and _holds_parts(folder / "data"):
        names.remove("data")
    others = {n for n in names if n not in _DOCUMENTS and not n.startswith("data.")}
    return not names or ("datapackage.json" in names and others <= _described(folder))


def _holds_parts(folder: Path) -> bool:
    """Whether a folder holds parts of a release and nothing else."""
    return all(re.fullmatch(r"part-[0-9]{5,}\.parquet", path.name) for path in folder.iterdir())


def _described(folder: Path) -> set[str]:
    """Names of the data files that a release of several tables tells of; none where that cannot be read."""
    try:
        return {papers.data.name for papers in all_papers(folder) if not papers.parts}
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
    with whole_folders([target], overwrite=overwrite) as (work,):
        yield work


@contextmanager
def whole_folders(targets: Sequence[Path], *, overwrite: bool = False) -> Iterator[list[Path]]:
    """Give a temporary folder for each of several, which take their names together; parameters as in `whole_folder`.

    They are renamed from the last to the first. Where one cannot be, those before it are taken back, and what they
    replaced stands there again. Only a run that is killed between two renames leaves some and not others.
    """
    for target in targets:
        refuse_existing(target, overwrite)
    targets = [without_links(target) for target in targets]
    with unfinished(), ExitStack() as stack:
        works = [stack.enter_context(_working(target)) for target in targets]
        yield works
        _settle(list(zip(works, targets, strict=True)), overwrite)


@contextmanager
def _working(target: Path) -> Iterator[Path]:
    """A temporary folder, which goes unless it has another name by then."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        work = target.parent / f".sfumato-{target.name}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        with locked(work):
            try:
                work.mkdir()
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise _unwritten(target, error) from None


def _unwritten(target: Path, error: OSError) -> FileError:
    return FileError(f"{str(target)!r} cannot be written: {system_says(error)}.")


def _settle(pairs: Sequence[tuple[Path, Path]], overwrite: bool) -> None:
    """Bring everything to the disk, then rename: the one step that makes the folders appear."""
    for work, target in pairs:
        try:
            for path in [*work.rglob("*"), work]:
                to_disk(path)
        except OSError as error:
            raise _unwritten(target, error) from None
    try:
        for work, target in reversed(pairs):
            refuse_existing(target, overwrite)  # another run may have been faster
            try:
                if target.exists():
                    target.rename(_old(work))
                work.rename(target)
            except OSError as error:
                raise _unwritten(target, error) from None
    except BaseException:  # also Ctrl-C
        for work, target in pairs:
            _take_back(work, target)
        raise
    finally:
        for work, target in pairs:
            if target.exists():  # else what was there waits for `_sweep`
                shutil.rmtree(_old(work), ignore_errors=True)


def _take_back(work: Path, target: Path) -> None:
    """Give a folder its temporary name again, and what it replaced its own."""
    with suppress(OSError):
        if not work.exists() and target.exists():
            target.rename(work)
        if _old(work).exists() and not target.exists():
            _old(work).rename(target)


def _old(work: Path) -> Path:
    """Where what is replaced waits."""
    return work.with_name(work.name.replace(".tmp", "-old.tmp"))


def _sweep(target: Path) -> None:
    """Remove what killed runs have left for this target; an old release that one had moved away comes back.

    A run that is alive keeps its folder.
    """
    pattern = re.compile(rf"(\.sfumato-{re.escape(target.name)}-(\d+)-[0-9a-f]{{8}})(-old)?\.tmp")
    for path in list(target.parent.iterdir()):
        if match := pattern.fullmatch(path.name):
            with suppress(*TAKEN), abandoned(path.with_name(f"{match[1]}.tmp")) as told:
                if _dead(int(match[2]), told):
                    _remove_left(path, target, moved_away=match[3] is not None)


def _remove_left(path: Path, target: Path, *, moved_away: bool) -> None:
    if moved_away and not target.exists():  # killed between the two renames: the old release comes back
        path.rename(target)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _dead(process: int, unlocked: bool) -> bool:
    """Whether the process that a folder is of is no more."""
    if os.name == "nt":  # there, signal 0 is not a question
        return unlocked
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False
