"""An engine that keeps its rows in DuckDB and answers in SQL.

It exists beside the Polars engine on purpose unlike it: the same method run on both must give the same release, which
proves that no method knows where the rows are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.holding import holding
from sfumato.data.query import COUNT, WEIGHT, Counts, Largest, Moments, Quantiles, Query
from sfumato.engines.answers import empty_moments, moment_rows, refuse_unknown
from sfumato.errors import DataError
from sfumato.kernels.moments import Sums

__all__ = ["DuckDBDataset"]

_ROW = "sfumato:position"
_NUMBER = itertools.count()


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


@dataclass(frozen=True)
class DuckDBDataset:
    """A DuckDB table with its codebook.

    Parameters
    ----------
    connection
        The database.
    table
        Name of the table in it, with the rows' order in a hidden column.
    schema
        Polars types of the columns.
    codebook
        What is known about each variable.

    Examples
    --------
    >>> data = DuckDBDataset.of(pl.DataFrame({"sex": ["f", "m", "f"]}), Codebook())
    >>> data.ask(Counts(("sex",)))["sfumato:count"].to_list()
    [2, 1]
    """

    connection: duckdb.DuckDBPyConnection = field(repr=False)
    table: str
    schema: pl.Schema
    codebook: Codebook

    @classmethod
    def of(
        cls, frame: pl.DataFrame, codebook: Codebook, connection: duckdb.DuckDBPyConnection | None = None
    ) -> DuckDBDataset:
        """Put a frame into a database (one in memory if none is given)."""
        connection = connection or duckdb.connect()
        numbered = frame.with_row_index(_ROW)
        return cls(connection, _store(connection, numbered), frame.schema, codebook.only(frame.columns))

    @property
    def frame(self) -> pl.DataFrame:
        """All rows, in memory."""
        rows: pl.DataFrame = self.connection.sql(f"SELECT * FROM {self.table} ORDER BY {_name(_ROW)}").pl()
        return rows.drop(_ROW).cast(self.schema)

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer one of the four questions, see `sfumato.data.query`."""
        refuse_unknown(query, self.schema)
        match query:
            case Counts(by, weight):
                answer = self._grouped(by, f"count(*) AS {_name(COUNT)}")
                if weight is None:
                    return answer
                totals = [Sums.of(values).total for _, values in self._groups(weight, by)]
                return answer.with_columns(pl.Series(WEIGHT, totals, pl.Float64))
            case Moments(columns, by):
                start = np.zeros(1, dtype=np.int64)
                rows = [
                    {**k, **row} for c in columns for k, v in self._groups(c, by) for row in moment_rows(c, v, start)
                ]
                answer = pl.DataFrame(rows, schema=self._key_schema(by, **empty_moments()))
                return answer.sort(by, maintain_order=True) if by else answer
            case Quantiles(column, probs, by):
                return self._quantiles(column, probs, by)
            case Largest(column, by, top):
                return self._largest(column, by, top)

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> DuckDBDataset:
        """Apply `f` to batches of rows, or to whole strata of `by`, see `sfumato.data.dataset`."""
        done = [f(batch) for batch in self._batches(by)]
        out = pl.concat(done)
        table = _store(self.connection, out)
        schema = pl.Schema({n: t for n, t in out.schema.items() if n != _ROW})
        return replace(self, table=table, schema=schema, codebook=(codebook or self.codebook).only(schema))

    def _batches(self, by: Sequence[str] | None) -> Iterator[pl.DataFrame]:
        types = pl.Schema({_ROW: pl.UInt32(), **self.schema})
        if by is None or not by:
            yield self.connection.sql(f"SELECT * FROM {self.table}").pl().cast(types)
            return
        strata = self._grouped(by, f"count(*) AS {_name(COUNT)}").drop(COUNT)
        if strata.is_empty():
            yield self.connection.sql(f"SELECT * FROM {self.table}").pl().cast(types)
        for values in strata.iter_rows():
            where = " AND ".join(f"{self._key(n)} IS NOT DISTINCT FROM ?" for n in by)
            rows = self.connection.sql(f"SELECT * FROM {self.table} WHERE {where}", params=list(values)).pl()
            yield rows.cast(types)

    def _key(self, column: str) -> str:
        """A grouping column, with NaN as null."""
        if self.schema[column].is_float():
            return f"CASE WHEN isnan({_name(column)}) THEN NULL ELSE {_name(column)} END"
        return _name(column)

    def _key_schema(self, by: Sequence[str], **more: Any) -> pl.Schema:
        return pl.Schema({n: self.schema[n] for n in by} | more)

    def _grouped(self, by: Sequence[str], what: str) -> pl.DataFrame:
        keys = "".join(f"{self._key(n)} AS {_name(n)}, " for n in by)
        tail = f" GROUP BY {', '.join(str(i + 1) for i in range(len(by)))}" if by else ""
        answer: pl.DataFrame = self.connection.sql(f"SELECT {keys}{what} FROM {self.table}{tail}").pl()
        return answer.cast(self._key_schema(by)).sort(by) if by else answer

    def _present(self, column: str) -> str:
        """SQL for the values of a column as doubles, null wherever there is none."""
        dtype = self.schema[column]
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise DataError(f"Column {column!r} holds {holding(dtype)}; a numeric column is needed here.")
        exact = f"{_name(column)}::VARCHAR" if dtype == pl.Float32 else _name(column)  # a float's shortest decimal
        value = f"{exact}::DOUBLE"
        tests = [f"isnan({value})"]
        for code in self.codebook[column].missing:
            if code.code is None:
                tests.append(f"{value} BETWEEN {code.low!r} AND {code.high!r}")
            elif not isinstance(code.code, str):
                tests.append(f"{value} = {float(code.code)!r}")
        return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {value} END"

    def _groups(self, column: str, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        value = self._present(column)
        lists = self._grouped(by, f"list({value} ORDER BY {value}) FILTER (({value}) IS NOT NULL) AS value")
        for row in lists.iter_rows(named=True):
            yield {n: row[n] for n in by}, np.asarray(row["value"] or [], dtype=np.float64)

    def _quantiles(self, column: str, probs: Sequence[float], by: Sequence[str]) -> pl.DataFrame:
        value = self._present(column)
        parts = [
            self._grouped(by, f"{p!r}::DOUBLE AS prob, quantile_cont({value}, {p!r}) AS value").with_columns(
                pl.lit(i).alias("order")
            )
            for i, p in enumerate(probs)
        ]
        return pl.concat(parts).sort(*by, "order").drop("order")

    def _largest(self, column: str, by: Sequence[str], top: int) -> pl.DataFrame:
        keys = "".join(f"{self._key(n)} AS {_name(n)}, " for n in by)
        parts = f"PARTITION BY {', '.join(self._key(n) for n in by)} " if by else ""
        inner = (
            f"SELECT {keys}row_number() OVER ({parts}ORDER BY value DESC) AS rank, value "
            f"FROM (SELECT *, {self._present(column)} AS value FROM {self.table}) WHERE value IS NOT NULL"
        )
        answer: pl.DataFrame = self.connection.sql(f"SELECT * FROM ({inner}) WHERE rank <= {int(top)}").pl()
        return answer.cast(self._key_schema(by, rank=pl.Int64())).sort(*by, "rank")


def _store(connection: duckdb.DuckDBPyConnection, rows: pl.DataFrame) -> str:
    """Keep rows under a fresh name."""
    name = f"sfumato_{next(_NUMBER)}"
    connection.register("sfumato_incoming", rows.to_arrow())
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM sfumato_incoming")
    connection.unregister("sfumato_incoming")
    return name
