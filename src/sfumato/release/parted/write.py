"""Write a release in parts: whole or not at all, and no part missing.

In a folder of this machine everything is made beside the target and then renamed. Under an address with a scheme
(`file://`), where nothing can be renamed in one step, parts are written under a name of this run, and
`datapackage.json`, without which there is no release, comes last.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import polars as pl

from sfumato.data.dataset import Part, Parted
from sfumato.data.files.atomic import replacing, system_says, unfinished
from sfumato.data.query import COUNT, Counts
from sfumato.errors import DataError, FileError, ReleaseExists, SfumatoError
from sfumato.release.package.folder import refuse_existing, whole_folder
from sfumato.release.package.papers import PACKAGE

__all__ = ["folder_of", "has_scheme", "refuse_target", "write_release"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://.*")
_OWN = re.compile(r"data-[0-9a-f]{16}")
_DATA = "data"
_DOCUMENTS = ("report.html", "plan.yaml")
Documents = Callable[[Sequence[str]], Mapping[str, bytes]]


def has_scheme(target: str | os.PathLike[str]) -> bool:
    """Whether a target is an address, and no path.

    Examples
    --------
    >>> has_scheme("file:///tmp/release"), has_scheme("release")
    (True, False)
    """
    return _SCHEME.fullmatch(os.fspath(target)) is not None


def refuse_target(target: str | os.PathLike[str], overwrite: bool) -> None:
    """Refuse a target that is there, unless it is a release and may be replaced.

    Raises
    ------
    ReleaseExists, FileError
        Before any work is done in vain.
    """
    if not has_scheme(target):
        refuse_existing(Path(target), overwrite)
        return
    folder = folder_of(target)
    if folder.exists() and not folder.is_dir():
        raise ReleaseExists(f"{os.fspath(target)!r} exists and is no folder. Choose another address.")
    if (folder / PACKAGE).exists() and not overwrite:
        raise ReleaseExists(
            f"{os.fspath(target)!r} exists already. Choose another address, or allow it to be replaced: --overwrite."
        )
    if folder.exists() and (others := [p for p in folder.iterdir() if not _ours(p)]):
        raise ReleaseExists(
            f"{os.fspath(target)!r} holds {len(others)} files that are no release's, so nothing is written there. "
            "Choose another address."
        )


def write_release(
    target: str | os.PathLike[str], data: Parted, order: Sequence[str], documents: Documents, *, overwrite: bool
) -> tuple[Part, ...]:
    """Write parts and documents.

    Parameters
    ----------
    target
        A folder, or an address.
    data
        The rows that leave, beside hidden columns for the order.
    order
        Columns that parts are sorted by.
    documents
        Gives the documents' contents by name from the names of the parts, seen from the release.
    overwrite
        Whether a release that is there may be replaced.

    Returns
    -------
    tuple of Part
        What was written.

    Raises
    ------
    ReleaseExists, FileError
        As the target can or cannot be written; nothing is left.
    DataError
        Where parts do not hold the rows that were made.
    """
    refuse_target(target, overwrite)
    if has_scheme(target):
        return _at_address(os.fspath(target), data, order, documents)
    with whole_folder(Path(target), overwrite=overwrite) as work:
        (work / _DATA).mkdir()
        parts = _written(data, work / _DATA, str(work / _DATA), order, os.fspath(target))
        for name, content in documents([f"{_DATA}/{part.name}" for part in parts]).items():
            (work / name).write_bytes(content)
    return parts


def _at_address(target: str, data: Parted, order: Sequence[str], documents: Documents) -> tuple[Part, ...]:
    """Parts under a name of this run, then the documents, the one that makes them a release last."""
    folder = folder_of(target)
    own = f"{_DATA}-{secrets.token_hex(8)}"
    with unfinished(), _removed_unless_done(folder, own, target):
        (folder / own).mkdir(parents=True)
        parts = _written(data, folder / own, str(folder / own), order, target)
        told = dict(documents([f"{own}/{part.name}" for part in parts]))
        last = told.pop(PACKAGE)
        for name, content in [*told.items(), (PACKAGE, last)]:
            with replacing(folder / name) as temporary:
                temporary.write_bytes(content)
    for old in folder.iterdir():
        if old.name != own and _OWN.fullmatch(old.name):
            shutil.rmtree(old, ignore_errors=True)
    return parts


@contextmanager
def _removed_unless_done(folder: Path, own: str, target: str) -> Iterator[None]:
    """Remove this run's parts where something goes wrong."""
    new = not folder.exists()
    try:
        yield
    except BaseException as error:
        shutil.rmtree(folder / own, ignore_errors=True)
        if new:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, SfumatoError):
            raise FileError(f"{target!r} cannot be written: {system_says(error)}.") from None
        raise


def _written(data: Parted, folder: Path, address: str, order: Sequence[str], target: str) -> tuple[Part, ...]:
    """Write the parts, and see that they are there, with all rows."""
    made = int(data.ask(Counts(())).item(0, COUNT))
    parts = tuple(data.write_parts(address, order))
    told = sum(part.rows for part in parts)
    found = {path.name: _rows(path, target) for path in folder.glob("*.parquet")}
    if told != made or sum(found.values()) != made or set(found) != {part.name for part in parts}:
        raise DataError(
            f"The parts in {target!r} do not hold the rows that were made. Either workers write where this machine "
            "cannot see it (take an address that all can reach), or the data changed while they were read."
        )
    for stranger in [path for path in folder.iterdir() if path.suffix != ".parquet"]:
        shutil.rmtree(stranger) if stranger.is_dir() else stranger.unlink()
    return parts


def _rows(path: Path, target: str) -> int:
    """The rows of a part, as its own footer tells."""
    try:
        return int(pl.scan_parquet(path, glob=False, hive_partitioning=False).select(pl.len()).collect().item())
    except Exception:
        raise FileError(f"A part in {target!r} cannot be read again: it was not written whole.") from None


def _ours(path: Path) -> bool:
    """Whether a release, or what a run has left of one, has such a file or folder."""
    return path.name in (*_DOCUMENTS, PACKAGE) or _OWN.fullmatch(path.name) is not None or ".sfumato-" in path.name


def folder_of(target: str | os.PathLike[str]) -> Path:
    """The folder that a path or an address names.

    Raises
    ------
    FileError
        Where it is not one of this machine.

    Examples
    --------
    >>> folder_of("file:///tmp/a%20b").name, folder_of("release").name
    ('a b', 'release')
    """
    address = os.fspath(target)
    if not has_scheme(address):
        return Path(address)
    parts = urlsplit(address)
    if parts.scheme.lower() != "file":
        raise FileError(
            f"Releases are not written to {parts.scheme}: addresses from here. Give a folder, or file:// and a path "
            "that all workers reach, and copy the release from there."
        )
    if parts.netloc not in ("", "localhost"):
        raise FileError("An address of a file has three slashes: file:///path/of/the/release.")
    return Path(unquote(parts.path))
