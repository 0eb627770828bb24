"""The embedded engine: rows in memory, in a Polars frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files.dialect import USUAL, Dialect
from sfumato.data.query import COUNT, WEIGHT, Classes, Counts, Folded, Largest, Moments, Quantiles, Query
from sfumato.engines.answers import empty_moments, keys, moment_rows, present, refuse_unknown
from sfumato.engines.classes import class_sizes, class_values, empty_classes
from sfumato.engines.groups import Groups
from sfumato.errors import DataError
from sfumato.kernels.moments import exact_sums
from sfumato.kernels.order_statistics import quantile

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = ["PolarsDataset", "held"]

_ROW, _KEY, _VALUE = "sfumato:position", "sfumato:key", "sfumato:value"


@dataclass(frozen=True)
class PolarsDataset:
    """A table in memory with its codebook.

    Parameters
    ----------
    frame
        The rows.
    codebook
        What is known about each variable; columns that it does not list get an empty entry.
    suffix
        The file format that it came from and that a release of it is written in.
    notes
        What reading it had to say.
    batch_rows
        Most rows in a batch of `map`; all at once if None.
    source
        The file that it was read from, where it is one: a release's papers lie beside it.
    dialect
        What a delimited text file was written in, and a release of it is.

    Examples
    --------
    >>> data = PolarsDataset(pl.DataFrame({"sex": ["f", "m", "f"], "age": [30, 40, 50]}), Codebook())
    >>> data.ask(Counts(("sex",)))["sfumato:count"].to_list()
    [2, 1]
    """

    frame: pl.DataFrame
    codebook: Codebook
    suffix: str = ".parquet"
    notes: tuple[str, ...] = ()
    batch_rows: int | None = None
    source: Path | None = None
    dialect: Dialect = USUAL

    def __post_init__(self) -> None:
        if list(self.codebook) != self.frame.columns:
            object.__setattr__(self, "codebook", self.codebook.only(self.frame.columns))

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, column: str) -> pl.Series:
        return self.frame[column]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Let any data frame library take the rows."""
        return self.frame.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return str(self.frame._repr_html_())

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return self.frame.columns

    @property
    def schema(self) -> pl.Schema:
        """Types of the columns."""
        return self.frame.schema

    @property
    def engine(self) -> str:
        """What it is called where a release or a screen names it."""
        return "memory"

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer a question, see `sfumato.data.query`."""
        refuse_unknown(query, self.frame.columns)
        match query:
            case Counts():
                return self._counts(query)
            case Moments():
                return self._moments(query)
            case Quantiles():
                return self._quantiles(query)
            case Largest():
                return self._largest(query)
            case Folded():
                return self._folded(query)
            case Classes():
                return self._classes(query)

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> PolarsDataset:
        """Apply `f` to batches of rows, or to whole strata of `by`, see `sfumato.data.dataset`."""
        if by is None:
            out = self._map_batches(f)
        else:
            out = self._map_strata(f, by)
        return replace(self, frame=out, codebook=(codebook or self.codebook).only(out.columns))

    def _map_batches(self, f: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
        if self.batch_rows is None or self.frame.is_empty():
            return f(self.frame)
        return pl.concat([f(part) for part in self.frame.iter_slices(self.batch_rows)])

    def _map_strata(self, f: Callable[[pl.DataFrame], pl.DataFrame], by: Sequence[str]) -> pl.DataFrame:
        numbered = self.frame.with_row_index(_ROW)
        if not by or self.frame.is_empty():
            return f(numbered).drop(_ROW)
        rows = numbered.lazy().group_by(keys(by, self.frame.schema)).agg(pl.col(_ROW)).collect()[_ROW]
        done = pl.concat([f(numbered[group]) for group in rows])
        order = done.drop_in_place(_ROW).arg_sort()
        # column by column, so that the table is never in memory twice
        return pl.DataFrame([done.drop_in_place(n).gather(order) for n in done.columns])

    def _folded(self, query: Folded) -> pl.DataFrame:
        rows = self.frame.select(query.columns)
        parts = [rows] if self.batch_rows is None or rows.is_empty() else rows.iter_slices(self.batch_rows)
        return query.merge(pl.concat([query.f(part) for part in parts]))

    def _counts(self, query: Counts) -> pl.DataFrame:
        if not query.by:
            answer = self.frame.select(pl.len().cast(pl.Int64).alias(COUNT))
        else:
            count = pl.len().cast(pl.Int64).alias(COUNT)
            answer = self.frame.lazy().group_by(keys(query.by, self.frame.schema)).agg(count).sort(query.by).collect()
        if query.weight is None:
            return answer
        groups = self._groups(query.weight, query.by)
        totals = [sums.total for sums in exact_sums(groups.values, groups.starts)]
        return answer.with_columns(pl.Series(WEIGHT, totals, pl.Float64))

    def _classes(self, query: Classes) -> pl.DataFrame:
        by, value = query.by, query.value
        if self.frame.is_empty():
            return empty_classes(value)
        if value is None:
            return class_sizes(self._counts(Counts(by)))
        dtype = self.frame.schema[value]
        held = pl.when(~self.codebook.missing(value, dtype)).then(pl.col(value)).alias(_VALUE)
        classes = [key.alias(f"{_KEY}{i}") for i, key in enumerate(keys(by, self.frame.schema))]
        some = self.frame.lazy().select(held, *classes)
        count = pl.len().cast(pl.Int64).alias(COUNT)
        names = [f"{_KEY}{i}" for i in range(len(by))]
        counts, whole = some.group_by(*names, _VALUE).agg(count), some.group_by(_VALUE).agg(count)
        return class_values(counts.collect(), names, _VALUE, whole.collect())

    def _groups(self, column: str, by: Sequence[str], order: bool = False) -> Groups:
        """Values of one column, group by group in the order of `by`."""
        dtype = self.frame[column].dtype  # the schema of a wide table is dear, and this is asked of each column
        if dtype == pl.String and self.frame[column].null_count() == self.frame.height:  # as text files have it
            raise DataError(f"Column {column!r} has no value at all. Leave it out here.")
        some = self.frame.select(list(dict.fromkeys((*by, column))))
        return Groups.of(some, keys(by, some.schema), present(self.codebook, column, dtype), order)

    def _key_schema(self, by: Sequence[str]) -> dict[str, Any]:
        return {n: self.frame.schema[n] for n in by}

    def _moments(self, query: Moments) -> pl.DataFrame:
        rows = [row for n in query.columns for row in moment_rows(n, self._groups(n, query.by))]
        answer = pl.DataFrame(rows, schema=self._key_schema(query.by) | empty_moments())
        return answer.sort(query.by, maintain_order=True) if query.by else answer

    def _quantiles(self, query: Quantiles) -> pl.DataFrame:
        rows = [
            {**key, "prob": prob, "value": quantile(values, prob)}
            for key, values in self._groups(query.column, query.by, order=True).each()
            for prob in query.probs
        ]
        return pl.DataFrame(rows, schema=self._key_schema(query.by) | {"prob": pl.Float64, "value": pl.Float64})

    def _largest(self, query: Largest) -> pl.DataFrame:
        rows = [
            {**key, "rank": rank, "value": float(value)}
            for key, values in self._groups(query.column, query.by, order=True).each()
            for rank, value in enumerate(values[::-1][: query.top], start=1)
        ]
        return pl.DataFrame(rows, schema=self._key_schema(query.by) | {"rank": pl.Int64, "value": pl.Float64})


def held(data: object) -> TypeIs[PolarsDataset]:
    """Whether a table's rows are in memory.

    Examples
    --------
    >>> held(PolarsDataset(pl.DataFrame({"a": [1]}), Codebook()))
    True
    """
    return isinstance(data, PolarsDataset)
