"""An engine for Parquet parts in bounded memory: rows are streamed, and DuckDB sorts and counts them.

Methods are the same on it as in memory, and so is what they release, to the last bit: no method knows where rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import EachColumn, Part, WithoutFrame
from sfumato.data.files.table import listed
from sfumato.data.query import CLASSES, COUNT, SIZE, WEIGHT, Classes, Counts, Moments, Query
from sfumato.engines.answers import keys, refuse_unknown
from sfumato.engines.classes import class_sizes, class_values, empty_classes, together
from sfumato.engines.folding import ADDED, Folding, ended
from sfumato.engines.parts import Parts, PartsWriter
from sfumato.engines.passes import answer_together, counting, fold_all, told_by
from sfumato.engines.spill import BATCH, Ask, Spill
from sfumato.engines.stored import Stored
from sfumato.errors import DataError, TooManyGroups

__all__ = ["MAX_STRATUM", "MOST_GROUPS", "DuckDBDataset"]

MAX_STRATUM = 2_000_000
MOST_GROUPS = 5_000_000
_HIDDEN = "sfumato:"
_KEY, _VALUE = "sfumato:key", "sfumato:value"
_FEW = 200_000
"""Groups that are counted while rows are streamed for other questions; more are counted by the database."""

Function = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class DuckDBDataset(WithoutFrame):
    """A table in Parquet parts with its codebook; functions that are mapped wait until rows are asked for.

    Parameters
    ----------
    source
        The parts.
    schema
        Types of the columns, after the functions that wait.
    codebook
        What is known about each variable.
    spill
        Where rows go that do not fit into memory.
    max_stratum
        Most rows of a stratum that is brought together.

    Examples
    --------
    >>> data = DuckDBDataset.of(pl.DataFrame({"sex": ["f", "m", "f"]}), Codebook())
    >>> data.ask(Counts(("sex",)))["sfumato:count"].to_list()
    [2, 1]
    >>> data.close()
    """

    source: Parts
    schema: pl.Schema
    codebook: Codebook
    spill: Spill = field(repr=False)
    max_stratum: int = MAX_STRATUM
    given: Parts | None = field(default=None, repr=False)
    waiting: tuple[tuple[Function, pl.Schema], ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, frame: pl.DataFrame, codebook: Codebook, spill: Spill | None = None, part_rows: int = BATCH
    ) -> DuckDBDataset:
        """Put a frame into parts, in a folder for temporary files if none is given."""
        spill = spill or Spill()
        folder = spill.folder()
        with spill.filling(), PartsWriter(folder, frame.schema, part_bytes=1, compression="lz4") as writer:
            for rows in frame.iter_slices(part_rows):
                writer.write(rows)
                writer.flush()
        return cls(writer.opened(), frame.schema, codebook.only(frame.columns), spill)

    def __enter__(self) -> DuckDBDataset:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Remove all that was spilled for this table and for those made of it."""
        self.spill.close()

    @property
    def as_read(self) -> bool:
        """Whether rows are as readers of files give them: NaN as missing, a type for every column."""
        return self.source.given and not self.waiting

    def unchanged(self) -> None:
        """See that the parts which were opened are as they were.

        Raises
        ------
        FileError
            Names the part that is not.
        """
        if self.given is not None:
            self.given.unchanged()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Stream rows, see `sfumato.data.dataset.Parted`."""
        names = list(self.schema) if columns is None else list(columns)
        empty = True
        apart = all(isinstance(f, EachColumn) for f, _ in self.waiting)
        for batch in self.source.batches(names if apart else None):
            rows = batch
            for f, schema in self.waiting if names or not apart else ():
                rows = _alike(f(rows), pl.Schema({n: schema[n] for n in names}) if apart else schema)
            empty = False
            yield rows.select(names) if names else pl.DataFrame(height=rows.height)
        if empty:
            yield pl.Schema({n: self.schema[n] for n in names}).to_frame()

    @property
    def engine(self) -> str:
        """What it is called where a release or a screen names it."""
        return "duckdb"

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer a question, see `sfumato.data.query`."""
        return self.ask_all([query])[0]

    def ask_all(self, queries: Sequence[Query]) -> list[pl.DataFrame]:
        """Answer several questions, in one pass where they can be folded."""
        for query in queries:
            refuse_unknown(query, self.schema)
        folding = Folding(lambda query: fold_all(self.batches, [query])[0], self.codebook, self.schema)
        finest = told_by(queries)
        asked = {
            i: asking
            for i, query in enumerate(queries)
            if finest.get(i, i) == i
            and (asking := folding.digits(query) if isinstance(query, Moments) else folding.asking(query)) is not None
        }
        counted = {i: query.by for i, query in enumerate(queries) if isinstance(query, Counts)}
        grouped = {i: counting(by, keys(by, self.schema)) for i, by in counted.items()}
        weights = {i: asked.pop(i) for i in counted if i in asked}
        grouped |= {~i: next(asking) for i, asking in weights.items()}  # these are as many, and go the same way
        answers, groups = answer_together(self.batches, asked, grouped, _FEW)
        told = []
        for i, query in enumerate(queries):
            match query:
                case Counts(by, weight):
                    found = groups[i] if i in groups else self._counts(by)
                    found = found.sort(by) if by else found
                    if weight is not None:
                        sums = ended(weights[i], groups[~i]) if ~i in groups else self._weights(query, folding)
                        found = found.with_columns(sums[WEIGHT])
                    told.append(found)
                case Classes():
                    told.append(self._classes(query))
                case Moments():
                    told.append(folding.told(query, answers[finest[i]]))
                case _:
                    told.append(answers[i])
        return told

    def map(self, f: Function, by: Sequence[str] | None = None, codebook: Codebook | None = None) -> DuckDBDataset:
        """Apply `f` to batches of rows, or to whole strata of `by`, see `sfumato.data.dataset`."""
        if by is None:
            schema = f(self.schema.to_frame()).schema
            book = (codebook or self.codebook).only(schema)
            return replace(self, schema=schema, codebook=book, waiting=(*self.waiting, (f, schema)))
        self._refuse_long(by)
        schema = f(self.schema.to_frame()).schema
        folder = self.spill.folder()
        with self.spill.filling(), PartsWriter(folder, schema, compression="lz4") as writer:
            for stratum in self._strata(by):
                writer.write(_alike(f(stratum), schema))
                del stratum  # two long ones would not fit
        book = (codebook or self.codebook).only(schema)
        return replace(self, source=writer.opened(), schema=schema, codebook=book, waiting=())

    def kept(self) -> Self:
        """Keep what the functions that wait make of the rows, see `sfumato.data.dataset.Parted`."""
        if not self.waiting:
            return self
        with PartsWriter(self.spill.folder(), self.schema, compression="lz4") as writer:
            for batch in self.batches():
                writer.write(batch)
        return replace(self, source=writer.opened(), waiting=())

    def write_parts(self, folder: str, order: Sequence[str] = (), part_bytes: int = 128 * 2**20) -> list[Part]:
        """Write all rows, see `sfumato.data.dataset.Parted`."""
        schema = pl.Schema({n: t for n, t in self.schema.items() if not n.startswith(_HIDDEN)})
        columns = list(dict.fromkeys((*schema, *order)))
        rows = self._sorted(columns, order) if order else self.batches(columns)
        with PartsWriter(folder, schema, self.codebook, part_bytes) as writer:
            for batch in rows:
                writer.write(batch.select(list(schema)))
        self.unchanged()
        return writer.parts

    def _counts(self, by: Sequence[str]) -> pl.DataFrame:
        """Counts of groups that are many: counted first, and told where they are not too many."""
        with self._asking(by) as (ask, stored):
            names = ", ".join(stored.names[n] for n in stored.table)
            groups = ask(f"SELECT {names}, count(*) AS n FROM {{rows}} GROUP BY {names}").limit(MOST_GROUPS + 1).pl()
        if groups.height > MOST_GROUPS:
            raise TooManyGroups(by, MOST_GROUPS)
        told = stored.back(groups).with_columns(groups["n"].cast(pl.Int64).alias(COUNT))
        return told.rename({f"{_KEY}{i}": n for i, n in enumerate(by)}).sort(by)

    def _weights(self, query: Counts, folding: Folding) -> pl.DataFrame:
        """Sums of the weights of groups that are many, but not too many: the database adds up their digits."""
        fold = next(folding.weighing(query))
        stored = Stored(fold.f(self.schema.to_frame().select(fold.columns)).schema)
        rows = (stored.to(fold.f(batch)) for batch in self.batches(fold.columns))
        names = [stored.names[n] for n in query.by]
        apart = ", ".join(c for n, c in stored.names.items() if n not in ADDED)
        added = ", ".join(f"{how.format(stored.names[n])} AS {stored.names[n]}" for n, how in ADDED.items())
        told = []
        with self.spill.asking(rows, stored.schema) as ask:
            ordered = f" ORDER BY {', '.join(names)}" if names else ""
            found = ask(f"SELECT {apart}, {added} FROM {{rows}} GROUP BY {apart}{ordered}")
            for digits in _whole((pl.DataFrame(batch) for batch in found.to_arrow_reader(BATCH)), names):
                asking = folding.weighing(query)
                next(asking)
                told.append(ended(asking, stored.back(digits)))
        return pl.concat(told).sort(query.by) if names else told[0]

    def _classes(self, query: Classes) -> pl.DataFrame:
        if query.value is not None:
            return self._classes_of(query.by, query.value)
        if not query.by:
            height = self.ask(Counts(()))
            return class_sizes(height) if height.item() else empty_classes()
        with self._asking(query.by) as (ask, stored):
            names = ", ".join(stored.names[n] for n in stored.table)
            sizes = f"SELECT count(*) AS n FROM {{rows}} GROUP BY {names}"
            found: pl.DataFrame = ask(f"SELECT n, count(*) AS times FROM ({sizes}) GROUP BY n ORDER BY n").pl()
        return found.select(pl.col("n").cast(pl.Int64).alias(SIZE), pl.col("times").cast(pl.Int64).alias(CLASSES))

    def _classes_of(self, by: Sequence[str], value: str) -> pl.DataFrame:
        """Classes with what they hold of a value: whole classes are streamed out of the database, sorted."""
        whole = self._counts_of_value(value)
        with self._asking(by, value) as (ask, stored):
            held = stored.names[_VALUE]
            names = [stored.names[f"{_KEY}{i}"] for i in range(len(by))]
            listed_names = ", ".join((*names, held))
            query = f"SELECT {listed_names}, count(*) AS n FROM {{rows}} GROUP BY {listed_names}"
            if names:
                query += f" ORDER BY {', '.join(names)}"
            answers = [empty_classes(value)]
            reader = ask(query).to_arrow_reader(BATCH)
            told = (pl.col("n").cast(pl.Int64).alias(COUNT), pl.col(held).cast(stored.schema[held]).alias(_VALUE))
            for counts in _whole((pl.DataFrame(batch).select(*names, *told) for batch in reader), names):
                answers.append(class_values(counts, names, _VALUE, whole))
                if len(answers) == 32:
                    answers = [together(pl.concat(answers))]
        return together(pl.concat(answers))

    def _counts_of_value(self, value: str) -> pl.DataFrame:
        """How often the whole table has each value, as the database has it."""
        with self._asking((), value) as (ask, stored):
            name = stored.names[_VALUE]
            groups = ask(f"SELECT {name}, count(*) AS n FROM {{rows}} GROUP BY {name}")
            found: pl.DataFrame = groups.limit(MOST_GROUPS + 1).pl()
        if found.height > MOST_GROUPS:
            raise TooManyGroups((value,), MOST_GROUPS)
        return found.select(pl.col(name).alias(_VALUE), pl.col("n").cast(pl.Int64).alias(COUNT))

    @contextmanager
    def _asking(self, by: Sequence[str], value: str | None = None) -> Iterator[tuple[Ask, Stored]]:
        """Let the database ask about the columns `by` as groups are told apart, and one without its missing values."""
        told = [key.alias(f"{_KEY}{i}") for i, key in enumerate(keys(by, self.schema))]
        if value is not None:
            missing = self.codebook.missing(value, self.schema[value])
            held = pl.when(~missing).then(pl.col(value))
            told.append((held + 0.0 if self.schema[value].is_float() else held).alias(_VALUE))
        columns = list(dict.fromkeys((*by, *(() if value is None else (value,)))))
        schema = self.schema.to_frame().select(told).schema
        stored = Stored(schema)
        rows = (stored.to(batch.select(told)) for batch in self.batches(columns))
        with self.spill.asking(rows, stored.schema) as ask:
            yield ask, stored

    def _sorted(self, columns: Sequence[str], order: Sequence[str]) -> Iterator[pl.DataFrame]:
        stored = Stored(pl.Schema({n: self.schema[n] for n in columns}))
        rows = (stored.to(batch) for batch in self.batches(columns))
        for batch in self.spill.sorted(rows, stored.schema, [stored.names[n] for n in order]):
            yield stored.back(batch)

    def _refuse_long(self, by: Sequence[str]) -> None:
        """Refuse to bring strata together of which one is too long to hold."""
        if not by:
            if self.ask(Counts(())).item() > self.max_stratum:
                raise DataError(
                    f"This step needs all rows of the table at once, which are more than {self.max_stratum:,}. Let it "
                    "work within strata (`by`) where it can, or let more rows be held with --max-stratum."
                )
        elif (sizes := self.ask(Classes(tuple(by)))[SIZE]).len() and sizes[-1] > self.max_stratum:
            raise DataError(
                f"Strata of {listed(list(by))} hold more than {self.max_stratum:,} rows. Take more or finer columns "
                "for `by`, or let more rows be held with --max-stratum."
            )

    def _strata(self, by: Sequence[str]) -> Iterator[pl.DataFrame]:
        if not by:
            yield pl.concat(self.batches())
            return
        floats = [n for n in by if self.schema[n].is_float()]  # other columns are their own keys
        told = {f"{_KEY}{i}": key for i, key in enumerate(keys(floats, self.schema))}
        schema = self.schema.to_frame().with_columns(**told).schema
        stored = Stored(schema)
        names = [*(stored.names[n] for n in by if n not in floats), *(stored.names[n] for n in told)]
        rows = (stored.to(batch.with_columns(**told)) for batch in self.batches())
        for strata in _whole(self.spill.sorted(rows, stored.schema, names), names):
            left = [strata] if _is_one(strata, names) else strata.partition_by(names, maintain_order=True)
            del strata
            while left:
                yield stored.back(left.pop(0)).drop(told)


def _whole(batches: Iterable[pl.DataFrame], by: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Sorted rows in frames that divide no group; all at once without groups."""
    held: list[pl.DataFrame] = []
    last: object = None
    for batch in batches:
        if not batch.height:
            continue
        if by and held:
            ids = batch.select(pl.struct(by).rle_id()).to_series()
            begins = 0
            if batch.select(by).row(0) == last:
                begins = ids.search_sorted(1) if ids[-1] else batch.height
            if begins < batch.height:
                yield pl.concat([*held, batch[:begins]])
                held = []
                batch = batch[begins:]
        if by:
            ids = batch.select(pl.struct(by).rle_id()).to_series()
            ends = ids.search_sorted(ids[-1])
            if ends and not held:
                yield batch[:ends]
                batch = batch[ends:]
            last = batch.select(by).row(-1)
        held.append(batch)
    if held:
        yield pl.concat(held)


def _is_one(strata: pl.DataFrame, by: Sequence[str]) -> bool:
    """Whether sorted rows are all of one group."""
    ends = strata.select(by)
    return ends.row(0) == ends.row(-1)


def _alike(rows: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Refuse rows of other columns or types than an empty batch had."""
    if rows.schema == schema and rows.columns == list(schema):
        return rows
    other = [n for n in {**schema, **rows.schema} if rows.schema.get(n) != schema.get(n)]
    if other:
        raise DataError(f"A batch of rows has {listed(other)} of another type than an empty one, or not at all.")
    return rows.select(list(schema))
