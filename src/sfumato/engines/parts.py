"""A table in Parquet parts: one flat folder, one schema, read in batches of bounded length."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Part
from sfumato.data.files.address import reached
from sfumato.data.files.parquet import codebook_in
from sfumato.data.files.table import checked_names, listed, unread
from sfumato.engines.spill import BATCH
from sfumato.errors import DataError, FileError

__all__ = ["Parts", "PartsWriter", "open_folder"]

_KEY = "sfumato"
_OFTEN = 4  # times that values stand on average, from which a part's dictionary of them makes it shorter
_SMALL = 1 << 20  # bytes that are read ahead of a column, so that long groups of rows are never held whole


@dataclass(frozen=True)
class _File:
    path: Path
    rows: int
    size: int
    changed: int


@dataclass(frozen=True)
class Parts:
    """Parquet files of one schema.

    Parameters
    ----------
    files
        The files, as they were when they were opened.
    schema
        Types of the columns.
    given
        Whether they come from outside: NaN is read as missing then, as from every file.
    """

    files: tuple[_File, ...]
    schema: pl.Schema
    given: bool = False

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(file.rows for file in self.files)

    def batches(self, columns: Sequence[str] | None = None, most: int = BATCH) -> Iterator[pl.DataFrame]:
        """Stream rows of some columns; short parts are put together.

        Raises
        ------
        FileError
            For a part that is damaged, or not as it was when it was opened; names the part.
        """
        names = list(self.schema) if columns is None else list(columns)
        held: list[pl.DataFrame] = []
        height = 0
        for file in self.files:
            for batch in self._of(file, names, most):
                if held and height + batch.height > most:
                    yield self._typed(held)
                    held, height = [], 0
                held.append(batch)
                height += batch.height
        if held:
            yield self._typed(held)

    def _typed(self, held: list[pl.DataFrame]) -> pl.DataFrame:
        """Rows put together, which costs less once than part by part where these are many and small."""
        rows = pl.concat(held)
        rows = rows.cast({n: self.schema[n] for n in rows.columns})
        return rows.with_columns(cs.float().fill_nan(None)) if self.given else rows

    def _of(self, file: _File, names: list[str], most: int) -> Iterator[pl.DataFrame]:
        if not names:
            for start in range(0, file.rows, most):
                yield pl.DataFrame(height=min(most, file.rows - start))
            return
        _refuse_changed(file)
        with _reading(file.path), pq.ParquetFile(file.path, buffer_size=_SMALL) as opened:
            for batch in opened.iter_batches(most, columns=names, use_threads=False):
                rows = pl.DataFrame(batch)
                yield rows if rows.columns == names else rows.select(names)

    def unchanged(self) -> None:
        """See that every part is as it was when it was opened.

        Raises
        ------
        FileError
            Where one is not; names the part.
        """
        for file in self.files:
            _refuse_changed(file)


def _refuse_changed(file: _File) -> None:
    try:
        told = file.path.stat()
    except OSError:
        raise FileError(f"The part {file.path.name!r} is gone since it was opened. Start again.") from None
    if (told.st_size, told.st_mtime_ns) != (file.size, file.changed):
        raise FileError(f"The part {file.path.name!r} was changed while it was read. Start again.")


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say what is wrong with a part without its library's words, which may quote cells."""
    try:
        yield
    except (pa.ArrowException, OSError, pl.exceptions.PolarsError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"The part {path.name!r} cannot be read: it is damaged, or no Parquet file.") from None


def open_folder(folder: Path) -> tuple[Parts, Codebook]:
    """Open a flat folder of Parquet parts; nothing but footers is read.

    Files whose names begin with a dot or an underscore are left alone, as those who write parts mean it. Parts may be
    links to files.

    Raises
    ------
    FileError
        No folder, no parts, other files or folders among them, a part that is damaged or has other columns or types.
    DataError
        No rows; columns of lists, records or bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     pl.DataFrame({"age": [31, 45]}).write_parquet(Path(name) / "a.parquet")
    ...     open_folder(Path(name))[0].rows
    2
    """
    files, schemas, codebook = [], [], None
    for path in _listed(folder):
        with _reading(path), pq.ParquetFile(path) as opened:
            told, rows = path.stat(), opened.metadata.num_rows
            schema = pl.DataFrame(opened.schema_arrow.empty_table()).schema
            about = opened.metadata.metadata or {}
        checked_names(list(schema))
        files.append(_File(path, rows, told.st_size, told.st_mtime_ns))
        schemas.append(schema)
        if schema != schemas[0] and dict(schema) != dict(schemas[0]):
            raise _other(path, files[0].path, schemas[0], schema)
        if codebook is None and _KEY.encode() in about:
            plain = {_KEY: about[_KEY.encode()].decode(errors="replace")}
            codebook = codebook_in(plain.get("sfumato"), schema, path)
    schema = pl.Schema({n: pl.String() if t == pl.Null else t for n, t in schemas[0].items()})
    if nested := unread(schema):
        raise DataError(f"{listed(nested).capitalize()}: lists, records, bytes or objects. Only flat columns are read.")
    parts = Parts(tuple(files), schema, given=True)
    if not parts.rows or not schema:
        raise DataError("The table has no rows. A table needs a header and at least one row.")
    return parts, (codebook or Codebook()).only(schema)


def _listed(folder: Path) -> list[Path]:
    """The parts of a folder, by name."""
    try:
        found = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    except OSError as error:
        raise FileError(f"The folder {str(folder)!r} cannot be read: {error.strerror}.") from None
    if folders := [path.name for path in found if path.is_dir()]:
        raise FileError(f"{folders[0]!r} in {str(folder)!r} is a folder. Parts lie beside each other in one folder.")
    if others := [path.name for path in found if path.suffix != ".parquet"]:
        raise FileError(f"{others[0]!r} in {str(folder)!r} is no Parquet part. Keep only *.parquet files there.")
    if not found:
        raise FileError(f"There are no Parquet parts (*.parquet) in {str(folder)!r}.")
    return found


def _other(path: Path, first: Path, schema: Mapping[str, Any], other: Mapping[str, Any]) -> FileError:
    """Say which columns of a part are not those of the first."""
    apart = [n for n in {**schema, **other} if schema.get(n) != other.get(n)]
    return FileError(
        f"The parts {first.name!r} and {path.name!r} differ in {listed(apart)}: all parts need the same columns of the "
        "same types. Write them again as one table."
    )


class PartsWriter:
    """Writes frames of one schema into parts of about the same length.

    What is written hangs on the rows and their order alone, not on the frames that they come in.

    Parameters
    ----------
    folder
        A folder that is there, or the address of one.
    schema
        Types of the columns.
    codebook
        What is told of them in every part; nothing if None.
    part_bytes
        About how long a part may be.
    compression
        `zstd` for what leaves, something faster for what is only spilled.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with PartsWriter(Path(name), pl.Schema({"age": pl.Int64()})) as writer:
    ...         writer.write(pl.DataFrame({"age": [31, 45]}))
    ...     writer.parts
    [Part(name='part-00000.parquet', rows=2)]
    """

    def __init__(
        self,
        folder: Path | str,
        schema: pl.Schema,
        codebook: Codebook | None = None,
        part_bytes: int = 128 * 2**20,
        compression: str = "zstd",
    ) -> None:
        self.folder, self.schema, self.parts = folder, schema, list[Part]()
        self._system, self._inside = reached(os.fspath(folder))
        self._bytes, self._compression = part_bytes, compression
        self._about = {}
        if codebook is not None:
            self._about = {_KEY: json.dumps(codebook.only(schema).to_plain(), ensure_ascii=False)}
        self._writer: pq.ParquetWriter | None = None
        self._sink: Any = None
        self._held: list[pl.DataFrame] = []
        self._height = self._rows = 0

    def __enter__(self) -> PartsWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._finish()

    def write(self, frame: pl.DataFrame) -> None:
        """Add rows; frames are put together and cut into groups of rows of one length."""
        if not frame.height:
            return
        self._held.append(frame)
        self._height += frame.height
        if self._height >= BATCH:
            self._write_whole()

    def opened(self) -> Parts:
        """What was written into a folder of this machine, to be read again."""
        files = []
        for part in self.parts:
            path = Path(self._inside) / part.name
            told = path.stat()
            files.append(_File(path, part.rows, told.st_size, told.st_mtime_ns))
        return Parts(tuple(files), self.schema)

    def flush(self) -> None:
        """Write what is held."""
        self._write_whole()
        for rows in self._held:
            self._write(rows)
        self._held, self._height = [], 0

    def _write_whole(self) -> None:
        """Write whole groups of rows, and hold the rest, as one frame."""
        whole = pl.concat(self._held) if self._held else self.schema.to_frame()
        most = whole.height - whole.height % BATCH
        for rows in whole[:most].iter_slices(BATCH):
            self._write(rows)
        # a copy of the rest: a slice would hold on to all rows that it was cut from
        rest = whole.select(pl.all().gather(pl.int_range(most, pl.len())))
        self._held, self._height = [rest] if rest.height else [], rest.height

    def _write(self, rows: pl.DataFrame) -> None:
        """Write a group of rows."""
        table = rows.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._writer is None:
            self._sink = self._system.open_output_stream(f"{self._inside}/part-{len(self.parts):05d}.parquet")
            schema = table.schema.with_metadata(self._about)
            often = [n for n in rows.columns if rows[n].n_unique() * _OFTEN <= rows.height]
            how: dict[str, Any] = {"compression": self._compression, "use_dictionary": often}
            self._writer = pq.ParquetWriter(self._sink, schema, **how)
        self._writer.write_table(table.cast(self._writer.schema) if self._about else table)
        self._rows += rows.height
        assert self._sink is not None
        if self._sink.tell() >= self._bytes:
            self._finish()

    def _finish(self) -> None:
        if self._writer is None:
            return
        assert self._sink is not None
        try:
            self._writer.close()
        finally:
            self._sink.close()
        self.parts.append(Part(f"part-{len(self.parts):05d}.parquet", self._rows))
        self._writer, self._sink, self._rows = None, None, 0
