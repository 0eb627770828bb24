"""An engine that keeps its rows in DuckDB and answers in SQL.

It exists beside the Polars engine on purpose unlike it: the same method run on both must give the same release, which
proves that no method knows where the rows are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import duckdb
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.query import COUNT, WEIGHT, Counts, Folded, Largest, Moments, Quantiles, Query
from sfumato.engines.answers import refuse_unknown
from sfumato.engines.folding import Folding

__all__ = ["DuckDBDataset"]

_ROW = "sfumato:position"
_NUMBER = itertools.count()
_BATCH = 122_880
"""Rows of a batch: a group of rows of the database."""
_MERGED = 32
"""Small frames that are kept before they are merged."""


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
        """Answer a question, see `sfumato.data.query`."""
        refuse_unknown(query, self.schema)
        folding = Folding(self._folded, self.codebook, self.schema)
        match query:
            case Counts(by, None):
                return self._counts(by)
            case Counts(by):
                return self._counts(by).with_columns(folding.weights(query)[WEIGHT])
            case Moments():
                return folding.moments(query)
            case Quantiles():
                return folding.quantiles(query)
            case Largest():
                return folding.largest(query)
            case Folded():
                return self._folded(query)

    def _folded(self, query: Folded) -> pl.DataFrame:
        columns = ", ".join(map(_name, query.columns)) or f"{_name(_ROW)}"
        types = pl.Schema({n: self.schema[n] for n in query.columns} or {_ROW: pl.UInt32()})
        reader = self.connection.sql(f"SELECT {columns} FROM {self.table}").to_arrow_reader(_BATCH)
        parts = [query.f(types.to_frame())]
        for batch in reader:
            parts.append(query.f(pl.DataFrame(batch).cast(types)))
            if len(parts) == _MERGED:
                parts = [query.merge(pl.concat(parts))]
        return query.merge(pl.concat(parts))

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
        strata = self._counts(by).drop(COUNT)
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

    def _counts(self, by: Sequence[str]) -> pl.DataFrame:
        keys = "".join(f"{self._key(n)} AS {_name(n)}, " for n in by)
        tail = f" GROUP BY {', '.join(str(i + 1) for i in range(len(by)))}" if by else ""
        answer: pl.DataFrame = self.connection.sql(
            f"SELECT {keys}count(*) AS {_name(COUNT)} FROM {self.table}{tail}"
        ).pl()
        return answer.cast({n: self.schema[n] for n in by}).sort(by) if by else answer


def _store(connection: duckdb.DuckDBPyConnection, rows: pl.DataFrame) -> str:
    """Keep rows under a fresh name."""
    name = f"sfumato_{next(_NUMBER)}"
    connection.register("sfumato_incoming", rows.to_arrow())
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM sfumato_incoming")
    connection.unregister("sfumato_incoming")
    return name
