"""What workers do with rows. Nothing here knows Spark: records come in, records go out."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.data.files.table import listed
from sfumato.data.query import Folded
from sfumato.engines.answers import keys
from sfumato.engines.spark.blobs import BATCH, bucketed, chosen, frames, given_up, gone, hashed, packed
from sfumato.engines.spark.reading import Source
from sfumato.errors import DataError

__all__ = [
    "Bounded",
    "Fold",
    "Grouped",
    "Merged",
    "OfPlace",
    "Pipe",
    "Placed",
    "Step",
    "added",
    "bound",
    "by_bounds",
    "by_hash",
    "by_strata",
    "of_strata",
]

_WAITING = 8  # batches of rows that are divided at once: fewer, larger blobs
SIZE = "sfumato:count"


def bound(what: Any) -> bytes:
    """A function or several as bytes, with all that they hold: what they mean does not change any more."""
    from pyspark import cloudpickle

    return bytes(cloudpickle.dumps(what))


@dataclass(frozen=True)
class Step:
    """A function of a batch, as bytes: it is bound when it is given, whatever its names stand for later.

    Parameters
    ----------
    code
        The function.
    schema
        Types of what it makes of an empty batch, so of every batch.
    """

    code: bytes
    schema: pl.Schema

    @classmethod
    def of(cls, f: Callable[[pl.DataFrame], pl.DataFrame], given: pl.Schema) -> Step:
        """Bind a function of batches with such columns."""
        return cls(bound(f), f(given.to_frame()).schema)


def _alike(batch: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """A batch with the columns and types of all, in their order."""
    found = batch.schema
    if found == schema:
        return batch
    if dict(found) == dict(schema):
        return batch.select(list(schema))
    differ = [n for n in dict.fromkeys([*found, *schema]) if found.get(n) != schema.get(n)]
    raise DataError(f"A step made other columns or types of some rows than of none: look at {listed(differ)}.")


@dataclass(frozen=True)
class Pipe:
    """Rows, and the functions that wait to be applied to each batch of them."""

    source: Source
    steps: tuple[Step, ...] = ()

    @property
    def schema(self) -> pl.Schema:
        """Types of what comes out."""
        return self.steps[-1].schema if self.steps else self.source.schema

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
        """Batches of rows, at most `BATCH` at a time where the source says so; none where there are none."""
        functions = [(pickle.loads(step.code), step.schema) for step in self.steps]
        for batch in self.source.rows(records):
            for f, schema in functions:
                batch = _alike(f(batch), schema)
            yield batch


@dataclass(frozen=True)
class Placed:
    """Rows as they are."""

    pipe: Pipe
    columns: tuple[str, ...] | None = None

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Records of them."""
        for batch in self.pipe(records):
            yield from packed(0, batch if self.columns is None else chosen(batch, self.columns))


@dataclass(frozen=True)
class Fold:
    """Partial answers to several questions, in one pass; the place of a record is the number of its question.

    Parameters
    ----------
    pipe
        The rows.
    code
        The questions.
    most
        Of each, how many rows its partial answer may have, or None. Where there are more, the answer is given up: the
        record has a number of rows below 0.
    """

    pipe: Pipe
    code: bytes
    most: tuple[int | None, ...]

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One partial answer to each question, where there are rows."""
        queries: tuple[Folded, ...] = pickle.loads(self.code)
        waiting: list[list[pl.DataFrame] | None] = [[] for _ in queries]
        for batch in self.pipe(records):
            for i, (query, some) in enumerate(zip(queries, waiting, strict=True)):
                if some is None:
                    continue
                some.append(query.f(chosen(batch, query.columns)))
                if len(some) >= 4 and sum(part.height for part in some) > max(some[0].height * 2, 1000):
                    some[:] = [query.merge(pl.concat(some))]
                    if self._too_many(i, some[0]):
                        waiting[i] = None
            if all(some is None for some in waiting):
                break
        for i, (query, some) in enumerate(zip(queries, waiting, strict=True)):
            whole = query.merge(pl.concat(some)) if some else None
            if some is None or (whole is not None and self._too_many(i, whole)):
                yield given_up(i)
            elif whole is not None:
                yield from packed(i, whole)

    def _too_many(self, i: int, frame: pl.DataFrame) -> bool:
        most = self.most[i]
        return most is not None and frame.height > most


@dataclass(frozen=True)
class Merged:
    """Merge partial answers that lie together; each keeps its question's number."""

    code: bytes

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One partial answer to each question that there is one of."""
        queries: tuple[Folded, ...] = pickle.loads(self.code)
        found: dict[int, list[pl.DataFrame]] = {}
        lost: set[int] = set()
        for record in records:
            lost.update(gone(record))
            for place, part in frames([record]):
                found.setdefault(place, []).append(part)
        for place in lost:
            yield given_up(place)
        for place, some in found.items():
            yield from packed(place, queries[place].merge(pl.concat(some)))


Places = Callable[[pl.DataFrame], pl.Series]


def by_hash(by: Sequence[str], buckets: int) -> Places:
    """Places of rows whose key lies there."""
    names = tuple(by)
    return lambda batch: hashed(batch, names, buckets)


def by_strata(strata: pl.DataFrame, by: Sequence[str]) -> Places:
    """Places of rows: the number of their stratum in a list of all."""
    names = list(by)
    marks = [f"sfumato:key:{i}" for i in range(len(names))]
    numbered = strata.select(pl.col(n).alias(m) for n, m in zip(names, marks, strict=True)).with_row_index("sfumato:at")

    def places(batch: pl.DataFrame) -> pl.Series:
        own = batch.select(key.alias(m) for key, m in zip(keys(names, batch.schema), marks, strict=True))
        return own.join(numbered, on=marks, how="left", nulls_equal=True, maintain_order="left")["sfumato:at"].cast(
            pl.Int32
        )

    return places


def by_bounds(bounds: pl.DataFrame, order: Sequence[str]) -> Places:
    """Places of rows between bounds, which are sorted: how many bounds are at or below a row.

    Examples
    --------
    >>> by_bounds(pl.DataFrame({"a": [3, 5]}), ["a"])(pl.DataFrame({"a": [5, 1, 4, None, 3]})).to_list()
    [2, 0, 1, 0, 1]
    """
    names = list(order)
    at, mark = "sfumato:at", "sfumato:bound"

    def places(batch: pl.DataFrame) -> pl.Series:
        own = batch.select(names).with_row_index(at).with_columns(pl.lit(0, pl.Int32).alias(mark))
        cuts = bounds.select(names).with_columns(pl.lit(1, pl.Int32).alias(mark), pl.lit(None, pl.UInt32).alias(at))
        both = pl.concat([own.select(*names, at, mark), cuts.select(*names, at, mark)])
        # a bound stands before the rows that equal it
        placed = both.sort(*names, mark, descending=[*([False] * len(names)), True], nulls_last=False)
        return placed.select(at, pl.col(mark).cum_sum()).drop_nulls(at).sort(at)[mark]

    return places


@dataclass(frozen=True)
class Bounded:
    """Rows divided by place."""

    pipe: Pipe
    code: bytes

    @classmethod
    def of(cls, pipe: Pipe, places: Places) -> Bounded:
        """Bind what tells the place of each row."""
        return cls(pipe, bound(places))

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Records of each place."""
        places: Places = pickle.loads(self.code)
        for rows in _gathered(self.pipe(records), _WAITING * BATCH):
            yield from bucketed(rows, places(rows))


@dataclass(frozen=True)
class Grouped:
    """Sizes of groups, divided by place; each group's size is told in as many parts as it takes to stay bounded.

    Parameters
    ----------
    pipe
        The rows.
    by
        What groups them.
    buckets
        How many places.
    placed
        Which columns tell the place of a group.
    most
        Groups that are held at once.
    """

    pipe: Pipe
    by: tuple[str, ...]
    buckets: int
    placed: tuple[str, ...]
    most: int = 500_000

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Records of sizes."""
        waiting: list[pl.DataFrame] = []
        for batch in self.pipe(records):
            waiting.append(sizes(batch, self.by))
            if sum(part.height for part in waiting) > self.most:
                merged = added(pl.concat(waiting), self.by)
                waiting = [merged]
                if merged.height > self.most // 2:
                    yield from bucketed(merged, hashed(merged, self.placed, self.buckets))
                    waiting = []
        if waiting:
            merged = added(pl.concat(waiting), self.by)
            yield from bucketed(merged, hashed(merged, self.placed, self.buckets))


def sizes(batch: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """How many rows there are of each group; −0 is 0, and NaN is missing."""
    plain = [
        key + 0.0 if batch.schema[name].is_float() else key
        for key, name in zip(keys(by, batch.schema), by, strict=True)
    ]
    count = pl.len().cast(pl.Int64).alias(SIZE)
    return batch.select(plain).group_by(by).agg(count) if by else batch.select(count)


def added(parts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Sizes of groups, of sizes of parts of them."""
    total = pl.col(SIZE).sum()
    return parts.group_by(by).agg(total) if by else parts.select(total)


@dataclass(frozen=True)
class OfPlace:
    """What is made of all rows of one place, which are in memory together."""

    code: bytes

    @classmethod
    def of(cls, f: Callable[[int, pl.DataFrame], Iterable[pl.DataFrame]]) -> OfPlace:
        """Bind what makes rows of the rows of a place."""
        return cls(bound(f))

    def __call__(self, records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Records of the same place."""
        f = pickle.loads(self.code)
        found = list(frames(records))
        if found:
            place = found[0][0]
            rows = pl.concat([part for _, part in found])
            del found
            for made in f(place, rows):
                yield from packed(place, made)


def of_strata(step: Step, by: Sequence[str]) -> Callable[[int, pl.DataFrame], Iterator[pl.DataFrame]]:
    """A function of whole strata, for the strata of one place."""
    names = tuple(by)

    def apply(place: int, rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
        f: Any = pickle.loads(step.code)

        def made() -> Iterator[pl.DataFrame]:
            for stratum in _each(rows, names):
                yield _alike(f(stratum), step.schema)

        return _gathered(made(), BATCH)

    return apply


def _each(rows: pl.DataFrame, by: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Whole strata."""
    if not by:
        yield rows
        return
    at = rows.with_row_index("sfumato:at").group_by(keys(by, rows.schema)).agg("sfumato:at")["sfumato:at"]
    if len(at) == 1:
        yield rows
        return
    yield from (rows[some] for some in at)


def _gathered(batches: Iterable[pl.DataFrame], most: int) -> Iterator[pl.DataFrame]:
    """Batches put together until there are `most` rows."""
    waiting: list[pl.DataFrame] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.height
        if held >= most:
            yield pl.concat(waiting)
            waiting, held = [], 0
    if waiting:
        yield pl.concat(waiting)
