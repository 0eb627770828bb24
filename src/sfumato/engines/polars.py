"""The embedded engine: rows in memory, in a Polars frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.holding import holding
from sfumato.data.query import COUNT, WEIGHT, Counts, Largest, Moments, Quantiles, Query
from sfumato.draws import shortest
from sfumato.engines.answers import empty_moments, moment_rows, refuse_unknown
from sfumato.errors import DataError
from sfumato.kernels.moments import exact_sums

__all__ = ["PolarsDataset"]

_ROW = "sfumato:position"


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
    label
        What that file calls itself, where its format has a label of the whole file.

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
    label: str | None = None

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

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer one of the four questions, see `sfumato.data.query`."""
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
        rows = numbered.lazy().group_by(self._keys(by)).agg(pl.col(_ROW)).collect()[_ROW]
        done = pl.concat([f(numbered[group]) for group in rows])
        order = done.drop_in_place(_ROW).arg_sort()
        # column by column, so that the table is never in memory twice
        return pl.DataFrame([done.drop_in_place(n).gather(order) for n in done.columns])

    def _keys(self, by: Sequence[str]) -> list[pl.Expr]:
        """Grouping columns, with NaN as null."""
        floats = {n for n, t in self.frame.schema.items() if t.is_float()}
        return [pl.col(n).fill_nan(None) if n in floats else pl.col(n) for n in by]

    def _present(self, column: str) -> pl.Expr:
        """Values of a column as floats, null wherever there is none."""
        dtype = self.frame.schema[column]
        if not (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
            if self.frame[column].null_count() == self.frame.height:  # an empty column of a text file is text
                raise DataError(f"Column {column!r} has no value at all. Leave it out here.")
            raise DataError(f"Column {column!r} holds {holding(dtype)}; a numeric column is needed here.")
        return pl.when(~self.codebook.missing(column, dtype)).then(shortest(pl.col(column), dtype)).alias(column)

    def _counts(self, query: Counts) -> pl.DataFrame:
        if not query.by:
            answer = self.frame.select(pl.len().cast(pl.Int64).alias(COUNT))
        else:
            count = pl.len().cast(pl.Int64).alias(COUNT)
            answer = self.frame.lazy().group_by(self._keys(query.by)).agg(count).sort(query.by).collect()
        if query.weight is None:
            return answer
        _, values, starts = self._groups(query.weight, query.by)
        return answer.with_columns(pl.Series(WEIGHT, [sums.total for sums in exact_sums(values, starts)], pl.Float64))

    def _groups(
        self, column: str, by: Sequence[str], ordered: bool = False
    ) -> tuple[list[dict[str, Any]], NDArray[np.float64], NDArray[np.int64]]:
        """Keys of the groups in the order of `by`, values of one column group after group, and where each begins."""
        values = self.frame.lazy().select(*self._keys(by), self._present(column))
        each = pl.col(column).drop_nulls()
        each = (each.sort() if ordered else each).cast(pl.Float64)
        if not by:
            return [{}], values.select(each).collect().to_series().to_numpy(), np.zeros(1, dtype=np.int64)
        lists = values.group_by(by).agg(each).sort(by).collect()
        sizes = lists[column].list.len().to_numpy().astype(np.int64)
        flat = lists.filter(sizes > 0)[column].explode().to_numpy()
        return lists.select(by).to_dicts(), flat, np.cumsum(sizes) - sizes

    def _sorted(self, column: str, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
        """Sorted values of one column, group by group in the order of `by`."""
        keys, values, starts = self._groups(column, by, ordered=True)
        return zip(keys, np.split(values, starts[1:]), strict=True)

    def _key_schema(self, by: Sequence[str]) -> dict[str, Any]:
        return {n: self.frame.schema[n] for n in by}

    def _moments(self, query: Moments) -> pl.DataFrame:
        rows = [{**key, **row} for column in query.columns for key, row in self._moments_of(column, query.by)]
        answer = pl.DataFrame(rows, schema=self._key_schema(query.by) | empty_moments())
        return answer.sort(query.by, maintain_order=True) if query.by else answer

    def _moments_of(self, column: str, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        keys, values, starts = self._groups(column, by)
        return zip(keys, moment_rows(column, values, starts), strict=True)

    def _quantiles(self, query: Quantiles) -> pl.DataFrame:
        rows = [
            {**key, "prob": prob, "value": float(np.quantile(values, prob)) if len(values) else None}
            for key, values in self._sorted(query.column, query.by)
            for prob in query.probs
        ]
        return pl.DataFrame(rows, schema=self._key_schema(query.by) | {"prob": pl.Float64, "value": pl.Float64})

    def _largest(self, query: Largest) -> pl.DataFrame:
        rows = [
            {**key, "rank": rank, "value": float(value)}
            for key, values in self._sorted(query.column, query.by)
            for rank, value in enumerate(values[::-1][: query.top], start=1)
        ]
        return pl.DataFrame(rows, schema=self._key_schema(query.by) | {"rank": pl.Int64, "value": pl.Float64})
