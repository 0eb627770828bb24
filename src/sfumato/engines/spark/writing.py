"""Parquet parts that workers write, and the cuts between them where rows are sorted over all parts."""

from __future__ import annotations

import contextlib
import io
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.dataset import Part
from sfumato.data.files.address import Place, reached
from sfumato.data.query import Folded
from sfumato.engines.spark.blobs import BATCH, frames, hashed, packed
from sfumato.engines.spark.work import Pipe
from sfumato.errors import DataError, FileError

__all__ = ["Writer", "cuts", "finished", "sample", "swept", "told_in_parts", "weigh"]

_SAMPLE = 50_000  # different values of the columns of an order that tell where to cut
_WEIGHED = 10_000  # rows of a batch that tell how large parts get
_TIMES, _HASH = "sfumato:times", "sfumato:hash"
_TOLD = {"place": pl.Int32(), "turn": pl.Int32(), "name": pl.String(), "rows": pl.Int64()}


def sample(order: Sequence[str]) -> Folded:
    """A question: which values columns have, of those with the smallest hashes, and how often.

    So the same are found however the rows lie.
    """
    names = list(order)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        counted = batch.group_by(names).agg(pl.len().cast(pl.Int64).alias(_TIMES))
        return _smallest(counted.with_columns(hashed(counted, names, 2**31 - 1).cast(pl.Int64).alias(_HASH)))

    def merge(parts: pl.DataFrame) -> pl.DataFrame:
        return _smallest(parts.group_by(names).agg(pl.col(_TIMES).sum(), pl.col(_HASH).first()))

    return Folded(tuple(names), f, merge)


def _smallest(counted: pl.DataFrame) -> pl.DataFrame:
    if counted.height <= _SAMPLE:
        return counted
    bar = counted[_HASH].sort()[_SAMPLE - 1]
    return counted.filter(pl.col(_HASH) <= bar)


def weigh(columns: Sequence[str]) -> Folded:
    """A question: how many rows there are, and how many bytes some of them take in memory and in a part."""
    names = [n for n in columns if not n.startswith("sfumato:")]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        some = batch.head(_WEIGHED)
        target = io.BytesIO()
        some.select(names).write_parquet(target)
        written = len(target.getvalue()) if some.height else 0
        held = some.estimated_size() if some.height else 0
        told = {"rows": batch.height, "some": some.height, "held": held, "written": written}
        return pl.DataFrame({n: [v] for n, v in told.items()}, schema=dict.fromkeys(told, pl.Int64()))

    return Folded(tuple(columns), f, lambda parts: parts.sum())


def cuts(found: pl.DataFrame, weight: pl.DataFrame, order: Sequence[str], part_bytes: int, memory: int) -> pl.DataFrame:
    """The bounds between parts: none, or values of the columns of the order.

    Parameters
    ----------
    found, weight
        Answers to `sample` and `weigh`.
    order
        The columns.
    part_bytes
        Bytes of a part, about.
    memory
        Bytes of a worker; a quarter of them may hold a part's rows.

    Examples
    --------
    >>> found = pl.DataFrame({"a": [3, 1, 2], "sfumato:times": [10, 10, 10]})
    >>> weight = pl.DataFrame({"rows": [30], "some": [30], "held": [300], "written": [300]})
    >>> cuts(found, weight, ["a"], 100, 10_000)["a"].to_list()
    [2, 3]
    """
    names = list(order)
    rows, some, held, written = weight.row(0)
    number = -(-rows * written // (max(some, 1) * part_bytes))
    number = max(number, -(-rows * held * 4 // (max(some, 1) * memory)), 1)
    total = int(found[_TIMES].sum())
    sorted_values = found.sort(names, nulls_last=False)
    ahead = pl.col(_TIMES).cum_sum() - pl.col(_TIMES)
    # the part that each value begins in, by the rows ahead of it
    begun = sorted_values.with_columns((ahead * number // max(total, 1)).alias(_HASH))
    starts = begun.filter((pl.col(_HASH) != pl.col(_HASH).shift(1)).fill_null(False))
    return starts.select(names)


@dataclass(frozen=True)
class Writer:
    """Write rows as parts, under names of this run.

    Parameters
    ----------
    folder
        Where to.
    run
        Name of this run.
    part_bytes
        Bytes of a part, about.
    pipe
        Makes rows of records.
    told
        What is written into each part beside its rows.
    order
        With it, all records are one part, and its rows are sorted.
    """

    folder: str
    run: str
    part_bytes: int
    pipe: Pipe
    told: str
    order: tuple[str, ...] = ()

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What was written: place, turn, name and rows of each part."""
        try:
            done = self._sorted(records) if self.order else self._as_they_come(records)
        except OSError:
            done = None
        if done is None:
            raise FileError(
                "A worker could not write a part of the release: is the folder one that all workers see and may write "
                "to, and is there space?"
            )
        yield from packed(0, pl.DataFrame(done, schema=_TOLD, orient="row"))

    def _sorted(self, records: Iterable[pa.RecordBatch]) -> list[tuple[int, int, str, int]]:
        found = list(frames(records))
        if not found:
            return []
        place = found[0][0]
        rows = pl.concat([frame for _, frame in found])
        del found
        at = rows.select(pl.arg_sort_by(list(self.order), nulls_last=False)).to_series()
        rows = _released(rows)
        with _Open(self, place) as file:
            for some in at.to_frame("at").iter_slices(BATCH):
                file.write(rows[some["at"]])
        return file.done

    def _as_they_come(self, records: Iterable[pa.RecordBatch]) -> list[tuple[int, int, str, int]]:
        with _Open(self, _partition()) as file:
            for batch in self.pipe(records):
                file.write(_released(batch))
        return file.done


class _Open:
    """The part that is written now; a new one begins where it is full, if rows may be cut anywhere."""

    def __init__(self, writer: Writer, place: int) -> None:
        self.writer, self.place = writer, place
        self.system, self.folder = reached(writer.folder)
        self.done: list[tuple[int, int, str, int]] = []
        self.file: Any = None
        self.stream: Any = None
        self.rows, self.name = 0, ""

    def __enter__(self) -> _Open:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def write(self, rows: pl.DataFrame) -> None:
        """Put rows into it."""
        if rows.is_empty():
            return
        table = rows.to_arrow()
        if self.file is None:
            self.name = f".{self.writer.run}-{self.place:06d}-{len(self.done):04d}-{uuid.uuid4().hex[:8]}"
            self.stream = self.system.open_output_stream(f"{self.folder}/{self.name}")
            schema = table.schema.with_metadata({"sfumato": self.writer.told})
            self.file = pq.ParquetWriter(self.stream, schema, compression="zstd")
        self.file.write_table(table.replace_schema_metadata({"sfumato": self.writer.told}), row_group_size=BATCH)
        self.rows += rows.height
        if not self.writer.order and self.stream.tell() >= self.writer.part_bytes:
            self._end()

    def _end(self) -> None:
        if self.file is None:
            return
        self.file.close()
        self.stream.close()
        self.done.append((self.place, len(self.done), self.name, self.rows))
        self.file, self.rows = None, 0


def _released(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(n for n in rows.columns if not n.startswith("sfumato:"))


def _partition() -> int:
    """The number of the task that runs here; 0 outside of Spark."""
    try:
        from pyspark import TaskContext

        context = TaskContext.get()
    except ImportError:
        return 0
    return 0 if context is None else int(context.partitionId())


def finished(folder: str, run: str, told: pl.DataFrame) -> list[Part]:
    """Give the parts of a run their names, and remove what else its workers left.

    Parameters
    ----------
    folder, run
        As in `Writer`.
    told
        What the workers say that they wrote.

    Raises
    ------
    FileError
        Where a part cannot be seen from here, or has other rows than were made.
    """
    place = Place.of(folder)
    done: list[Part] = []
    try:
        for _, _, name, rows in told.sort("place", "turn").iter_rows():
            if not place.holds(name, rows):
                raise FileError(
                    "Workers wrote parts that cannot be seen whole from here: they wrote to their own disks. Give "
                    "--out as an address that this machine and all workers see, such as hdfs:// or a shared folder."
                )
        for _, _, name, rows in told.sort("place", "turn").iter_rows():
            final = f"part-{len(done):05d}.parquet"
            place.rename(name, final)
            done.append(Part(final, rows))
    finally:
        swept(folder, run)
    return done


def swept(folder: str, run: str) -> None:
    """Remove what is left of a run that has no name yet."""
    place = Place.of(folder)
    with contextlib.suppress(FileError):
        for name in place.names() or {}:
            if name.startswith(f".{run}-"):
                place.remove(name)


def told_in_parts(book: Any) -> str:
    """What a part says of its columns, as a Parquet file of sfumato's says it."""
    try:
        return json.dumps(book.to_plain(), ensure_ascii=False)
    except (TypeError, ValueError):
        pass
    raise DataError("What is known about the columns cannot be written down.")
