"""Where rows go that do not fit into memory: a folder of this process alone, and a database that sorts and counts.

The folder is removed when the data set is closed or the process ends; what a killed process left is swept by the next.
Rows in it are not encrypted: who may read the disk as this user reads them.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa

from sfumato.data.files.atomic import system_says
from sfumato.engines.claimed import Claimed
from sfumato.errors import DataError, FileError

__all__ = ["BATCH", "Ask", "Spill"]

Ask = Callable[[str], duckdb.DuckDBPyRelation]
BATCH = 122_880
"""Rows of a batch: a group of rows of the database."""

_PREFIX = "sfumato-spill-"
_INCOMING = "sfumato_incoming"
_SHARE = 0.85  # of what it may hold that the database takes by its own count; it goes above that at times
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)\s*", re.IGNORECASE)


class Spill:
    """A folder for spilled rows, and a database in bounded memory.

    Parameters
    ----------
    memory
        How much the database may hold, `1GB` for instance; the process takes some 120 MB beside it.
    temp
        Where the folder is made; the system's folder for temporary files if None.

    Raises
    ------
    DataError
        For an amount of memory that is none.
    FileError
        Where no folder can be made.

    Examples
    --------
    >>> spill = Spill()
    >>> spill.folder().is_dir()
    True
    >>> spill.close()
    """

    def __init__(self, memory: str = "1GB", temp: str | os.PathLike[str] | None = None) -> None:
        amount = _MEMORY.fullmatch(memory)
        if amount is None:
            raise DataError("The memory of the engine is an amount with its unit: 1GB, 800MB.")
        self.memory = memory.strip()
        self._limit = f"{_SHARE * float(amount[1]):.3f}{amount[2]}"
        claimed = Claimed(_PREFIX, temp)
        self._root = claimed.path
        self._numbers = itertools.count()
        self._connections: list[duckdb.DuckDBPyConnection] = []
        self._end = weakref.finalize(self, _end, claimed, self._connections)

    def close(self) -> None:
        """Remove all that was spilled."""
        self._end()

    def folder(self) -> Path:
        """A new folder for files."""
        if not self._end.alive:
            raise DataError("The data set is closed. Open it again.")
        made = self._root / f"{next(self._numbers)}"
        with self.filling():
            made.mkdir(mode=0o700)
        return made

    @contextlib.contextmanager
    def filling(self) -> Iterator[None]:
        """Say that rows cannot be spilled where the system does; only files of the spill are written meanwhile.

        Raises
        ------
        FileError
            In place of the system's error.
        """
        try:
            yield
        except OSError as error:
            raise FileError(
                f"Rows cannot be spilled into {str(self._root.parent)!r}: {system_says(error)}. Give a folder with "
                "more room with --temp."
            ) from None

    @contextlib.contextmanager
    def asking(self, batches: Iterator[pl.DataFrame], schema: pl.Schema) -> Iterator[Ask]:
        """Let the database ask, once, about rows that are streamed into it under the name of `{rows}`.

        Parameters
        ----------
        batches
            The rows, of types that the database has.
        schema
            Their types.

        Notes
        -----
        What goes wrong while rows are made comes back as it was raised. What goes wrong in the database comes back
        without its words, which quote cells.
        """
        failed: list[BaseException] = []

        def feed() -> Iterator[pa.RecordBatch]:
            try:
                for batch in batches:
                    yield from _arrow(batch).to_batches()
            except BaseException as error:
                failed.append(error)
                raise

        cursor = self._database().cursor()
        cursor.execute("SET TimeZone = 'UTC'")
        reader = pa.RecordBatchReader.from_batches(_arrow(schema.to_frame()).schema, feed())
        cursor.register(_INCOMING, reader)
        try:
            yield lambda query: cursor.sql(query.format(rows=_INCOMING))
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            if failed:
                raise failed[0] from None
            if isinstance(error, FileError):
                raise
            raise _in_our_words(error, self.memory) from None
        finally:
            with contextlib.suppress(duckdb.Error):
                cursor.unregister(_INCOMING)
            cursor.close()

    def sorted(
        self, batches: Iterator[pl.DataFrame], schema: pl.Schema, order: Sequence[str]
    ) -> Iterator[pl.DataFrame]:
        """Stream rows sorted by some columns, missing values first."""
        by = ", ".join(f'"{n}" ASC NULLS FIRST' for n in order)
        with self.asking(batches, schema) as ask:
            for batch in ask(f"SELECT * FROM {{rows}} ORDER BY {by}").to_arrow_reader(BATCH):
                yield pl.DataFrame(batch).cast(schema)

    def _database(self) -> duckdb.DuckDBPyConnection:
        if not self._connections:
            told: dict[str, str | bool | int | float | list[str]] = {
                "memory_limit": self._limit,
                "temp_directory": str(self.folder()),
                "preserve_insertion_order": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "threads": min(4, os.cpu_count() or 1),
            }
            self._connections.append(duckdb.connect(config=told))
        return self._connections[0]


def _arrow(frame: pl.DataFrame) -> pa.Table:
    return frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())


def _in_our_words(error: Exception, memory: str) -> DataError:
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(
            f"The database needs more than {memory} of memory or more room for its files. Give more with --memory, or "
            "a folder with more room with --temp."
        )
    if isinstance(error, duckdb.IOException | OSError):
        return FileError("The database cannot write its files: is the disk full? Give another folder with --temp.")
    return DataError(f"The database gave up ({type(error).__name__}).")


def _end(claimed: Claimed, connections: list[duckdb.DuckDBPyConnection]) -> None:
    for connection in connections:
        connection.close()
    connections.clear()  # else the library reports leaks at exit
    claimed.remove()
