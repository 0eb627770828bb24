"""A table or view in PostgreSQL, whose rows stay there: counts are made by the database, all else is streamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl
import polars.selectors as cs

from sfumato.data.files.table import listed
from sfumato.data.query import CLASSES, COUNT, DISTINCT, SIZE, T
from sfumato.engines.classes import in_thousandths
from sfumato.engines.postgresql_session import Place, Session, quoted
from sfumato.engines.postgresql_types import Column, Table, selected, table_of
from sfumato.errors import DataError, TooManyGroups

__all__ = ["PostgresTable"]

MOST_GROUPS = 5_000_000
"""Most groups that are fetched."""


@dataclass
class PostgresTable:
    """The rows of a table as they are when it is opened, whatever others write meanwhile.

    Parameters
    ----------
    session
        A read-only transaction.
    place
        Where the table is.
    table
        Its columns, and notes for its user.

    Notes
    -----
    Every column is cast in the statement that reads it:

    - `numeric(p, 0)` of at most 18 digits becomes a whole number of 64 bits; every other `numeric` the float next to
      it, rounded by the server once, and a note says so where it may have more than 15 digits. Its NaN is missing.
    - `char(n)` comes without the blanks that fill it up; `uuid`, `json`, `jsonb` and enums come as text.
    - `timestamp with time zone` comes in UTC.
    - Infinite numbers, dates and times are refused; so are arrays, records, ranges, intervals, bytes and all types of
      extensions but `citext`.

    A statement holds names of tables and columns, never a value of the data: servers keep statements in their logs.
    A snapshot that is held for hours keeps the server from cleaning up rows that others delete meanwhile.
    """

    session: Session = field(repr=False)
    place: Place
    table: Table
    given: ClassVar[bool] = True
    _finite: set[str] = field(default_factory=set, init=False, repr=False)

    @classmethod
    def open(cls, place: Place) -> PostgresTable:
        """Connect and look the table up.

        Raises
        ------
        FileError
            No server, database, right or table.
        DataError
            Columns that are not read.
        """
        session = Session(place)
        try:
            return cls(session, place, table_of(session, place))
        except BaseException:
            session.close()
            raise

    @property
    def schema(self) -> pl.Schema:
        """Types of the columns."""
        return self.table.schema

    def close(self) -> None:
        """End the transaction."""
        self.session.close()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Rows of all columns or some, in bounded batches and no promised order; the first batch is empty.

        Raises
        ------
        DataError
            An infinite number, date or time; names the columns.
        FileError
            The server, in our words.
        """
        asked = self._columns(list(self.schema) if columns is None else columns)
        self._refuse_endless(asked)
        what = selected(asked) or "true AS none"
        for batch in self.session.batches(f"SELECT {what} FROM {self.place.name}"):
            if asked:
                yield _finite(batch.cast({c.name: c.dtype for c in asked}))
            else:
                yield pl.DataFrame(height=batch.height)

    def counts(self, by: Sequence[str]) -> pl.DataFrame:
        """Records in each group, as `Counts` has it.

        Raises
        ------
        TooManyGroups
            More than are fetched.
        """
        asked = self._columns(by)
        self._refuse_endless(asked)
        keys = f"{selected(asked, keys=True)}, " if asked else ""
        grouped = f" GROUP BY {_places(len(asked))} LIMIT {MOST_GROUPS + 1}" if asked else ""
        statement = f"SELECT {keys}count(*) AS {quoted(COUNT)} FROM {self.place.name}{grouped}"
        answer = self.session.table(statement)
        if answer.height > MOST_GROUPS:
            raise TooManyGroups(by, MOST_GROUPS)
        answer = _finite(answer.cast({c.name: c.dtype for c in asked}))
        return answer.sort(by) if asked else answer

    def classes(self, by: Sequence[str], value: str | None) -> pl.DataFrame:
        """How many classes there are of each size, as `Classes` has it; of a value without codes for missing ones."""
        keys = self._columns(by)
        self._refuse_endless(keys)
        if value is None:
            return self._sizes(keys)
        [one] = self._columns([value])
        self._refuse_endless([one])
        named = "".join(f"{c.key} AS k{i}, " for i, c in enumerate(keys))
        within = f"PARTITION BY {', '.join(f'k{i}' for i in range(len(keys)))}" if keys else ""
        grouped = f"GROUP BY {', '.join(f'k{i}' for i in range(len(keys)))}" if keys else ""
        names = "".join(f"k{i}, " for i in range(len(keys)))
        # what a class has of a value beyond the share of all: these sum to the total variation
        statement = f"""
WITH cells AS (
  SELECT {named}{one.key} AS v, count(*) AS c FROM {self.place.name} GROUP BY {_places(len(keys) + 1)}
), held AS (
  SELECT {names}c, v IS NOT NULL AS here,
    (sum(c) FILTER (WHERE v IS NOT NULL) OVER ({within}))::numeric AS m,
    (sum(c) OVER (PARTITION BY v))::numeric AS g,
    (sum(c) FILTER (WHERE v IS NOT NULL) OVER ())::numeric AS whole
  FROM cells
), each AS (
  SELECT sum(c)::int8 AS size, (count(*) FILTER (WHERE here))::int8 AS held,
    coalesce(ceil(div(1000 * sum(greatest(c * whole - g * m, 0)) FILTER (WHERE here) + max(m) * max(whole) - 1,
      max(m) * max(whole)))::int8, 0) AS t
  FROM held {grouped}
)
SELECT size AS {quoted(SIZE)}, held AS {quoted(DISTINCT)}, t AS {quoted(T)}, count(*) AS {quoted(CLASSES)}
FROM each WHERE size IS NOT NULL GROUP BY 1, 2, 3"""
        return in_thousandths(self.session.table(statement)).sort(SIZE, DISTINCT, T)

    def _sizes(self, keys: Sequence[Column]) -> pl.DataFrame:
        grouped = f"GROUP BY {', '.join(c.key for c in keys)}" if keys else "HAVING count(*) > 0"
        inner = f"SELECT count(*) AS size FROM {self.place.name} {grouped}"
        statement = f"SELECT size AS {quoted(SIZE)}, count(*) AS {quoted(CLASSES)} FROM ({inner}) AS each GROUP BY 1"
        return self.session.table(statement).sort(SIZE)

    def _columns(self, names: Sequence[str]) -> list[Column]:
        return [self.table.columns[n] for n in names]

    def _refuse_endless(self, columns: Sequence[Column]) -> None:
        """Look, once for each column, whether instants are infinite: what streams them cannot carry such."""
        asked = {c.name: c.endless for c in columns if c.endless and c.name not in self._finite}
        if not asked:
            return
        what = ", ".join(f"{sql} AS {quoted(n)}" for n, sql in asked.items())
        found = self.session.table(f"SELECT {what} FROM {self.place.name}").row(0, named=True)
        if endless := [n for n, is_so in found.items() if is_so]:
            raise DataError(
                f"Infinite dates or times in {listed(endless)} (or 24:00). Replace them by missing values or by finite "
                "ones, in a view for instance."
            )
        self._finite.update(asked)


def _places(n: int) -> str:
    return ", ".join(str(i + 1) for i in range(n))


def _finite(rows: pl.DataFrame) -> pl.DataFrame:
    """Refuse infinite numbers, and give NaN back as missing, as readers of files do."""
    found = rows.select(cs.float().is_infinite().any())
    if infinite := [n for n in found.columns if found[n].item()]:
        raise DataError(f"Infinite values in {listed(infinite)}. Replace them by missing values or by finite ones.")
    return rows.with_columns(cs.float().fill_nan(None))
