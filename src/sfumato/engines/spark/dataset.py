"""The engine for data that live on a Spark cluster."""

from __future__ import annotations

import contextlib
import io
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Part, WithoutFrame
from sfumato.data.files.table import listed
from sfumato.data.query import COUNT, WEIGHT, Classes, Counts, Folded, Largest, Moments, Quantiles, Query
from sfumato.engines.answers import refuse_unknown
from sfumato.engines.classes import class_sizes, class_values, empty_classes, together
from sfumato.engines.folding import Folding
from sfumato.engines.spark.blobs import DDL, frames, gone
from sfumato.engines.spark.guard import guarded, told
from sfumato.engines.spark.reading import Blobs, Columns, seen_from_anywhere
from sfumato.engines.spark.session import Home, asked
from sfumato.engines.spark.work import (
    Bounded,
    Fold,
    Grouped,
    Merged,
    OfPlace,
    Pipe,
    Placed,
    Step,
    added,
    bound,
    by_bounds,
    by_hash,
    by_strata,
    of_strata,
    sizes,
)
from sfumato.engines.spark.writing import Writer, cuts, finished, sample, swept, told_in_parts, weigh
from sfumato.errors import DataError, FileError, SfumatoError, TooManyGroups

__all__ = ["MOST_GROUPS", "TOGETHER", "SparkDataset", "through"]

MOST_GROUPS = 5_000_000
"""Most groups that `Counts` fetches."""
TOGETHER = 64
"""Most partial answers that the driver merges itself."""
_VALUE = "sfumato:value"
_FEW = 1_000_000  # sizes of groups, not yet added up, that are fetched at once
_STRATA = 4096  # strata that each have a place of their own
_PLACE = 250_000  # rows of small strata that lie together
Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class SparkDataset(WithoutFrame):
    """Rows on a Spark cluster, with their codebook. Functions wait until something is asked.

    Parameters
    ----------
    records
        A frame of Spark with the records that the pipe reads.
    pipe
        Makes rows of them, on the workers.
    codebook
        What is known about each variable.
    home
        The session.
    width
        How many tasks it is divided into, about.
    max_stratum
        Most rows of a stratum that a step sees whole.
    memory
        Bytes that a worker may take for rows that it sorts.
    """

    records: Any = field(repr=False)
    pipe: Pipe = field(repr=False)
    codebook: Codebook
    home: Home = field(repr=False)
    width: int = 1
    max_stratum: int = 2_000_000
    memory: int = 10**9
    known: dict[Counts, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    @property
    def schema(self) -> pl.Schema:
        """Polars types of the columns."""
        return self.pipe.schema

    @property
    def as_read(self) -> bool:
        """Whether rows are as readers of files give them: NaN as missing, a type for every column."""
        return not self.pipe.steps and not isinstance(self.pipe.source, Blobs)

    def __enter__(self) -> SparkDataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was kept, and end the session where it is ours."""
        self.home.close()

    # questions

    @property
    def engine(self) -> str:
        """What it is called where a release or a screen names it."""
        return "spark"

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer a question, see `sfumato.data.query`."""
        return self.ask_all([query])[0]

    def ask_all(self, queries: Sequence[Query]) -> list[pl.DataFrame]:
        """Answer questions, those that can in one pass."""
        for query in queries:
            refuse_unknown(query, self.schema)
        if queries == [Counts(())] and Counts(()) in self.known:
            return [self.known[Counts(())]]
        together = self._together(queries)
        self.known.update((q, a) for q, a in zip(queries, together, strict=True) if q == Counts(()) and a is not None)
        return [
            answer if answer is not None else self._asked(query)
            for query, answer in zip(queries, together, strict=True)
        ]

    def _together(self, queries: Sequence[Query]) -> list[pl.DataFrame | None]:
        """Answers of what is told by one fold each, of one pass; None for other questions."""
        folds: list[Folded] = []
        wanted: dict[int, tuple[int, Callable[[pl.DataFrame], pl.DataFrame]]] = {}
        for i, query in enumerate(queries):
            found = self._one_fold(query)
            if found is not None:
                wanted[i] = len(folds), found[1]
                folds.append(found[0])
        answers: list[pl.DataFrame | None] = [None] * len(queries)
        if folds:
            share = max(_FEW // self.width, 1000)
            most = [share if isinstance(query, Counts) and query.by else None for query in queries]
            parts = self.folded_all(folds, [most[i] for i in wanted])
            for i, (place, finish) in wanted.items():
                part = parts[place]
                answers[i] = None if part is None else finish(part)
        return answers

    def _one_fold(self, query: Query) -> tuple[Folded, Callable[[pl.DataFrame], pl.DataFrame]] | None:
        """The fold that answers a question, and what makes the answer of what it found."""
        if isinstance(query, Folded):
            return query, lambda found: found
        if isinstance(query, Counts) and query.weight is None:
            by, types = list(query.by), {n: self.schema[n] for n in query.by}
            fold = Folded(query.by, lambda batch: sizes(batch, by), lambda parts: added(parts, by))
            return fold, (lambda found: found.cast(types).sort(by)) if by else (lambda found: found)
        if isinstance(query, Moments | Largest):
            return self._replayed(query)
        return None

    def _replayed(self, query: Moments | Largest) -> tuple[Folded, Callable[[pl.DataFrame], pl.DataFrame]]:
        """What `Folding` folds for a question that takes one pass: it is asked once to say so, and again to answer."""
        note = _Noting()

        def answer(fold: Callable[[Folded], pl.DataFrame]) -> pl.DataFrame:
            folding = Folding(fold, self.codebook, self.schema)
            return folding.moments(query) if isinstance(query, Moments) else folding.largest(query)

        with contextlib.suppress(_Noted):
            answer(note)
        return note.seen[0], lambda found: answer(lambda _: found)

    def _asked(self, query: Query) -> pl.DataFrame:
        folding = Folding(_Asking(self), self.codebook, self.schema)
        match query:
            case Counts(by, None):
                return self._counts(by)
            case Counts(by):
                counts = self.ask(Counts(by))
                return counts.with_columns(folding.weights(query)[WEIGHT])
            case Classes():
                return self._classes(query)
            case Quantiles():
                return folding.quantiles(query)
        raise AssertionError("every question has an answer")

    def folded_all(
        self, queries: Sequence[Folded], most: Sequence[int | None] | None = None
    ) -> list[pl.DataFrame | None]:
        """Answers to questions that fold, of one pass; None where a task's part of one has more than `most` rows."""
        columns = list(dict.fromkeys(n for query in queries for n in query.columns))
        data = self._only(columns)
        code = bound(tuple(queries))
        partial = through(data.records, Fold(data.pipe, code, tuple(most or [None] * len(queries))))
        if self.width > TOGETHER:
            partial = through(partial.repartition(TOGETHER // 4), Merged(code))
        found: list[list[pl.DataFrame]] = [[query.f(self._empty(query.columns))] for query in queries]
        lost: set[int] = set()
        for record in self.attempt(partial.toArrow).to_batches():
            lost |= gone(record)
            for place, frame in frames([record]):
                found[place].append(frame)
        merged = zip(queries, found, strict=True)
        return [None if i in lost else query.merge(pl.concat(some)) for i, (query, some) in enumerate(merged)]

    def _empty(self, columns: Sequence[str]) -> pl.DataFrame:
        return pl.Schema({n: self.schema[n] for n in columns}).to_frame()

    def _only(self, columns: Sequence[str]) -> SparkDataset:
        """The same, reading no other columns where no function waits that might look at them."""
        source = self.pipe.source
        if self.pipe.steps or list(columns) == list(source.schema):
            return self
        records = self.records
        if isinstance(source, Columns):
            records = records.select(*(records.columns[list(source.schema).index(n)] for n in columns))
        return replace(self, records=records, pipe=Pipe(source.only(columns)))

    def _counts(self, by: Sequence[str]) -> pl.DataFrame:
        with self.grouped(by) as groups:
            if groups.number > MOST_GROUPS:
                raise TooManyGroups(by, MOST_GROUPS)
            return groups.fetched().cast({n: self.schema[n] for n in by}).sort(by)

    def _classes(self, query: Classes) -> pl.DataFrame:
        """How many classes there are of each size; no class comes here."""
        by, value = list(query.by), query.value
        if value is None:
            with self.grouped(by) as groups:
                found = groups.each(lambda _, rows: [class_sizes(rows)])
        else:
            missing, name = self.codebook.missing(value, self.schema[value]), value
            held = pl.when(~missing).then(pl.col(name)).alias(_VALUE)
            beside = self.map(lambda batch: batch.with_columns(held))
            whole = beside.ask(Counts((_VALUE,)))
            with beside.grouped([*by, _VALUE], placed=by) as groups:
                found = groups.each(lambda _, rows: [class_values(rows, by, _VALUE, whole)])
        return together(pl.concat([empty_classes(value), *found]))

    def grouped(self, by: Sequence[str], placed: Sequence[str] | None = None) -> Groups:
        """How many rows there are of each group, still on the workers; those of equal `placed` lie together."""
        places = max(self.home.cores * 2, self.width)
        data = self._only(list(by))
        sizes = data.home.keep(
            through(data.records, Grouped(data.pipe, tuple(by), places, tuple(by if placed is None else placed)))
        )
        return Groups(self, tuple(by), sizes, self.total(sizes))

    def total(self, frame: Any) -> int:
        """The rows that records hold together."""
        found = self.attempt(lambda: frame.groupBy().sum("rows").toArrow())
        return int(found.column(0)[0].as_py() or 0)

    def _fetched(self, frame: Any) -> Iterator[tuple[int, pl.DataFrame]]:
        """Places and rows of records, fetched together."""
        table = self.attempt(frame.toArrow)
        return frames(table.to_batches())

    def fetched(self, frame: Any) -> list[pl.DataFrame]:
        """Rows of records, fetched together."""
        return [rows for _, rows in self._fetched(frame)]

    def attempt(self, run: Callable[[], Any]) -> Any:
        """Have Spark run something, and tell of an error in our own words.

        Raises
        ------
        SfumatoError
            What a worker said, or the class of the error alone.
        """
        try:
            with asked():
                return run()
        except SfumatoError:
            raise
        except Exception as error:
            said = told(error) or FileError(
                f"Spark stopped with {type(error).__name__}. Look at whether its workers run, and have enough memory "
                "and disk."
            )
        raise said

    # functions

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> SparkDataset:
        """Apply `f` to batches of rows, or to whole strata of `by`, see `sfumato.data.dataset`.

        Raises
        ------
        DataError
            With `by`: a stratum of more than `max_stratum` rows; names the columns.
        """
        step = Step.of(f, self.schema)
        book = (codebook or self.codebook).only(step.schema)
        if by is None:
            return replace(self, pipe=Pipe(self.pipe.source, (*self.pipe.steps, step)), codebook=book, known={})
        places = self._places(list(by))
        divided = through(self.records, Bounded(self.pipe, bound(places)))
        work = OfPlace(bound(of_strata(step, by)))
        made = self.home.keep(_by_place(divided, work, self.places))
        pipe = Pipe(Blobs(step.schema))
        return replace(self, records=made, pipe=pipe, codebook=book, width=self.places, known={})

    @property
    def places(self) -> int:
        """How many tasks rows are divided into when they are sent to other workers."""
        return max(self.home.cores * 2, self.width)

    def _places(self, by: list[str]) -> Callable[[pl.DataFrame], pl.Series]:
        """Where each stratum goes; none is too large."""
        if not by:
            self._refuse_large(int(self.ask(Counts(())).item(0, COUNT)), by)
            return by_hash((), 1)
        (strata,) = self._together([Counts(tuple(by))])
        with contextlib.nullcontext() if strata is not None else self.grouped(by) as groups:
            if groups is None or groups.number <= _FEW:
                strata = groups.fetched() if groups is not None else strata
                assert strata is not None
                self._refuse_large(int(strata[COUNT].max() or 0), by)  # type: ignore[arg-type]
                rows = int(strata[COUNT].sum())
                if strata.height <= _STRATA:
                    return by_strata(strata.select(by), by)
            else:
                each = pl.concat(groups.each(lambda _, sizes: [_told(sizes)]))
                self._refuse_large(int(each["largest"].max() or 0), by)  # type: ignore[arg-type]
                rows = int(each["rows"].sum())
        return by_hash(by, max(rows // _PLACE, self.home.cores * 4, 16))

    def _refuse_large(self, largest: int, by: Sequence[str]) -> None:
        if largest <= self.max_stratum:
            return
        if not by:
            raise DataError(
                "This step must see the whole table at once, which has more rows than --max-stratum allows. Give the "
                "step columns to divide it by, where it takes `by`, or a larger --max-stratum."
            )
        raise DataError(
            f"A stratum of {listed(list(by))} has more rows than --max-stratum allows. Divide by more columns, or give "
            "a larger --max-stratum."
        )

    # rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Stream rows to this process, in no promised order; at least one batch, which may be empty."""
        data = self if columns is None else self._only(columns)
        wanted = None if columns is None else tuple(columns)
        yield (self.schema.to_frame() if wanted is None else self._empty(wanted))
        frame = through(data.records, Placed(data.pipe, wanted))
        rows = self.attempt(lambda: iter(frame.toLocalIterator(prefetchPartitions=True)))
        while (row := self.attempt(lambda: next(rows, None))) is not None:
            yield pl.read_ipc_stream(io.BytesIO(bytes(row["blob"])))

    def write_parts(self, folder: str, order: Sequence[str] = (), part_bytes: int = 128 * 2**20) -> list[Part]:
        """Write the rows as Parquet parts into an empty folder, on the workers.

        Parameters
        ----------
        folder
            A folder or an address that this machine and all workers see.
        order
            Columns that rows are sorted by over all parts, missing first.
        part_bytes
            Size of a part, about.

        Raises
        ------
        FileError
            Where parts that workers wrote cannot be seen from here.
        """
        folder, run, book = seen_from_anywhere(folder), uuid.uuid4().hex, told_in_parts(self.codebook)
        try:
            if order:
                data = self.kept()
                found, weight = data.ask_all([sample(order), weigh(list(self.schema))])
                bounds = cuts(found, weight, order, part_bytes, self.memory)
                divided = through(data.records, Bounded(data.pipe, bound(by_bounds(bounds, order))))
                writer = Writer(folder, run, part_bytes, Pipe(Blobs(self.schema)), book, tuple(order))
                made = _by_place(divided, writer, self.places)
            else:
                made = through(self.records, Writer(folder, run, part_bytes, self.pipe, book))
            told_of = self.fetched(made)
        except BaseException:
            swept(folder, run)
            raise
        return finished(folder, run, pl.concat(told_of)) if told_of else []

    def kept(self) -> SparkDataset:
        """The same, with its functions applied and the rows kept on the workers' disks."""
        if not self.pipe.steps:
            return self
        made = self.home.keep(through(self.records, Placed(self.pipe)))
        return replace(self, records=made, pipe=Pipe(Blobs(self.schema)))


@dataclass
class Groups:
    """Sizes of groups on the workers: of parts of them, until they are added up."""

    data: SparkDataset
    by: tuple[str, ...]
    sizes: Any
    number: int
    whole: bool = False

    def __post_init__(self) -> None:
        if self.number > _FEW:  # add up before anything is fetched
            by = self.by
            merged = self.data.home.keep(
                _by_place(self.sizes, OfPlace(bound(lambda _, rows: [added(rows, by)])), self.data.places)
            )
            self.number, self.whole = self.data.total(merged), True
            self._forget()
            self.sizes = merged

    def __enter__(self) -> Groups:
        return self

    def __exit__(self, *_: object) -> None:
        self._forget()

    def _forget(self) -> None:
        self.data.attempt(self.sizes.unpersist)
        self.data.home.kept.remove(self.sizes)

    def fetched(self) -> pl.DataFrame:
        """The groups and their sizes."""
        empty = self.data.schema.to_frame().select(self.by).with_columns(pl.lit(None, pl.Int64).alias(COUNT))
        return added(pl.concat([empty, *self.data.fetched(self.sizes)]), self.by)

    def each(self, f: Callable[[int, pl.DataFrame], Iterable[pl.DataFrame]]) -> list[pl.DataFrame]:
        """What a function makes of the groups of each place, on the workers."""
        by = self.by
        whole = OfPlace(bound(lambda place, rows: f(place, added(rows, by))))
        return self.data.fetched(_by_place(self.sizes, whole, self.data.places))


class _Asking:
    """Folds in Spark; what is sent to the workers of it is nothing, though functions that are sent may hold it."""

    def __init__(self, data: SparkDataset | None = None) -> None:
        self.data = data

    def __call__(self, query: Folded) -> pl.DataFrame:
        assert self.data is not None, "workers ask nothing"
        (found,) = self.data.folded_all([query])
        assert found is not None
        return found

    def __reduce__(self) -> tuple[type[_Asking], tuple[()]]:
        return _Asking, ()


class _Noting:
    """Notes what would be folded."""

    def __init__(self) -> None:
        self.seen: list[Folded] = []

    def __call__(self, query: Folded) -> pl.DataFrame:
        self.seen.append(query)
        raise _Noted

    def __reduce__(self) -> tuple[type[_Noting], tuple[()]]:
        return _Noting, ()


class _Noted(Exception):
    """A fold was seen."""


def _height(batch: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({COUNT: [batch.height]}, schema={COUNT: pl.Int64})


def _sum(parts: pl.DataFrame) -> pl.DataFrame:
    return parts.sum()


def _told(sizes: pl.DataFrame) -> pl.DataFrame:
    return sizes.select(pl.col(COUNT).max().alias("largest"), pl.col(COUNT).sum().alias("rows"))


def through(frame: Any, work: Work) -> Any:
    """Send records through a function on the workers."""

    def run(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return guarded(lambda: work(records))

    with asked():
        return frame.mapInArrow(run, DDL)


def _by_place(frame: Any, work: Work, many: int) -> Any:
    """Send the records of each place through a function on one worker."""

    def run(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return guarded(lambda: work(records))

    run.__annotations__ = {"records": Iterator[pa.RecordBatch], "return": Iterator[pa.RecordBatch]}
    with asked():
        return frame.repartition(many, "place").groupBy("place").applyInArrow(run, DDL)
