"""Open what Spark holds: a folder of parts, or a frame of somebody's session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.data.codebook import Codebook
from sfumato.engines.spark.blobs import frames, packed
from sfumato.engines.spark.dataset import TOGETHER, SparkDataset, through
from sfumato.engines.spark.reading import Columns, Files, flat, parts, seen_from_anywhere, tasks
from sfumato.engines.spark.session import Home, asked, known_draw, opened, refuse_open_session, size_of
from sfumato.engines.spark.work import Pipe
from sfumato.errors import DataError, FileError, SfumatoError

__all__ = ["of_folder", "open_parts"]

_TASK = 128 << 20  # bytes of parts that one task reads


def open_parts(
    source: Any,
    master: str | None = None,
    *,
    memory: str | int = "1GB",
    temp: str | os.PathLike[str] | None = None,
    max_stratum: int = 2_000_000,
) -> SparkDataset:
    """Open a folder of Parquet parts on a Spark cluster, or take a frame of Spark as it is.

    Parameters
    ----------
    source
        Folder or address of the parts, which this machine and all workers see; or a Spark frame, which is never
        collected, and whose session is never stopped.
    master
        The cluster: spark://HOST:PORT, local[N], yarn, k8s://ADDRESS. Of no account for a frame.
    memory
        Of each executor, for instance 1GB.
    temp
        Folder for what is spilled on this machine.
    max_stratum
        Most rows of a stratum that a step sees whole.

    Raises
    ------
    MissingExtra, FileError, DataError
        Where it cannot be opened; other versions of sfumato or Polars on the workers; a cluster on the network whose
        connections are open to others, a frame's too.
    """
    if not isinstance(source, str) and hasattr(source, "mapInArrow"):
        data = _of_frame(source, max_stratum, size_of(memory))
        _probe(data)
        return data
    if master is None:
        raise FileError("A Spark cluster is given as spark://HOST:PORT, local[N], yarn or k8s://ADDRESS.")
    parts(str(source))  # what is wrong with the folder is told before a session begins
    home = opened(master, memory, None if temp is None else os.fspath(temp))
    done = False
    try:
        data = of_folder(str(source), home, max_stratum=max_stratum, memory=size_of(memory))
        _probe(data)
        done = True
        return data
    finally:
        if not done:
            home.close()


def of_folder(address: str, home: Home, *, max_stratum: int = 2_000_000, memory: int = 10**9) -> SparkDataset:
    """The parts of a folder, in a session that runs.

    Raises
    ------
    FileError, DataError
        Where they cannot be read.
    """
    address = seen_from_anywhere(address)
    found = parts(address)
    schema, book = _head(found)
    work = tasks([part for part, _, _ in found], home.cores, _TASK)
    with asked():
        frame = home.session.range(0, len(work), 1, len(work))
    return SparkDataset(frame, Pipe(Files(address, schema, work)), book, home, len(work), max_stratum, memory)


def _head(found: Sequence[Any]) -> tuple[pl.Schema, Codebook]:
    """Types of the columns, and what the first part says of them."""
    from sfumato.data.files.parquet import codebook_in

    empty = pl.from_arrow(found[0][1].remove_metadata().empty_table())
    assert isinstance(empty, pl.DataFrame)
    schema = flat(empty.schema)
    stored = (found[0][1].metadata or {}).get(b"sfumato")
    return schema, codebook_in(stored.decode() if stored else None, schema, Path(found[0][0].name))


def _of_frame(frame: Any, max_stratum: int, memory: int) -> SparkDataset:
    """A frame of somebody's session."""
    from pyspark.sql.pandas.types import to_arrow_schema

    names = list(frame.columns)
    try:
        with asked():
            types = pl.from_arrow(to_arrow_schema(frame.schema).empty_table().rename_columns(_names(len(names))))
    except Exception as error:
        raise DataError(
            f"Columns of this Spark frame have types that Arrow does not hold ({type(error).__name__})."
        ) from None
    assert isinstance(types, pl.DataFrame)
    if len(set(names)) < len(names):
        raise DataError("Duplicated column names. Give every column a name of its own.")
    schema = flat(pl.Schema(dict(zip(names, types.dtypes, strict=True))))
    refuse_open_session(frame.sparkSession)
    home = Home(frame.sparkSession, own=False)
    plain = frame.toDF(*_names(len(names)))
    return SparkDataset(plain, Pipe(Columns(schema)), Codebook().only(schema), home, _width(frame), max_stratum, memory)


def _width(frame: Any) -> int:
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # a session that is reached through a server does not tell
        return TOGETHER


def _names(n: int) -> list[str]:
    return [f"c{i}" for i in range(n)]


def _probe(data: SparkDataset) -> None:
    """Refuse workers that would draw or divide otherwise than this machine.

    Raises
    ------
    FileError
        Names what differs.
    """
    session, here = data.home.session, known_draw()
    many = 2 * data.home.cores
    with asked():
        frame = through(session.range(0, many, 1, many), Probe())
    try:
        found = pl.concat([rows for _, rows in frames(data.attempt(frame.toArrow).to_batches())])
    except SfumatoError as error:
        said = str(error)
    else:
        said = ""
    if said:
        raise FileError(
            "Spark's workers could not run sfumato. Install the same versions of sfumato, Polars and Python there as "
            f"here. {said}"
        )
    for row in found.unique().iter_rows(named=True):
        differ = [name for name, value in here.items() if row[name] != value]
        if differ:
            what = " and ".join(differ)
            raise FileError(f"Spark's workers have another {what} than this machine. Install the same versions there.")


@dataclass(frozen=True)
class Probe:
    """What a worker has."""

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One record of it."""
        for _ in records:
            pass
        yield from packed(0, pl.DataFrame([known_draw()]))
