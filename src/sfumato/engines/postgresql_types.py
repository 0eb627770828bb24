"""How the columns of a table in PostgreSQL become columns of ours: an explicit cast for each, in the statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.data.files.table import listed
from sfumato.engines.postgresql_session import Place, Session, quoted
from sfumato.errors import DataError, FileError

__all__ = ["Column", "Table", "table_of"]

_COLUMNS = """
WITH RECURSIVE found AS (
  SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
), types AS (
  SELECT a.attnum, a.attname, a.atttypid AS type, a.atttypmod AS modifier
  FROM pg_attribute a JOIN found ON found.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT s.attnum, s.attname, t.typbasetype, t.typtypmod FROM types s JOIN pg_type t ON t.oid = s.type
  WHERE t.typtype = 'd'
)
SELECT s.attname::text AS name, t.typname::text AS type, t.typtype::text AS sort, s.modifier::int4 AS modifier,
  (t.typnamespace = 'pg_catalog'::regnamespace) AS own
FROM types s JOIN pg_type t ON t.oid = s.type WHERE t.typtype <> 'd' ORDER BY s.attnum
"""

_RIGHTS = """
SELECT c.relkind::text AS kind,
  has_table_privilege(c.oid, 'INSERT') OR has_table_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE')
    OR has_table_privilege(c.oid, 'TRUNCATE') OR has_any_column_privilege(c.oid, 'INSERT')
    OR has_any_column_privilege(c.oid, 'UPDATE') AS writes,
  row_security_active(c.oid) AS some,
  NOT coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
    AND inet_client_addr() IS NOT NULL AND inet_client_addr() <> inet_server_addr() AS open
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2
"""

_SIMPLE: dict[str, tuple[str, pl.DataType]] = {
    "bool": ("bool", pl.Boolean()),
    "int2": ("int2", pl.Int16()),
    "int4": ("int4", pl.Int32()),
    "int8": ("int8", pl.Int64()),
    "oid": ("int8", pl.Int64()),
    "float4": ("float4", pl.Float32()),
    "float8": ("float8", pl.Float64()),
    "date": ("date", pl.Date()),
    "time": ("time", pl.Time()),
    "timestamp": ("timestamp", pl.Datetime("us")),
    "timestamptz": ("timestamptz", pl.Datetime("us", "UTC")),
}
_TEXT = ("text", "varchar", "bpchar", "name", "char", "uuid", "json", "jsonb")
_WHOLE_DIGITS = 18  # so many fit into 64 bits
_EXACT_DIGITS = 15  # so many fit into a float


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name
        Its name.
    type
        Its type in the database, without a domain's name.
    value
        The SQL that reads it.
    dtype
        What it is here.
    rounded
        Whether it may hold numbers of more digits than a float does.
    """

    name: str
    type: str
    value: str
    dtype: pl.DataType
    rounded: bool = False

    @property
    def key(self) -> str:
        """The SQL that tells groups apart: NaN is null, −0 is 0, and texts are equal only where every byte is."""
        if self.dtype.is_float():
            return f"NULLIF({self.value} + 0::{self.type if self.type == 'float4' else 'float8'}, 'NaN')"
        return self.value

    @property
    def endless(self) -> str | None:
        """The SQL that tells whether it holds an instant that is none, from its ends alone: an index may know them."""
        name = quoted(self.name)
        if self.type == "time":
            return f"coalesce(max({name}) = '24:00'::time, false)"
        if self.dtype.is_temporal():
            return f"coalesce(NOT isfinite(min({name})) OR NOT isfinite(max({name})), false)"
        return None


@dataclass(frozen=True)
class Table:
    """What is known of a table before its rows are read.

    Parameters
    ----------
    columns
        By name, in their order.
    notes
        What its user should know.
    """

    columns: dict[str, Column]
    notes: tuple[str, ...]

    @property
    def schema(self) -> pl.Schema:
        """Types of the columns."""
        return pl.Schema({n: c.dtype for n, c in self.columns.items()})


def table_of(session: Session, place: Place) -> Table:
    """Look a table or view up, and hold it against changes of its form until the transaction ends.

    Raises
    ------
    FileError
        There is no such table, or the role may not read it.
    DataError
        Columns of types that are not read.
    """
    names = [place.schema, place.table]
    found = session.table(_COLUMNS, names)
    rights = session.table(_RIGHTS, names)
    if rights.is_empty() or rights["kind"][0] not in "rpvmf":
        raise FileError(
            f"The database has no table or view {place.table!r} in the schema {place.schema!r} for this role. Names "
            "are taken as written, upper and lower case too."
        )
    if found.is_empty():
        raise DataError("The table has no columns.")
    read = [_column(*row) for row in found.iter_rows()]
    unread = [name for name, one in zip(found["name"], read, strict=True) if one is None]
    if unread:
        raise DataError(
            f"The types of {listed(unread)} are not read: arrays, records, ranges, intervals, bytes and others. Make a "
            "view that casts them to text or numbers, or leaves them out."
        )
    columns = {one.name: one for one in read if one is not None}
    if own := [n for n in columns if n.startswith("sfumato:")]:
        raise DataError(f"Names that begin with 'sfumato:' are sfumato's own: rename {listed(own)} in a view.")
    for _ in session.batches(f"SELECT {selected(list(columns.values()))} FROM {place.name} LIMIT 0"):
        pass
    return Table(columns, _notes(place, rights.row(0, named=True), list(columns.values())))


def selected(columns: Sequence[Column], *, keys: bool = False) -> str:
    """What a statement selects, each under its name."""
    return ", ".join(f"{c.key if keys else c.value} AS {quoted(c.name)}" for c in columns)


def _column(name: str, type_: str, sort: str, modifier: int, own: bool) -> Column | None:
    column = quoted(name)
    if sort == "e" or (own and type_ in _TEXT) or type_ == "citext":
        # the cast to text strips the blanks that fill a char(n) up
        return Column(name, "text", f'{column}::text COLLATE "C"', pl.String())
    if not own:
        return None
    if type_ in _SIMPLE:
        cast, dtype = _SIMPLE[type_]
        return Column(name, cast, f"{column}::{cast}", dtype)
    if type_ == "numeric":
        digits, places = _digits(modifier)
        if places == 0 and digits <= _WHOLE_DIGITS:
            # NaN, which a whole number has no word for, is missing
            return Column(name, "int8", f"NULLIF({column}, 'NaN')::int8", pl.Int64())
        return Column(name, "float8", f"{column}::float8", pl.Float64(), rounded=digits > _EXACT_DIGITS)
    return None


def _digits(modifier: int) -> tuple[int, int]:
    """Digits of a `numeric` in all, and those after the point; of one without a modifier, as many as there may be."""
    if modifier < 4:
        return 131_072, 16_383
    packed = modifier - 4
    places = packed & 0x7FF
    return packed >> 16 & 0xFFFF, places - 2048 if places > 1023 else places


def _notes(place: Place, rights: dict[str, object], columns: Sequence[Column]) -> tuple[str, ...]:
    notes = []
    if rights["writes"]:
        notes.append(
            f"The role may change the table {place.table!r}. sfumato only reads; a role that has no right but SELECT "
            "is safer."
        )
    if rights["some"]:
        notes.append("The table has row security: only the rows that this role may see are read.")
    if rights["open"]:
        notes.append("The connection is not encrypted. Set PGSSLMODE=verify-full.")
    if rounded := [c.name for c in columns if c.rounded]:
        notes.append(
            f"Decimal numbers are rounded to the nearest 64-bit float, which holds {_EXACT_DIGITS} digits: "
            f"{listed(rounded)}."
        )
    return tuple(notes)
