"""Write a release in parts: whole or not at all, and no part missing.

In a folder of this machine everything is made beside the target and then renamed. Under an address with a scheme
(`file://`, `hdfs://`, `s3a://`), where nothing can be renamed in one step, parts are written under a name of this run,
and `datapackage.json`, without which there is no release, comes last.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sfumato.data.dataset import Part, Parted
from sfumato.data.files.address import TEMPORARY, Place, has_scheme
from sfumato.data.files.atomic import system_says, unfinished
from sfumato.data.query import COUNT, Counts
from sfumato.errors import DataError, FileError, ReleaseExists, SfumatoError
from sfumato.release.package.folder import refuse_existing, whole_folder
from sfumato.release.package.papers import PACKAGE

__all__ = ["refuse_target", "write_release"]

_OWN = re.compile(r"data-[0-9a-f]{16}")
_DATA = "data"
_DOCUMENTS = ("report.html", "plan.yaml")
Documents = Callable[[Sequence[str]], Mapping[str, bytes]]


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
    found = Place.of(target).names() or {}
    if PACKAGE in found and not overwrite:
        raise ReleaseExists(
            f"{os.fspath(target)!r} exists already. Choose another address, or allow it to be replaced: --overwrite."
        )
    if others := [name for name in found if not _ours(name)]:
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
        inside = Place.of(work / _DATA)
        inside.make()
        parts = _written(data, inside, order, os.fspath(target))
        for name, content in documents([f"{_DATA}/{part.name}" for part in parts]).items():
            (work / name).write_bytes(content)
    return parts


def _at_address(target: str, data: Parted, order: Sequence[str], documents: Documents) -> tuple[Part, ...]:
    """Parts under a name of this run, then the documents, the one that makes them a release last."""
    folder, own = Place.of(target), f"{_DATA}-{secrets.token_hex(8)}"
    with unfinished(), _removed_unless_done(folder, own):
        inside = folder.within(own)
        inside.make()
        parts = _written(data, inside, order, target)
        told = dict(documents([f"{own}/{part.name}" for part in parts]))
        last = told.pop(PACKAGE)
        for name, content in [*told.items(), (PACKAGE, last)]:
            folder.put(name, content)
    for old in folder.names() or {}:
        if old != own and (_OWN.fullmatch(old) or old.startswith(TEMPORARY)):
            folder.remove(old)
    return parts


@contextmanager
def _removed_unless_done(folder: Place, own: str) -> Iterator[None]:
    """Remove this run's parts where something goes wrong."""
    new = folder.names() is None
    try:
        yield
    except BaseException as error:
        folder.remove(own)
        if new:
            folder.remove()
        if isinstance(error, OSError) and not isinstance(error, SfumatoError):
            raise FileError(f"{folder.address!r} cannot be written: {system_says(error)}.") from None
        raise


def _written(data: Parted, place: Place, order: Sequence[str], target: str) -> tuple[Part, ...]:
    """Write the parts, and see that they are there, with all rows."""
    made = int(data.ask(Counts(())).item(0, COUNT))
    parts = tuple(data.write_parts(place.address, order))
    told = sum(part.rows for part in parts)
    there = place.names() or {}
    found = {name: place.rows(name) for name in there if name.endswith(".parquet")}
    if told != made or sum(found.values()) != made or set(found) != {part.name for part in parts}:
        raise DataError(
            f"The parts in {target!r} do not hold the rows that were made. Either workers write where this machine "
            "cannot see it (take an address that all can reach), or the data changed while they were read."
        )
    for stranger in there.keys() - found.keys():
        place.remove(stranger)
    return parts


def _ours(name: str) -> bool:
    """Whether a release, or what a run has left of one, has such a file or folder."""
    return name in (*_DOCUMENTS, PACKAGE) or _OWN.fullmatch(name) is not None or name.startswith(TEMPORARY)
