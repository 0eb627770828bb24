"""A connection to PostgreSQL that reads one state of a table, and says in our own words what goes wrong.

What libpq and the server say is never passed on: they quote passwords, values and statements.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, unquote

import polars as pl

from sfumato.errors import FileError, MissingExtra

__all__ = ["Place", "Session", "quoted"]

_BATCH_BYTES = 8 * 2**20
"""About so many bytes of a batch, as the server writes them."""

_FORM = "postgresql://[user@][host]/database/schema.table"
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(:(?P<port>[0-9]{1,5}))?")


def quoted(identifier: str) -> str:
    """Write a name of a column, table or schema as SQL has it.

    Examples
    --------
    >>> print(quoted('the "age"'))
    "the ""age\"""
    """
    return '"' + identifier.replace('"', '""') + '"'


@dataclass(frozen=True)
class Place:
    """Where a table or view is.

    Parameters
    ----------
    server
        Address of its database for libpq; never shown, for it may hold a password.
    schema, table
        Names as they are written in the database.
    """

    server: str = field(repr=False)
    schema: str
    table: str

    @classmethod
    def of(cls, address: str) -> Place:
        """Take an address apart: `postgresql://[user@][host[:port]]/database/schema.table`.

        Names are taken as written, upper and lower case too; characters that an address cannot hold are written as
        `%2F`. What it leaves out comes from libpq's own settings: `PGHOST`, `PGPORT`, `PGUSER`, `PGSERVICE`,
        `PGPASSWORD`, `PGPASSFILE`.

        Raises
        ------
        FileError
            An address of another form, or with a password in it. The message holds nothing of it.

        Examples
        --------
        >>> Place.of("postgresql://anna@localhost/study/public.cohort")
        Place(schema='public', table='cohort')
        """
        _, _, rest = address.partition("://")
        server, _, path = rest.partition("/")
        user, at, host = server.rpartition("@")
        if ":" in user or "@" in user or "@" in path or "?" in rest or "#" in rest:
            raise FileError(
                f"An address of a table is {_FORM}, with no password and no settings: other users of the machine see "
                "it in its list of processes. Give the password in PGPASSWORD or in a file named by PGPASSFILE."
            )
        found = _HOST.fullmatch(host)
        database, _, names = path.partition("/")
        schema, _, table = names.partition(".")
        if not address.startswith("postgresql://") or found is None or not (database and schema and table):
            raise FileError(f"An address of a table is {_FORM}. Give the database, the schema and the table.")
        if "/" in table or "." in table or (at and not user):
            raise FileError(f"An address of a table is {_FORM}. Write a point or stroke within a name as %2E, %2F.")
        who = f"{_encoded(user)}@" if at else ""
        port = f":{found['port']}" if found["port"] else ""
        where = found["host"] if found["host"].startswith("[") else _encoded(found["host"])
        return cls(f"postgresql://{who}{where}{port}/{_encoded(database)}", unquote(schema), unquote(table))

    @property
    def name(self) -> str:
        """The table's name in a statement."""
        return f"{quoted(self.schema)}.{quoted(self.table)}"


def _encoded(part: str) -> str:
    return quote(unquote(part), safe="")


@dataclass
class Session:
    """One read-only transaction, in which every statement sees the same rows whatever others write meanwhile.

    Parameters
    ----------
    place
        The table.

    Notes
    -----
    Rows are streamed over connections of their own, which see the same state of the database by its exported snapshot:
    whoever stops reading cuts the stream off, and what is asked meanwhile is answered. A standby server exports none:
    there one connection does all, one question after the other.
    """

    place: Place
    _main: Any = field(init=False, repr=False)
    _snapshot: str | None = field(default=None, init=False, repr=False)
    _idle: list[Any] = field(default_factory=list, init=False, repr=False)
    _used: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        self._main = self._connected()
        try:
            if not self.value("SELECT pg_is_in_recovery()"):
                self._snapshot = self.value("SELECT pg_export_snapshot()")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the transaction; nothing happens where it has ended."""
        ended, self._idle, self._main = [*self._idle, self._main], [], None
        for connection in ended:
            _end(connection)

    def table(self, statement: str, parameters: Sequence[str] = ()) -> pl.DataFrame:
        """All rows of an answer that is small."""
        if self._main is None:
            raise FileError(_CLOSED)
        if not self._used.acquire(blocking=self._snapshot is not None):
            raise FileError("A standby server answers one question at a time. Read from the primary server.")
        try:
            return pl.concat(_told(self._main, statement, parameters))
        finally:
            self._used.release()

    def value(self, statement: str) -> Any:
        """The one value that a statement tells."""
        return self.table(statement).item()

    def batches(self, statement: str) -> Iterator[pl.DataFrame]:
        """Rows of an answer as they come, at least one batch.

        Parameters
        ----------
        statement
            Holds names of tables and columns, never a value of the data.

        Raises
        ------
        FileError
            Whatever the server refuses, in our words.
        """
        with self._streaming() as connection:
            yield from _told(connection, statement)

    @contextmanager
    def _streaming(self) -> Iterator[Any]:
        """A connection on which nothing is under way; it is used again where its rows were read to the end."""
        if self._main is None:
            raise FileError(_CLOSED)
        if self._snapshot is None:
            if not self._used.acquire(blocking=False):
                raise FileError("A standby server answers one question at a time. Read from the primary server.")
            try:
                yield self._main
            finally:
                self._used.release()
            return
        other = self._idle.pop() if self._idle else self._seeing(self._snapshot)
        try:
            yield other
        except BaseException:
            _end(other)
            raise
        if self._main is None or self._idle:
            _end(other)
        else:
            self._idle.append(other)

    def _seeing(self, snapshot: str) -> Any:
        """A further connection that sees what the first one does."""
        other = self._connected()
        try:
            with _in_our_words(), other.cursor() as cursor:
                cursor.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
        except BaseException:
            _end(other)
            raise
        return other

    def _connected(self) -> Any:
        """A connection in a read-only transaction, with settings that do not hang on the server's."""
        try:
            from adbc_driver_manager import Error
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingExtra("A table in PostgreSQL", "postgres") from None
        wait = "" if "PGCONNECT_TIMEOUT" in os.environ else "&connect_timeout=30"
        mark = "&" if "?" in self.place.server else "?"
        address = f"{self.place.server}{mark}fallback_application_name=sfumato{wait}"
        try:
            connection = dbapi.connect(address, autocommit=True)
        except Error as error:
            raise FileError(_unconnected(error)) from None
        try:
            with _in_our_words():
                for setting in _SETTINGS:
                    with connection.cursor() as cursor:
                        cursor.execute(setting)
                connection.adbc_connection.set_autocommit(False)
        except BaseException:
            _end(connection)
            raise
        return connection


def _told(connection: Any, statement: str, parameters: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
    """Rows of a statement, the first batch empty."""
    import pyarrow as pa
    from adbc_driver_manager import Error
    from adbc_driver_postgresql import StatementOptions

    cursor = connection.cursor()
    reader = None
    try:
        cursor.adbc_statement.set_options(**{StatementOptions.BATCH_SIZE_HINT_BYTES.value: str(_BATCH_BYTES)})
        cursor.execute(statement, list(parameters) or None)
        reader = cursor.fetch_record_batch()
        yield pl.DataFrame(reader.schema.empty_table())
        for batch in reader:
            yield pl.DataFrame(batch)
    except (Error, pa.ArrowException, OSError, OverflowError, pl.exceptions.PolarsError) as error:
        raise FileError(_sentence(_state(connection, error))) from None
    finally:
        for one in (reader, cursor):
            with suppress(Exception):
                if one is not None:
                    one.close()


def _state(connection: Any, error: Exception) -> str:
    """The server's code. Rows that break off have none: a question tells whether anyone is still there."""
    from adbc_driver_manager import AdbcStatusCode, Error

    state: str | None = getattr(error, "sqlstate", None)
    if state is not None:
        return state
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()
    except Error as second:
        if second.status_code == AdbcStatusCode.IO:
            return second.sqlstate or "08000"
    return _BROKEN


_SETTINGS = (
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET client_encoding TO 'UTF8'",
    "SET TimeZone TO 'UTC'",
    "SET DateStyle TO 'ISO'",
    "SET extra_float_digits TO 1",
    "SET search_path TO pg_catalog, pg_temp",
)


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Say in our words what a short statement was refused for."""
    from adbc_driver_manager import Error

    try:
        yield
    except Error as error:
        raise FileError(_sentence(error.sqlstate or "08000")) from None


def _end(connection: Any) -> None:
    if connection is not None:
        with suppress(Exception):
            connection.close()


_CLOSED = "The connection to the database was closed. Open the table again."
_WHERE = "Set PGHOST and PGPORT, or write postgresql://host/database/schema.table."
_LOST = "The connection to the database was lost. Nothing was written; run it again."
_BROKEN = "broken"  # no code of the server
_SENTENCES = {
    _BROKEN: (
        "The database broke the reading off: a value that cannot be read as the type of its column, or a limit on "
        "time. Its log says more."
    ),
    "08": _LOST,
    "22": "A value in the database cannot be read as the type of its column.",
    "25": "The database ended the transaction, perhaps because it was idle for too long. Run it again.",
    "28": "The database refuses the role or its password. Set PGUSER, and PGPASSWORD or PGPASSFILE.",
    "3D": "The server has no such database.",
    "3F": "The database has no such table or view for this role. Names are taken as written, upper and lower case too.",
    "40": "The server broke the reading off for work of its own. Run it again, or on the primary server.",
    "42": "The database cannot run what is asked of the table. If it is a view, try SELECT on it with the same role.",
    "42501": "The role may not read this table or one of its columns. Grant it SELECT.",
    "42P01": (
        "The database has no such table or view for this role. Names are taken as written, upper and lower case too."
    ),
    "53": "The server has no memory, disk or connections left for this.",
    "55": "Somebody else holds the table locked. Run it again later.",
    "57": _LOST,
    "57014": "The server cancelled the reading, perhaps because of its statement_timeout.",
    "58": "The server cannot read its own files.",
    "XX": "The server failed within itself; its log says more.",
}


def _sentence(state: str) -> str:
    """What a code of the server means, by the code or its class."""
    general = "The database refused the reading; its log says more."
    return _SENTENCES.get(state) or _SENTENCES.get(state[:2], general)


def _unconnected(error: Any) -> str:
    """Why there is no connection. Here libpq has no codes: its words are looked at and not shown."""
    words = str(error).lower()
    if error.sqlstate:
        return _sentence(error.sqlstate)
    if "password" in words or "authentication" in words or ("role" in words and "does not exist" in words):
        return _SENTENCES["28"]
    if "pg_hba.conf" in words or "not permitted to log in" in words:
        return _SENTENCES["28"]
    if "database" in words and "does not exist" in words:
        return _SENTENCES["3D"]
    if "too many" in words or "remaining connection slots" in words:
        return _SENTENCES["53"]
    if "service" in words and "not found" in words:
        return "The service named by PGSERVICE is not in the file of services. Set PGSERVICEFILE, or PGHOST."
    if "ssl" in words or "certificate" in words:
        return "The server and PGSSLMODE do not agree on encryption, or its certificate is not trusted."
    return f"No connection to a PostgreSQL server. {_WHERE}"
