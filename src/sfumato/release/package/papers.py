"""Read a release's papers again: what `datapackage.json` says of the data beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from pydantic import ValidationError

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure
from sfumato.data.files.dialect import USUAL, Dialect
from sfumato.data.files.sniff import DELIMITERS
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FileError
from sfumato.release.package.datapackage import MOST_BYTES

__all__ = [
    "NOT_OURS",
    "PACKAGE",
    "Papers",
    "all_papers",
    "papers_beside",
    "papers_in",
    "papers_of",
    "read_package",
    "read_papers",
    "refuse_missing_parts",
]

_PART = re.compile(r"data(-[0-9a-f]+)?/part-[0-9]{5,}\.parquet")
PACKAGE, PLAN = "datapackage.json", "plan.yaml"
NOT_OURS = "{path!r} is not a description as sfumato writes it into a release."


@dataclass(frozen=True)
class Papers:
    """What a release tells of itself.

    Parameters
    ----------
    title
        The release's title.
    created, version
        The day, and the version of sfumato that made it.
    data
        The data file; of a release in parts the folder that holds them.
    types
        Frictionless type of each of its columns, in order.
    codebook
        What is known about its variables.
    disclosure
        What analysts are told.
    fingerprint
        Hash by which releases with the same secret are known.
    names
        What the plan calls columns that have another name in the data file, by their name there.
    table
        Name of the table in a release of several; else empty.
    access
        How the release is accessed: `open`, `safeguarded`, `controlled`; None where nobody said.
    consent
        What people agreed to; None where nobody said.
    parts
        The files of a release in parts, in order; none where the data are one file.
    dialect
        What a delimited text file is written in.
    """

    title: str
    created: str
    version: str
    data: Path
    types: dict[str, str]
    codebook: Codebook
    disclosure: Disclosure
    fingerprint: str
    names: dict[str, str] = field(default_factory=dict)
    table: str = ""
    access: str | None = None
    consent: str | None = None
    parts: tuple[Path, ...] = ()
    dialect: Dialect = USUAL

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the data file's columns, in order."""
        return tuple(self.types)


def read_papers(folder: Path, table: str | None = None) -> Papers:
    """Read the papers of a release.

    Parameters
    ----------
    folder
        The release folder, or its `datapackage.json`.
    table
        Which table of a release of several.

    Raises
    ------
    FileError
        Where there are none, or something else, or no such table.
    """
    found = all_papers(folder)
    if table is None and len(found) == 1:
        return found[0]
    known = ", ".join(papers.table for papers in found if papers.table)
    if not known:
        raise FileError(f"{str(folder)!r} is a release of one table, so none can be named.")
    if table is None:
        raise FileError(f"{str(folder)!r} holds several tables: name one (--table, table=): {known}.")
    named = [papers for papers in found if papers.table == table]
    if not named:
        raise FileError(f"{str(folder)!r} has no table {table!r}; tables: {known}.")
    return named[0]


def all_papers(folder: Path) -> list[Papers]:
    """The papers of every table of a release."""
    path = folder / PACKAGE if folder.is_dir() else folder
    package = read_package(path)
    try:
        if "table" in package["sfumato"]:
            raise FileError(f"{str(path.parent)!r} holds a table of totals, not records: `sfumato table` reads it.")
        several = "disclosure" not in package["sfumato"]
        resources = package["resources"] if several else package["resources"][:1]
        if not resources:
            raise ValueError(path)
        return [_papers(path, package, resource, several) for resource in resources]
    except FileError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, ValidationError, DataError):
        raise FileError(NOT_OURS.format(path=str(path))) from None


def read_package(path: Path) -> dict[str, Any]:
    """Read a description, whatever it describes.

    Raises
    ------
    FileError
        Where there is none, or it is not of the form that sfumato writes.
    """
    if not path.is_file():
        folder = path.parent if path.name == PACKAGE else path
        raise FileError(f"{str(folder)!r} is no release: there is no {PACKAGE}. Give a folder that sfumato wrote.")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FileError(NOT_OURS.format(path=str(path)))
        package = json.loads(path.read_bytes(), parse_int=_whole, parse_constant=_refuse)
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise FileError(NOT_OURS.format(path=str(path))) from None
    if not isinstance(package, dict) or not isinstance(package.get("sfumato"), dict):
        raise FileError(NOT_OURS.format(path=str(path)))
    return package


def _whole(text: str) -> int:
    """A whole number that a column can hold; a longer one is no value of any table, and no float either."""
    number = int(text)
    if not -(2**63) <= number < 2**64:
        raise ValueError(text)
    return number


def _refuse(text: str) -> NoReturn:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError(text)


def papers_beside(data: Path) -> Papers | None:
    """The papers of a data file, or folder of parts, that lies in a release; None where there are none of it."""
    if not (data.parent / PACKAGE).is_file():
        return None
    return next((papers for papers in all_papers(data.parent) if papers.data.name == data.name), None)


def papers_of(data: PolarsDataset) -> Papers | None:
    """The papers of a table that was read from a release folder; None of any other."""
    return None if data.source is None else papers_beside(data.source)


def papers_in(data: Path) -> Papers | None:
    """The papers of a file that is the data file of the release folder that it lies in; None of any other.

    Examples
    --------
    >>> papers_in(Path("cohort.csv")) is None
    True
    """
    try:
        return papers_beside(data)
    except FileError:  # of another kind of description, or a damaged one, which matters to those who read it only
        return None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _papers(path: Path, package: Mapping[str, Any], resource: Mapping[str, Any], several: bool) -> Papers:
    run = package["sfumato"]
    own = resource["sfumato"] if several else run
    data, parts = _files(path.parent, resource["path"])
    types = {str(f["name"]): str(f["type"]) for f in resource["schema"]["fields"]}
    names = {str(name): str(planned) for name, planned in own.get("names", {}).items()}
    if not names.keys() <= types.keys() or len({names.get(n, n) for n in types}) < len(types):
        raise ValueError(names)
    return Papers(
        title=str(package["title"]),
        created=str(package["created"]),
        version=str(run["version"]),
        data=data,
        types=types,
        codebook=Codebook.from_plain(own["codebook"]),
        disclosure=Disclosure.from_plain(own["disclosure"]),
        fingerprint=str(run["fingerprint"]),
        names=names,
        table=str(resource["name"]) if several else "",
        access=_text(package.get("access")),
        consent=_text(package.get("consent")),
        parts=parts,
        dialect=_dialect(resource),
    )


def _dialect(resource: Mapping[str, Any]) -> Dialect:
    """What a delimited text file is written in; in releases of earlier versions it is not said, and the usual."""
    delimiter = resource.get("dialect", {}).get("delimiter", ",")
    decimal = {field.get("decimalChar", ".") for field in resource["schema"]["fields"] if field["type"] == "number"}
    if delimiter not in DELIMITERS or len(decimal) > 1 or not decimal <= {".", ","}:
        raise ValueError(resource)
    comma = decimal == {","}
    return Dialect(delimiter, "," if comma else ".", str(resource.get("encoding", "utf-8")))


def _files(folder: Path, told: Any) -> tuple[Path, tuple[Path, ...]]:
    """The data file; or the folder of the parts, and these. No path may lead out of the release."""
    if isinstance(told, str):
        if Path(told).name != told:
            raise ValueError(told)
        return folder / told, ()
    named = [PurePosixPath(name) for name in told]
    inner = {name.parent for name in named}
    if len(inner) != 1 or len(set(named)) < len(named) or not all(_PART.fullmatch(str(name)) for name in named):
        raise ValueError(told)
    return folder / inner.pop(), tuple(folder / name for name in named)


def refuse_missing_parts(papers: Papers) -> None:
    """Refuse a release of which parts are missing, or that holds others.

    Raises
    ------
    FileError
        It names the folder.
    """
    there = {part.name for part in papers.data.glob("*.parquet")} if papers.parts else set()
    if there != {part.name for part in papers.parts}:
        raise FileError(
            f"{str(papers.data)!r} does not hold the parts that datapackage.json names: some are missing, or others "
            "were added. Take the release as it was handed over."
        )
