"""What every engine offers: four members, and those that keep rows off memory a few more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NoReturn, Protocol, Self, TypeVar, cast, runtime_checkable

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.query import Query
from sfumato.errors import NotInMemory

__all__ = ["Dataset", "EachColumn", "Part", "Parted", "WithoutFrame", "ask_all", "rows", "with_codebook"]

D = TypeVar("D", bound="Dataset")


@dataclass(frozen=True)
class EachColumn:
    """A function for `map` that looks at each column by itself: engines read only those that a question is about.

    Parameters
    ----------
    f
        Makes of each column one of the same name, whatever others there are; leaves out no rows.

    Examples
    --------
    >>> EachColumn(lambda batch: batch.fill_null(0))(pl.DataFrame({"a": [1, None]}))["a"].to_list()
    [1, 0]
    """

    f: Callable[[pl.DataFrame], pl.DataFrame]

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The rows with their columns made anew."""
        return self.f(batch)


@runtime_checkable
class Dataset(Protocol):
    """A table with its codebook, wherever its rows are kept.

    A data set is a value: `map` gives a new one and leaves the old as it was.
    """

    @property
    def codebook(self) -> Codebook:
        """What is known about each variable, in column order."""
        ...

    @property
    def engine(self) -> str:
        """Where its rows are: `memory`, `duckdb`, `spark`."""
        ...

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer one of the questions of `sfumato.data.query`, in the form stated there."""
        ...

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> Self:
        """Apply `f` to every batch of rows and put the results together.

        Parameters
        ----------
        f
            Takes a frame and gives a frame; may drop rows and change columns and must not add rows. It may run any
            number of times, anywhere, in any order, so it has no side effects. What it makes of an empty batch has the
            columns and types of all batches. An empty table is one empty batch. It is bound when `map` is called:
            what it looks up later (a variable of a loop) may be another by the time that it runs.
        by
            Without it, batches are any partition of the rows. With it (even with no names), each call receives one
            whole stratum: all records that share the values of `by`, null and NaN counting as one value of their own.
        codebook
            What is known about the variables afterwards; without it, what was known before.

        Returns
        -------
        Dataset
            In memory rows that are left keep the order of the input; elsewhere rows have no order. The codebook keeps
            what is known of the columns that are left; columns that it does not list have an empty entry.

        Raises
        ------
        DataError
            Where a batch has other columns or types than an empty one; names the columns. Off memory it may come only
            when the rows are asked for.
        """
        ...


@dataclass(frozen=True)
class Part:
    """One of the files that hold a table's rows together.

    Parameters
    ----------
    name
        Its name in their folder.
    rows
        How many rows it holds.

    Examples
    --------
    >>> Part("part-00000.parquet", 1000).rows
    1000
    """

    name: str
    rows: int


class WithoutFrame:
    """What tables whose rows stay where they are say of `.frame`.

    Examples
    --------
    >>> hasattr(WithoutFrame(), "frame")
    False
    """

    @property
    def frame(self) -> NoReturn:
        """There is none.

        Raises
        ------
        NotInMemory
            It says what to do instead.
        """
        raise NotInMemory


@runtime_checkable
class Parted(Dataset, Protocol):
    """A table whose rows are not in memory: they are streamed, and written in parts.

    `map` only notes what is to be done with `by` of None: functions are run one after the other on each batch when
    rows are asked for. With `by` whole strata are brought together at once, where none has more rows than the engine
    was told to hold; else a `DataError` names the columns of `by`, before anything is moved.
    """

    @property
    def schema(self) -> pl.Schema:
        """Types of the columns as they are now."""
        ...

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Stream rows, all columns or some: bounded batches in no promised order, at least one, which may be empty."""
        ...

    def kept(self) -> Self:
        """The same rows, worked out and kept: functions that wait are run once, and not again for each question.

        Where there is none, nothing is done. What is kept goes with `close`.
        """
        ...

    def write_parts(self, folder: str, order: Sequence[str] = (), part_bytes: int = 128 * 2**20) -> list[Part]:
        """Write all rows into Parquet files `part-00000.parquet` and so on.

        Parameters
        ----------
        folder
            One that is there and empty.
        order
            Columns by which rows are sorted over all parts, missing values first; without any they stay as they come.
        part_bytes
            About how long a part may be.

        Returns
        -------
        list of Part
            No part is empty. Columns whose names begin with `sfumato:` are left out.
        """
        ...

    def close(self) -> None:
        """Remove what was spilled for this table and for all that were made of it."""
        ...


def ask_all(data: Dataset, queries: Sequence[Query]) -> list[pl.DataFrame]:
    """Answer several questions, in one pass over the rows where the engine can.

    Examples
    --------
    >>> from sfumato.data.query import Counts
    >>> from sfumato.engines.polars import PolarsDataset
    >>> data = PolarsDataset(pl.DataFrame({"a": [1, 1], "b": [2, 3]}), Codebook())
    >>> [len(answer) for answer in ask_all(data, [Counts(("a",)), Counts(("b",))])]
    [1, 2]
    """
    together = getattr(data, "ask_all", None)
    return [data.ask(query) for query in queries] if together is None else list(together(queries))


def with_codebook(data: D, codebook: Codebook) -> D:
    """The same rows, of which something else is known.

    No function waits for them that did not wait before, so questions on a few columns still read only these.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> from sfumato.engines.polars import PolarsDataset
    >>> data = PolarsDataset(pl.DataFrame({"a": [1]}), Codebook())
    >>> with_codebook(data, Codebook({"a": Variable(unit="cm")})).codebook["a"].unit
    'cm'
    """
    if is_dataclass(data) and any(field.name == "codebook" for field in fields(data)):
        return cast(D, replace(cast(Any, data), codebook=codebook.only(list(data.codebook))))
    return data.map(_as_it_is, codebook=codebook)


def _as_it_is(batch: pl.DataFrame) -> pl.DataFrame:
    return batch


def rows(data: Dataset, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of a data set, brought into memory, of some columns or of all.

    For what no question can tell: comparing records, fitting models.

    Examples
    --------
    >>> from sfumato.engines.polars import PolarsDataset
    >>> rows(PolarsDataset(pl.DataFrame({"a": [1], "b": [2]}), Codebook()), ["b"]).columns
    ['b']
    """
    streamed = getattr(data, "batches", None)
    if streamed is not None:
        found: pl.DataFrame = pl.concat(list(streamed(columns)))
        return found
    batches: list[pl.DataFrame] = []

    def keep(batch: pl.DataFrame) -> pl.DataFrame:
        batches.append(batch if columns is None else batch.select(columns))
        return batch

    data.map(keep)
    return pl.concat(batches)
