"""Where a worker's rows come from: columns of a Spark frame, parts of a folder, or blobs of our own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from sfumato.data.files.address import reached
from sfumato.data.files.table import checked_names, finite, listed
from sfumato.engines.spark.blobs import BATCH, chosen, frames
from sfumato.errors import DataError, FileError

__all__ = ["Blobs", "Columns", "Files", "Part", "Source", "flat", "parts", "seen_from_anywhere"]


class Source(Protocol):
    """How records of Spark become rows."""

    @property
    def schema(self) -> pl.Schema:
        """Types of the columns."""
        ...

    def only(self, columns: Sequence[str]) -> Source:
        """The same of some columns."""
        ...

    def rows(self, records: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
        """Batches of rows."""
        ...


@dataclass(frozen=True)
class Blobs:
    """Rows that went through Spark before."""

    schema: pl.Schema
    kept: tuple[str, ...] | None = None

    def only(self, columns: Sequence[str]) -> Blobs:
        """The same of some columns."""
        return Blobs(pl.Schema({n: self.schema[n] for n in columns}), tuple(columns))

    def rows(self, records: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
        """Batches of rows."""
        for _, frame in frames(records):
            yield frame if self.kept is None else chosen(frame, self.kept)


@dataclass(frozen=True)
class Columns:
    """Columns of a Spark frame, which come in the order of the schema under names of no account."""

    schema: pl.Schema

    def only(self, columns: Sequence[str]) -> Columns:
        """The same of some columns; whoever asks hands in these columns alone."""
        return Columns(pl.Schema({n: self.schema[n] for n in columns}))

    def rows(self, records: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
        """Batches of rows."""
        for record in records:
            if not self.schema:
                yield pl.DataFrame(height=record.num_rows)
                continue
            frame = _polars(pa.Table.from_batches([record]).rename_columns(list(self.schema)))
            for some in frame.iter_slices(BATCH):
                yield as_read(some, self.schema)


@dataclass(frozen=True)
class Part:
    """A part of a folder, as it was when the folder was opened.

    Parameters
    ----------
    path
        Where it is in its file system.
    name
        What messages call it.
    groups
        Rows of each of its groups.
    size, changed
        Bytes, and when it was last changed.
    """

    path: str
    name: str
    groups: tuple[int, ...]
    size: int
    changed: int | None


@dataclass(frozen=True)
class Files:
    """Parts of a folder, read on the workers: the record of Spark is the number of a task."""

    address: str
    schema: pl.Schema
    tasks: tuple[tuple[tuple[Part, int, int], ...], ...]
    """Of each task the parts, and of each its first group of rows and the one after its last."""
    kept: tuple[str, ...] | None = None

    def only(self, columns: Sequence[str]) -> Files:
        """The same of some columns."""
        return Files(self.address, pl.Schema({n: self.schema[n] for n in columns}), self.tasks, tuple(columns))

    def rows(self, records: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
        """Batches of rows."""
        system, _ = reached(self.address)
        for record in records:
            for number in record.column(0).to_pylist():
                for part, first, end in self.tasks[number]:
                    yield from self._read(system, part, list(range(first, end)))

    def _read(self, system: Any, part: Part, groups: list[int]) -> Iterator[pl.DataFrame]:
        try:
            same(system, part)
            if not self.schema:
                yield from (pl.DataFrame(height=part.groups[i]) for i in groups)
                return
            with system.open_input_file(part.path) as opened, pq.ParquetFile(opened) as file:
                for batch in file.iter_batches(BATCH, groups, columns=list(self.schema), use_threads=False):
                    yield as_read(_polars(pa.Table.from_batches([batch])), self.schema)
        except (OSError, pa.ArrowException, pl.exceptions.PolarsError):
            broken = part.name
        else:
            return
        raise FileError(f"{broken!r} could not be read as Parquet. Write it again, or leave it out.")


def same(system: Any, part: Part) -> None:
    """Refuse a part that is not what it was.

    Raises
    ------
    FileError
        Where it changed or is gone.
    """
    now = system.get_file_info(part.path)
    if now.type == pafs.FileType.NotFound:
        raise FileError(
            f"{part.name!r} is not there: it was removed while it was read, or workers do not see the folder. Give one "
            "that this machine and all workers see, under the same name."
        )
    if now.type != pafs.FileType.File or (now.size, now.mtime_ns) != (part.size, part.changed):
        raise FileError(f"{part.name!r} changed while it was read. Begin again when nobody writes to the folder.")


def _polars(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def as_read(batch: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Rows in the form that the rest of the system relies on: as the readers of files give them.

    Raises
    ------
    DataError
        Infinite values.
    """
    return finite(batch.select(list(schema)).cast(schema))


def flat(schema: pl.Schema) -> pl.Schema:
    """The types that columns have once they are read; a column without any type is text.

    Raises
    ------
    DataError
        Names that are empty or duplicated; columns that hold lists, records, bytes.

    Examples
    --------
    >>> dict(flat(pl.Schema({"a": pl.Null(), "b": pl.Int8()})))
    {'a': String, 'b': Int8}
    """
    checked_names(list(schema))
    nested = [n for n, t in schema.items() if t.is_nested() or isinstance(t, pl.Binary | pl.Object)]
    if nested:
        raise DataError(f"{listed(nested).capitalize()}: lists, records, bytes or objects. Only flat columns are read.")
    return pl.Schema({n: pl.String() if t == pl.Null else t for n, t in schema.items()})


def seen_from_anywhere(address: str) -> str:
    """An address, or the whole path of a folder: workers have folders of their own that they work in.

    Examples
    --------
    >>> seen_from_anywhere("hdfs://host/parts"), os.path.isabs(seen_from_anywhere("parts"))
    ('hdfs://host/parts', True)
    """
    return address if "://" in address else os.path.abspath(address)


def parts(address: str) -> list[tuple[Part, pa.Schema, Any]]:
    """The Parquet parts of a flat folder, with their schemas.

    Raises
    ------
    FileError
        No folder, no parts, a part that is no Parquet, or that has other columns than the first.
    """
    system, folder = reached(address)
    shown = address.rstrip("/")
    try:
        infos = system.get_file_info(pafs.FileSelector(folder))
    except OSError:
        infos = None
    if infos is None:
        raise FileError(f"There is no folder {shown!r}.")
    files = sorted((i for i in infos if i.path.endswith(".parquet") and not _hidden(i)), key=lambda i: i.path)
    if not files:
        raise FileError(f"There are no Parquet files in {shown!r}.")
    found = [_described(system, info) for info in files]
    first = found[0][2]
    for part, _, columns in found:
        if not columns.equals(first):
            raise FileError(
                f"{part.name!r} has other columns or types than {found[0][0].name!r}. Parts have one schema."
            )
    return found


def _hidden(info: Any) -> bool:
    return bool(info.type != pafs.FileType.File or info.base_name.startswith((".", "_")))


def _described(system: Any, info: Any) -> tuple[Part, pa.Schema, Any]:
    try:
        with system.open_input_file(info.path) as opened, pq.ParquetFile(opened) as file:
            told = file.metadata
            groups = tuple(told.row_group(i).num_rows for i in range(told.num_row_groups))
            part = Part(info.path, info.base_name, groups, info.size, info.mtime_ns)
            stored = (told.metadata or {}).get(b"sfumato")
            return part, file.schema_arrow.with_metadata({"sfumato": stored} if stored else None), told.schema
    except (OSError, pa.ArrowException):
        pass
    raise FileError(f"{info.base_name!r} could not be read as Parquet. Write it again, or leave it out.")


def tasks(found: Sequence[Part], cores: int, most: int) -> tuple[tuple[tuple[Part, int, int], ...], ...]:
    """Divide parts into tasks of like sizes: at most `most` bytes each where groups of rows are smaller.

    Parameters
    ----------
    found
        The parts.
    cores
        How many tasks run at a time, at least 1.
    most
        Bytes of a task.

    Examples
    --------
    >>> part = Part("a.parquet", "a.parquet", (10, 10), 200, None)
    >>> [(first, end) for task in tasks([part], 2, 10**9) for _, first, end in task]
    [(0, 1), (1, 2)]
    """
    total = sum(part.size for part in found)
    target = max(min(most, total // max(2 * cores, 1)), 1 << 20 if total > 4 << 20 else 1)
    done: list[tuple[tuple[Part, int, int], ...]] = []
    now: list[tuple[Part, int, int]] = []
    size = 0.0
    for part in found:
        share = part.size / max(len(part.groups), 1)
        first = 0
        for i in range(len(part.groups)):
            size += share
            if size >= target:
                done.append((*now, (part, first, i + 1)))
                now, size, first = [], 0.0, i + 1
        if first < len(part.groups):
            now.append((part, first, len(part.groups)))
    if now:
        done.append(tuple(now))
    return tuple(done) or ((),)
