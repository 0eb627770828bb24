"""Opening a store: SQLite beside the gate, or PostgreSQL by its address."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, FileError, MissingExtra
from sfumato.gate.store.schema import NEWEST, OLDER

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["migrated", "opened", "reading", "refuse_other_revisions", "writing"]

_WAIT = 60
"""Seconds that one who writes waits for another."""
_IMMEDIATE = "sfumato_immediate"
_FILE = "sfumato_file"


def opened(url: str, *, make: bool = False) -> Engine:
    """An engine for a store.

    Parameters
    ----------
    url
        `sqlite:////path/to/gate.db` or `postgresql://...`.
    make
        Whether a file that is not there may be made.

    Raises
    ------
    FileError
        There is no such file.
    MissingExtra
        Without the database's driver.
    """
    if url.startswith("sqlite"):
        return _sqlite(Path(url.removeprefix("sqlite:///")), make)
    return _postgresql(url)


def _sqlite(path: Path, make: bool) -> Engine:
    from sqlalchemy import URL, create_engine, event

    if not path.exists():
        if not make:
            raise FileError(f"There is no store {path.name!r}. Make it with: sfumato gate init")
        if not path.parent.is_dir():
            raise FileError(f"The folder of the store {path.name!r} does not exist. Make it first.")
        path.touch(mode=0o600)
    address = f"{path.resolve().as_uri()}?mode=rw"  # a file that is gone is not made anew

    def connected() -> sqlite3.Connection:
        return sqlite3.connect(address, uri=True, timeout=_WAIT, check_same_thread=False)

    engine = create_engine(URL.create("sqlite", database=str(path)), creator=connected)

    @event.listens_for(engine, "connect")
    def prepared(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        record.info[_FILE] = _inode(path)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(_IMMEDIATE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _postgresql(url: str) -> Engine:
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.exc import ArgumentError

    try:
        import psycopg as psycopg
    except ImportError:  # pragma: no cover - tests have the extra
        raise MissingExtra("A store in PostgreSQL", "postgres") from None
    try:
        address = make_url(url).set(drivername="postgresql+psycopg")
    except ArgumentError:
        raise DataError("The store's address cannot be read: postgresql://user@host/name.") from None
    return create_engine(address, pool_pre_ping=True)


@contextmanager
def told() -> Iterator[None]:
    """Say what went wrong with a store in words of ours: those of a database may quote values."""
    from sqlalchemy.exc import IntegrityError, SQLAlchemyError

    try:
        yield
    except IntegrityError:
        raise DataError("The store refused this: it breaks a rule between its tables.") from None
    except SQLAlchemyError as error:
        raise FileError(_reason(getattr(error, "orig", None))) from None


def _reason(error: BaseException | None) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    state = getattr(error, "sqlstate", None) or ""
    if code == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR or state.startswith("53"):
        return "The store cannot be written: is the disk full? Nothing was kept of what was asked."
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "The store is busy: somebody else is writing for too long. Try again."
    if code == sqlite3.SQLITE_NOTADB or code == sqlite3.SQLITE_CORRUPT:
        return "The store is damaged, or no store. Bring back a copy, and verify it."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return "The store cannot be opened for writing: look at the permissions of its file and its folder."
    return "The store cannot be reached, or it refused what was asked. Try again."


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one state of the store throughout."""
    with told(), engine.connect() as plain:
        connection = plain
        if engine.dialect.name == "postgresql":
            connection = plain.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            _refuse_moved(engine, connection)
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection whose changes are all kept at the end, or none."""
    with told(), engine.connect() as plain:
        connection = plain.execution_options(**{_IMMEDIATE: True})
        with connection.begin():
            _refuse_moved(engine, connection)
            yield connection
            _refuse_moved(engine, connection)


def _inode(path: str | Path) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _refuse_moved(engine: Engine, connection: Connection) -> None:
    """Refuse to go on in a file of SQLite that was moved or removed: what is written there is lost to all others."""
    if engine.dialect.name != "sqlite":
        return
    found = _inode(str(engine.url.database))
    if found is None or found != connection.info.get(_FILE):
        connection.invalidate()
        engine.dispose()
        raise FileError("The store's file is gone, or another one stands in its place. Bring it back, and try again.")


def migrated(engine: Engine) -> None:
    """Make the tables, or bring them to the newest revision.

    Raises
    ------
    DataError
        The store was made by a newer version of this package.
    """
    try:
        from alembic import command
        from alembic.config import Config
    except ImportError:  # pragma: no cover - tests have the extra
        raise MissingExtra("The gate's store", "server") from None

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":  # two that make it at once take turns
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7266277)")
        if _revision(connection) not in (None, *OLDER, NEWEST):
            _refuse_newer()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def refuse_other_revisions(connection: Connection) -> None:
    """Refuse a store that is not of this version.

    Raises
    ------
    DataError
        What to do about it.
    """
    found = _revision(connection)
    if found is None or found in OLDER:
        raise DataError("The store has no tables yet, or is of an older version. Bring it up with: sfumato gate init")
    if found != NEWEST:
        _refuse_newer()


def _revision(connection: Connection) -> str | None:
    from sqlalchemy import inspect

    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


def _refuse_newer() -> None:
    raise DataError("The store was made by a newer version of sfumato. Install that version, or a newer one.")
