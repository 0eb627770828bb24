"""A table in PostgreSQL as a data set: the database counts, and streams what else is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.query import Classes, Counts, Query
from sfumato.engines.answers import refuse_unknown
from sfumato.engines.duckdb import MAX_STRATUM, DuckDBDataset
from sfumato.engines.postgresql_session import Place
from sfumato.engines.postgresql_table import PostgresTable
from sfumato.engines.spill import Spill
from sfumato.errors import DataError

if TYPE_CHECKING:
    from sfumato.engines.parts import Parts

__all__ = ["PostgresDataset", "open_table"]


def open_table(
    address: str, *, memory: str = "1GB", temp: str | None = None, max_stratum: int = MAX_STRATUM
) -> PostgresDataset:
    """Open a table or view in PostgreSQL, as it is now, whatever others write meanwhile.

    Parameters
    ----------
    address
        `postgresql://[user@][host]/database/schema.table`, without a password: libpq finds it in `PGPASSWORD` or
        `PGPASSFILE`. `PGSERVICE`, `PGHOST`, `PGUSER` and `PGSSLMODE` work too.
    memory
        How much the database that sorts on this machine may hold.
    temp
        Where rows are spilled; the system's folder for temporary files if None.
    max_stratum
        Most rows of a stratum that is brought together.

    Raises
    ------
    FileError
        A password in the address; no server, database, right or table. Nothing that the server says is repeated.
    DataError
        No rows; columns of types that are not read.
    MissingExtra
        The driver is not installed.

    Notes
    -----
    Nothing is written to the database. A role that could write is noted in `notes`. Rows that are spilled lie on this
    machine's disk, not encrypted.
    """
    table = PostgresTable.open(Place.of(address))
    try:
        if not table.session.value(f"SELECT EXISTS (SELECT 1 FROM {table.place.name})"):
            raise DataError("The table has no rows. A table needs at least one row.")
        spill = Spill(memory, temp)
    except BaseException:
        table.close()
        raise
    book = Codebook().only(table.schema)
    source = cast("Parts", table)  # all that is asked of it are batches
    return PostgresDataset(source, table.schema, book, spill, max_stratum, table=table)


@dataclass(frozen=True)
class PostgresDataset(DuckDBDataset):
    """A table in PostgreSQL with its codebook; functions that are mapped wait until rows are asked for.

    As long as none waits, the database counts. Strata, and parts in an order, are made on this machine.

    Parameters
    ----------
    source, schema, codebook, spill, max_stratum
        See `DuckDBDataset`.
    table
        The table that was opened, whatever became of its rows.
    """

    table: PostgresTable | None = field(default=None, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What its user should know."""
        return self.table.table.notes if self.table is not None else ()

    def close(self) -> None:
        """End the transaction, and remove what was spilled."""
        if self.table is not None:
            self.table.close()
        super().close()

    def ask_all(self, queries: Sequence[Query]) -> list[pl.DataFrame]:
        """Answer several questions: the database those that it can, the others in one pass."""
        for query in queries:
            refuse_unknown(query, self.schema)
        told = {i: answer for i, query in enumerate(queries) if (answer := self._told(query)) is not None}
        rest = [query for i, query in enumerate(queries) if i not in told]
        others = iter(super().ask_all(rest) if rest else [])
        return [told[i] if i in told else next(others) for i in range(len(queries))]

    def _told(self, query: Query) -> pl.DataFrame | None:
        """What the database answers; a statement holds no codes of missing values, for they are data."""
        if self.waiting or self.table is None or self.source is not cast("Parts", self.table):
            return None
        match query:
            case Counts(by, None):
                return self.table.counts(by)
            case Classes(by, value) if value is None or not self.codebook[value].missing:
                return self.table.classes(by, value)
        return None
