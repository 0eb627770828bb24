"""Putting a store back from a backup, with all that was told since, so that nobody's knowledge is lost."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, FileError, SfumatoError
from sfumato.gate.backup import LOG, STORE, Backup, copied_store, read_backup
from sfumato.gate.config import Config
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry, now
from sfumato.gate.log import Log, read_log
from sfumato.gate.serving.standing import differences, followed

if TYPE_CHECKING:
    from sfumato.gate.serving.remaking import Remaking
    from sfumato.gate.store.store import Store, View, Writer

__all__ = ["Restored", "restored"]

_UNTOUCHED = "Nothing was touched."


@dataclass(frozen=True)
class Restored:
    """What came of putting a store back.

    Parameters
    ----------
    head
        Number and hash of its last entry.
    later
        How many entries came from the log.
    made
        How many releases of these were made again.
    gone
        Numbers of entries whose releases could not be.
    logged
        Whether there is a log; else one is to be begun.
    """

    head: tuple[int, str]
    later: int
    made: int
    gone: tuple[int, ...]
    logged: bool

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        head = {"seq": self.head[0], "hash": self.head[1]}
        return {"ledger": head, "later": self.later, "made": self.made, "gone": list(self.gone), "log": self.logged}


def restored(
    config: Config, folder: Path, opened: Callable[[str], Store], gate: Callable[[Store, State], Remaking]
) -> Restored:
    """Put a store back, and all entries behind it that the log has.

    A store in PostgreSQL is put back by `pg_restore` first; here it gets the entries that it lacks.

    Parameters
    ----------
    config
        Of the gate.
    folder
        The backup.
    opened
        Opens a store by its address, brought up to this version.
    gate
        Makes a gate over a store, which makes releases again.

    Raises
    ------
    DataError, FileError
        The backup is damaged or another gate's; the log was set back; the store that is there has entries that neither
        backup nor log has. Nothing is touched then.
    """
    backup = read_backup(folder)
    logged = config.log_path.is_file()
    with ExitStack() as stack:
        if logged:
            stack.enter_context(Log(config.log_path).held())
        later = _later(backup, config.log_path if logged else folder / LOG)
        if config.store_url.startswith("sqlite"):
            done = _file_put_back(config, backup, later, logged, opened, gate)
        else:
            store = opened(config.store_url)
            stack.callback(store.close)
            done = _brought_up(store, backup, later, logged, gate)
    if logged:
        store = opened(config.store_url)
        try:
            Log.open(config.log_path).catch_up(store.seeing)
        finally:
            store.close()
    return done


def _later(backup: Backup, log: Path) -> list[Entry]:
    """All entries of a log, which must go through the backup's head; those of the backup are left out where it ends."""
    entries = list(read_log(log))
    if not entries or entries[0].hash != backup.first:
        raise DataError(f"The backup is another gate's than the log {log.name!r}. {_UNTOUCHED}")
    if len(entries) < backup.head[0] or entries[backup.head[0] - 1].hash != backup.head[1]:
        raise DataError(
            f"The log {log.name!r} was set back, or exchanged: it lacks entry {backup.head[0]} of the backup. Bring it "
            f"back first. {_UNTOUCHED}"
        )
    return entries


def _file_put_back(
    config: Config,
    backup: Backup,
    log: Sequence[Entry],
    logged: bool,
    opened: Callable[[str], Store],
    gate: Callable[[Store, State], Remaking],
) -> Restored:
    if STORE not in backup.files:
        raise DataError(f"The backup has no store: it is of a gate whose store is in PostgreSQL. {_UNTOUCHED}")
    path = Path(config.store_url.removeprefix("sqlite:///"))
    _refuse_ahead(config, path, log, opened)
    with tempfile.TemporaryDirectory(prefix=".sfumato-restore-", dir=path.parent) as aside:
        made = Path(aside) / path.name
        made.touch(mode=0o600)
        made.write_bytes((backup.folder / STORE).read_bytes())
        store = opened(f"sqlite:///{made}")
        try:
            done = _brought_up(store, backup, log, logged, gate)
        finally:
            store.close()
        _refuse_ahead(config, path, log, opened)
        _put(made, path)
    return done


def _put(made: Path, path: Path) -> None:
    """Write a store in place of another, in the same file: who has that open goes on with what is in it then."""
    fresh = not path.exists()
    if fresh:
        path.touch(mode=0o600)
    try:
        copied_store(made, path)
    except sqlite3.DatabaseError as error:
        damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        if not damaged:
            raise FileError("The store cannot be written: is the disk full, or somebody else busy with it?") from None
        for old in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"), path):
            old.unlink(missing_ok=True)  # what was in them is of a file that nobody can read
        path.touch(mode=0o600)
        copied_store(made, path)


def _refuse_ahead(config: Config, path: Path, log: Sequence[Entry], opened: Callable[[str], Store]) -> None:
    """Refuse to write over a store that has more than what would be put in its place, or that is another gate's."""
    if not path.exists():
        return
    try:
        store = opened(config.store_url)
    except SfumatoError:  # it is damaged, or no store: that is why one is put back
        return
    try:
        with suppress(FileError), store.seeing() as view:
            first = [entry.hash for entry in view.entries(0, 1)]
            if first and first[0] != log[0].hash:
                raise DataError(f"The store is another gate's than the log and the backup. {_UNTOUCHED}")
            if next(iter(view.entries(len(log))), None) is not None:
                raise DataError(
                    "The store that is there has entries that neither the log nor the backup has: they would be "
                    "forgotten. Open it, so that the log catches up, or begin a log: sfumato gate log start --reason "
                    f"TEXT. {_UNTOUCHED}"
                )
    finally:
        store.close()


def _brought_up(
    store: Store, backup: Backup, log: Sequence[Entry], logged: bool, gate: Callable[[Store, State], Remaking]
) -> Restored:
    """Add what the log has, and what follows from it, in one transaction."""
    with store.seeing() as view:
        state = _whole(view, backup, log)
    later = log[state.head[0] :]
    final = state.copy()
    for entry in later:
        final.apply(entry)
    again = gate(store, final)
    with store.mending() as writer:
        if writer.head() != state.head:
            raise DataError("Somebody else writes to the store: stop the servers, and put it back again.")
        given = list(_added(writer, state, later, again))
        gone = tuple(seq for seq, made in given if not made)
        if gone:
            body = {"step": "restored", "gone": list(gone), "by": "command line"}
            state.apply(writer.append("log", "command line", "", body, now()))
    return Restored(state.head, len(later), len(given) - len(gone), gone, logged)


def _whole(view: View, backup: Backup, log: Sequence[Entry]) -> State:
    state = followed(view, None)
    stands = [entry.hash for entry in view.entries(0, 1)] == [backup.first]
    if not stands:
        raise DataError(f"The store is another gate's than the log and the backup. {_UNTOUCHED}")
    if state.head[0] > len(log) or log[state.head[0] - 1].head != state.head:
        raise DataError(
            f"The store has entries that the log lacks: entry {state.head[0]} is none of its. Bring the log back, or "
            f"open the store. {_UNTOUCHED}"
        )
    if faults := differences(state, view):
        raise DataError(f"The store was edited before it was put back. {faults[0]} {_UNTOUCHED}")
    return state


def _added(writer: Writer, state: State, later: Sequence[Entry], gate: Remaking) -> Iterator[tuple[int, bool]]:
    """Write entries and what follows; by number, whether a release that one gave could be made again."""
    from sfumato.gate.store.store import token

    for entry in later:
        told = entry.body.get("content")
        text = gate.remade(state, entry) if told else ""
        writer.adopt(entry)
        writer.follow(state.apply(entry), state)
        gate.waits_again(writer, entry)
        if text:
            writer.give(token(), entry, text)
        if told:
            yield entry.seq, bool(text)
