"""Files beside the plan: hierarchies that are too long for its text are written there, and archives carry all it names.

A folder of hierarchies is called by what it holds, so that each text of the plan, undone or done again, names its own.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from sfumato.data.files.atomic import replacing
from sfumato.data.files.hierarchies import HierarchyFiles
from sfumato.errors import FileError
from sfumato.methods.base import Method
from sfumato.plan.plan import Plan
from sfumato.web.problems import Problem

__all__ = ["Beside", "carried", "carries", "file_of", "fingerprint", "folders", "steps_of"]

_SUFFIXES = (".csv", ".hrc")
_LONGEST = 120
_ODD = frozenset('/\\:*?"<>|')


class Beside:
    """Folders of hierarchies that this studio made, with what is in them."""

    def __init__(self) -> None:
        self._made: dict[str, dict[str, bytes]] = {}
        self._written: set[Path] = set()

    def made(self, stem: str, files: Mapping[str, bytes]) -> str:
        """Take files for a folder, and give the folder's name; nothing is written yet.

        Parameters
        ----------
        stem
            What the name begins with.
        files
            By the name of the file.
        """
        whole = hashlib.sha256(b"".join(name.encode() + b"\0" + files[name] + b"\0" for name in sorted(files)))
        folder = f"{stem}.hierarchies-{whole.hexdigest()[:10]}"
        self._made[folder] = {name: zlib.compress(content) for name, content in files.items()}
        return folder

    def named(self, plan: Plan) -> list[str]:
        """The folders of a plan that were made here."""
        return [folder for folder in folders(plan) if folder in self._made]

    def lay(self, names: Collection[str], home: Path) -> None:
        """Write folders, where they are not there yet.

        Raises
        ------
        Problem
            409 where something else lies there, which is left as it is; 507 where nothing can be written.
        """
        for folder in names:
            for name, packed in self._made[folder].items():
                self._put(home / folder, name, zlib.decompress(packed))

    def _put(self, folder: Path, name: str, content: bytes) -> None:
        target = folder / name
        try:
            if folder.is_symlink() or target.is_symlink():
                raise Problem(409, f"{folder.name!r} is or holds a link, which nothing is written through.")
            if not folder.exists():
                folder.mkdir()
                self._written.add(folder)
            if not target.exists():
                with replacing(target) as temporary:
                    temporary.write_bytes(content)
            elif target.read_bytes() != content:
                raise Problem(
                    409, f"{folder.name!r} holds what this studio neither read nor wrote: it is left as it is."
                )
        except (OSError, FileError):
            said = f"The hierarchy cannot be written beside the plan, into {folder.name!r}. Make room there."
            raise Problem(507, said) from None

    def tidy(self, names: Collection[str]) -> None:
        """Remove folders that were written here and that the plan does not name any more."""
        for folder in [path for path in self._written if path.name not in names]:
            self._written.discard(folder)
            with suppress(OSError):
                for name, packed in self._made[folder.name].items():
                    if (folder / name).read_bytes() == zlib.decompress(packed):
                        (folder / name).unlink()
                folder.rmdir()


def steps_of(plan: Plan) -> Iterator[Method]:
    """Every step, of every table."""
    yield from plan.steps
    for table in plan.tables.values():
        yield from table.steps


def folders(plan: Plan) -> list[str]:
    """The folders of hierarchies that a plan names."""
    found: list[HierarchyFiles | None] = [getattr(step, "hierarchies", None) for step in steps_of(plan)]
    return list(dict.fromkeys(one.folder for one in found if one is not None))


def carried(plan: Plan, base: Path) -> dict[str, bytes]:
    """The files that a plan names below its own folder, by their paths from there; those that are not there are not.

    Parameters
    ----------
    plan
        The plan.
    base
        Its folder.
    """
    return {name: path.read_bytes() for name, path in _paths(plan, base)}


def carries(plan: Plan, base: Path) -> bool:
    """Whether a plan names files below its own folder."""
    return next(_paths(plan, base), None) is not None


def fingerprint(plan: Plan, base: Path) -> str:
    """By what the files that a plan names are known again, wherever they lie; empty where it names none."""
    known = hashlib.sha256()
    some = False
    for name, path in _paths(plan, base, everywhere=True):
        some = True
        known.update(name.encode() + b"\0")
        with suppress(OSError), path.open("rb") as file:
            known.update(hashlib.file_digest(file, "sha256").digest())
    return known.hexdigest() if some else ""


def _paths(plan: Plan, base: Path, *, everywhere: bool = False) -> Iterator[tuple[str, Path]]:
    seen: set[str] = set()
    for step in steps_of(plan):
        files: HierarchyFiles | None = getattr(step, "hierarchies", None)
        within = [f"{files.folder}/{n}{end}" for n in step.changes for end in _SUFFIXES] if files is not None else []
        for name in (*(file.path for file in step.files), *within):
            path = PurePosixPath(name.replace("\\", "/"))
            here = not path.is_absolute() and ".." not in path.parts and ":" not in name
            if name not in seen and (here or everywhere) and (base / name).is_file():
                seen.add(name)
                yield path.as_posix(), base / name


def file_of(column: str) -> str:
    """The name of the file of a column's hierarchy.

    Raises
    ------
    FileError
        Where the column is called what no file can be.
    """
    odd = column.startswith(".") or column != column.strip() or any(c in _ODD or ord(c) < 32 for c in column)
    if odd or len(column.encode()) > _LONGEST:
        raise FileError(
            "The tree is too long for the plan, and no file can be called as this column is. Rename the column."
        )
    return f"{column}.csv"
