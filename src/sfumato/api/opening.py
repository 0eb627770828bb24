"""Open what stays where it is: folders of Parquet parts, tables of a database, frames of a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted, with_codebook
from sfumato.data.files import read_written
from sfumato.data.files.address import local_folder
from sfumato.data.files.table import checked
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import DataError, FileError
from sfumato.release.package.datapackage import field_type
from sfumato.release.package.papers import PACKAGE, Papers, papers_beside, read_papers, refuse_missing_parts

__all__ = [
    "MAKE_PARTS",
    "MEMORY",
    "Opening",
    "in_memory",
    "is_address",
    "on_this_machine",
    "opened",
    "stays_where_it_is",
]

MEMORY = "1GB"
MAX_STRATUM = 2_000_000
MAKE_PARTS = (
    "Make parts of it once: python -c \"import duckdb; duckdb.sql(\\\"COPY (FROM 'cohort.csv') TO 'parts' (FORMAT "
    'parquet, PER_THREAD_OUTPUT)\\")"'
)
"""The line that makes parts of a file."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://?.*")
_DATABASE = re.compile(r"postgres(ql)?:", re.IGNORECASE)
_MASTER = re.compile(r"spark://.+|local(\[.+\])?|yarn|k8s://.+")


@dataclass(frozen=True)
class Opening:
    """How what stays where it is is worked on; see `sfumato.api.read.read`.

    Parameters
    ----------
    engine, memory, temp, max_stratum
        As `read` takes them.
    """

    engine: str | None = None
    memory: str = MEMORY
    temp: str | PathLike[str] | None = None
    max_stratum: int | None = None


def is_address(source: object) -> bool:
    """Whether a source is the address of a database or of files elsewhere, and no path.

    Examples
    --------
    >>> is_address("postgresql:///study/public.cohort"), is_address("cohort.csv")
    (True, False)
    """
    return isinstance(source, str) and _ADDRESS.fullmatch(source) is not None


def on_this_machine(source: Any) -> Any:
    """A source, or the path that it is of where it is the address of a file (`file:///path`).

    Examples
    --------
    >>> str(on_this_machine("file:///tmp/parts")), on_this_machine("postgresql:///a/b.c")
    ('/tmp/parts', 'postgresql:///a/b.c')
    """
    if not (isinstance(source, str) and source.lower().startswith("file://")):
        return source
    return local_folder(source)


def stays_where_it_is(source: object, engine: str | None) -> bool:
    """Whether a source is no table to be read but one to be opened: a folder, an address, a frame of a cluster."""
    if isinstance(source, str | PathLike):
        return is_address(source) or Path(source).is_dir() or engine not in (None, "memory")
    return isinstance(source, Parted) or _of_spark(source)


def opened(source: Any, how: Opening, codebook: Codebook | None = None) -> PolarsDataset | Parted:
    """Open what stays where it is.

    Parameters
    ----------
    source
        A folder of parts, a release, an address, a frame of a cluster.
    how
        The engine and its bounds.
    codebook
        What is known about the variables, in place of what the source says.

    Raises
    ------
    FileError, DataError, MissingExtra
        Where it cannot be opened.
    """
    if isinstance(source, Parted):
        return source
    refuse_password(source)
    papers = None if is_address(source) or not isinstance(source, str | PathLike) else _papers(Path(source))
    if papers is not None and not papers.parts:
        return _of_file(read_written(papers.data, papers.dialect), papers.data, codebook)
    place = source if papers is None else papers.data
    if papers is not None:
        refuse_missing_parts(papers)
    if isinstance(place, str | PathLike) and not is_address(place):
        _refuse_file(Path(place))
    if how.engine == "memory":
        return _in_memory(place, papers, codebook)
    data = _open_parted(place, how)
    if papers is None and codebook is None:
        return data
    known = Codebook({**data.codebook, **(papers.codebook if papers else {}), **(codebook or {})})
    if papers is not None:
        refuse_other_columns(papers, data.schema)
    return with_codebook(data, known)


def _open_parted(place: Any, how: Opening) -> Parted:
    from sfumato.engines.opening import open_parted

    engine = how.engine or ("spark" if _of_spark(place) else "duckdb")
    if engine == "duckdb" and is_address(place) and not _DATABASE.match(place):
        raise FileError(
            "Parts at an address are read by Spark: give --engine spark://HOST:PORT or local[N] (engine=), or "
            "copy them into a folder."
        )
    temp = None if how.temp is None else os.fspath(how.temp)
    return open_parted(place, engine, how.memory, temp, how.max_stratum or MAX_STRATUM)


def in_memory(data: PolarsDataset | Parted, what: str, instead: str) -> PolarsDataset:
    """Refuse a table that is not in memory where all its rows are needed at once.

    Parameters
    ----------
    data
        What `read` gave.
    what, instead
        What needs them, and what to do.

    Raises
    ------
    DataError
        It says what to do instead.
    """
    if not held(data):
        raise DataError(f"{what} needs all rows in memory, and this table stays where it is: {instead}.")
    return data


def refuse_password(source: object) -> None:
    """Refuse an address with a password, which lists of processes and logs would show; it is not repeated.

    Raises
    ------
    FileError
        It says where passwords go.
    """
    if not (isinstance(source, str) and _DATABASE.match(source)):
        return
    try:
        parts = urlsplit(source)
        held = parts.password is not None or any(n.lower() == "password" for n, _ in parse_qsl(parts.query))
    except ValueError:
        held = True
    if held or ":" in source.split("://", 1)[-1].split("/", 1)[0].rpartition("@")[0]:
        raise FileError(
            "An address must not hold a password: lists of processes show it. Leave it out, and set PGPASSFILE (a "
            "file that only you can read), PGSERVICE or PGPASSWORD."
        )


def refuse_other_columns(papers: Papers, schema: Mapping[str, pl.DataType]) -> None:
    """Refuse parts whose columns or types are not those that the papers describe.

    Raises
    ------
    DataError
        It names the columns.
    """
    found = {n: field_type(t) for n, t in schema.items()}
    other = sorted(n for n in {**papers.types, **found} if papers.types.get(n) != found.get(n))
    if other:
        raise DataError(
            f"The parts are not those that their datapackage.json describes: they differ in "
            f"{', '.join(map(repr, other))}. Take the release as it was handed over."
        )


def _of_spark(source: object) -> bool:
    return type(source).__module__.split(".", 1)[0] == "pyspark"


def _papers(folder: Path) -> Papers | None:
    """The papers of a release, where a folder is one or is that of its parts."""
    if (folder / PACKAGE).is_file():
        return read_papers(folder)
    return papers_beside(folder) if folder.is_dir() else None


def _refuse_file(place: Path) -> None:
    if place.is_file():
        raise FileError(f"{str(place)!r} is one file, which is worked on in memory. {MAKE_PARTS}")
    if not place.exists():
        raise FileError(f"There is no folder {str(place)!r}.")
    if not list(place.glob("*.parquet")):
        raise FileError(
            f"{str(place)!r} holds no Parquet files and no release: give the folder whose files *.parquet are the "
            f"parts of the table."
        )


def _in_memory(place: Any, papers: Papers | None, codebook: Codebook | None) -> PolarsDataset:
    """All rows of a folder of parts."""
    if not isinstance(place, str | PathLike) or is_address(place):
        raise FileError(
            "--engine memory (engine=) reads files and folders of parts. Leave it out for what is elsewhere."
        )
    from sfumato.engines.parts import open_folder  # with Arrow and DuckDB, which tables in memory do without

    parts, told = open_folder(Path(place))
    frame = checked(pl.concat(parts.batches()))
    known = Codebook({**told, **(papers.codebook if papers else {}), **(codebook or {})})
    return PolarsDataset(frame, known.only(frame.columns), ".parquet", source=Path(place))


def _of_file(table: Any, path: Path, codebook: Codebook | None) -> PolarsDataset:
    """The table of a release in one file."""
    known = Codebook({**table.codebook, **(codebook or {})})
    return PolarsDataset(table.frame, known, table.suffix, table.notes, source=path, dialect=table.dialect)
