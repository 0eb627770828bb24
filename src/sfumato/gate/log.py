"""The log: a file beside the store that has every entry before its answer leaves, so that the store cannot be set back.

A store alone does not show that it was exchanged for an older one: what was refused since then would be granted. The
log shows it, as long as not both are set back together.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Protocol

from sfumato.data.files.atomic import to_disk
from sfumato.data.files.locks import hold
from sfumato.errors import DataError, FileError, GateStopped
from sfumato.gate.ledger import GENESIS, Entry, from_line, to_line

__all__ = ["Log", "Stored", "read_log"]

_WAIT = 60.0
"""Seconds that one who appends waits for another."""
_TAIL = 1 << 16


class Stored(Protocol):
    """What a log asks of a store: the head, and the entries."""

    def head(self) -> tuple[int, str]:
        """Number and hash of the last entry."""

    def entries(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Entries in order."""


class Log:
    """The log of a gate: line n is entry n, as `ledger export` writes it.

    It shows a store that alone was set back or edited. Who writes to both, or sets both back together, is not noticed.

    Parameters
    ----------
    path
        The file. It is never made here: see `begin`.

    Attributes
    ----------
    head
        Number and hash of the last entry that this process knows to be in the file, and on the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Log.begin(Path(folder) / "key.ledger").head[0]
    0
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head: tuple[int, str] = (0, GENESIS)
        self._end = 0
        self._file: tuple[int, int] | None = None
        self._turn = threading.Lock()

    @classmethod
    def begin(cls, path: Path) -> Log:
        """Make an empty one, which its owner alone can read, or take that which somebody made meanwhile."""
        with _told(path):
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            to_disk(path)
            with suppress(OSError):
                to_disk(path.parent)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Log:
        """Open one that is there, at its last whole line.

        Raises
        ------
        DataError
            It is missing, or damaged; with what to do.
        """
        log = cls(path)
        if not path.is_file():
            raise DataError(
                f"The gate does not open: its log {path.name!r} is missing. Bring it back. If it is lost, or the gate "
                "is older than logs, begin one: sfumato gate log start --reason TEXT"
            )
        with _told(path), path.open("rb") as file:
            log._file = _inode(file)
            log._end, line = _last_line(file)
        if line:
            log.head = _parsed(line, path).head
        return log

    def first(self) -> str | None:
        """The hash of its first entry; None while it has none."""
        with _told(self.path), self.path.open("rb") as file:
            line = file.readline()
        return _parsed(line, self.path).hash if line.endswith(b"\n") else None

    def refuse_gone(self) -> None:
        """Refuse to go on where the file is gone or cannot be written: what is decided then could not be told.

        Raises
        ------
        FileError
            With what to do.
        """
        if not os.access(self.path, os.W_OK):
            raise FileError(_unwritable(self.path))

    @staticmethod
    def refuse_set_back(head: tuple[int, str], known: tuple[int, str]) -> None:
        """Refuse a store that ends before a log does, or otherwise.

        Parameters
        ----------
        head
            Of the store.
        known
            Of the log, looked at before: lines are of entries that the store has.

        Raises
        ------
        GateStopped
            With what to do.
        """
        if head[0] < known[0] or (head[0] == known[0] and head[1] != known[1]):
            raise _set_back(known[0])

    def catch_up(self, look: Callable[[], AbstractContextManager[Stored]]) -> None:
        """Write the lines that the store has and the file has not; when this returns they are on the disk.

        Those who do so take turns, so that lines stand in the order of their numbers, whoever wrote the entries.

        Parameters
        ----------
        look
            Lets the store be seen as it is then.

        Raises
        ------
        FileError
            The file is gone or cannot be written; the file is as it was, and what is missing is written next time.
        GateStopped, DataError
            The store or the file was set back, or they are of different gates.
        """
        with self._turn, _told(self.path), self.held(), self.path.open("rb") as file:
            head, end, torn = self._read_on(file)
            with look() as stored, _writable(self.path, _inode(file)) as descriptor:
                if stored.head()[0] < head[0]:
                    raise _set_back(head[0])
                head, end = self._write(descriptor, head, end, torn, stored)
            self._file, self._end, self.head = _inode(file), end, head

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the log: nobody else appends meanwhile.

        Raises
        ------
        FileError
            Somebody else holds it for too long, or its folder cannot be written to.
        """
        with _told(self.path):
            lock = hold(self.path.with_name(f"{self.path.name}.lock"), _WAIT)
        try:
            yield
        finally:
            lock.release()

    def _read_on(self, file: IO[bytes]) -> tuple[tuple[int, str], int, bytes]:
        """Read the lines that others wrote: the last entry, where its line ends, and the piece of a line behind it.

        Whoever is asked holds the lock: a piece is what a crash has left.
        """
        head, end = self.head, self._end
        if self._file != _inode(file) or os.fstat(file.fileno()).st_size < end:
            end = self._found_again(file)
        file.seek(end)
        for line in file:
            if not line.endswith(b"\n"):
                return head, end, line
            entry = _parsed(line, self.path)
            if (entry.seq, entry.previous) != (head[0] + 1, head[1]):
                raise _damaged(self.path, head[0] + 1)
            head, end = entry.head, end + len(line)
        return head, end, b""

    def _found_again(self, file: IO[bytes]) -> int:
        """Where the line ends that this process saw last, in a file that took the place of the one that it was in."""
        seq, end, last = self.head[0], 0, b""
        file.seek(0)
        for line in islice(file, seq):
            end, last = end + len(line), line
        if seq and (not last.endswith(b"\n") or _parsed(last, self.path).head != self.head):
            raise GateStopped(
                f"The log {self.path.name!r} was set back, or exchanged: it lacks entry {seq}, which was told. Bring "
                "it back."
            )
        return end

    def _write(
        self, file: int, head: tuple[int, str], end: int, torn: bytes, stored: Stored
    ) -> tuple[tuple[int, str], int]:
        """Write what is missing behind the last entry; give what is the last one then, and where its line ends."""
        kept, piece = end, torn.rstrip(b"\0")  # what had not reached the disk when the power went reads as zeros
        try:
            os.lseek(file, end, os.SEEK_SET)
            for entry in stored.entries(head[0]):
                line = to_line(entry).encode() + b"\n"
                if (entry.seq, entry.previous) != (head[0] + 1, head[1]) or not line.startswith(piece):
                    raise _other_gate(self.path)
                if torn:
                    os.ftruncate(file, end)
                piece = torn = b""
                _write_all(file, line)
                head, end = entry.head, end + len(line)
            if torn:  # an entry is in the store before its line is begun
                raise _set_back(head[0] + 1)
            os.fsync(file)  # of lines, too, whose writer was killed before it did
        except OSError:
            with suppress(OSError):  # what is not known to be on the disk is written anew
                os.ftruncate(file, kept)
            raise
        return head, end


def read_log(path: Path) -> Iterator[Entry]:
    """The whole entries of a log, in order; a piece of a line at its end is left out.

    Raises
    ------
    DataError, FileError
        It is damaged, or cannot be read.
    """
    head = (0, GENESIS)
    with _told(path), path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            entry = _parsed(line, path)
            if (entry.seq, entry.previous) != (head[0] + 1, head[1]):
                raise _damaged(path, head[0] + 1)
            head = entry.head
            yield entry


@contextmanager
def _writable(path: Path, file: tuple[int, int]) -> Iterator[int]:
    """The file, to be written to, if it is still that one."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    try:
        stat = os.fstat(descriptor)
        if (stat.st_dev, stat.st_ino) != file:
            raise FileError(_unwritable(path))
        yield descriptor
    finally:
        os.close(descriptor)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _last_line(file: IO[bytes]) -> tuple[int, bytes]:
    """Where the last whole line ends, and the line."""
    size = file.seek(0, os.SEEK_END)
    step = _TAIL
    while True:
        begin = max(0, size - step)
        file.seek(begin)
        tail = file.read(size - begin)
        end = tail.rfind(b"\n") + 1
        start = tail.rfind(b"\n", 0, end - 1) + 1 if end else 0
        if begin == 0 or (end and start):
            return begin + end, tail[start:end]
        step *= 4


def _parsed(line: bytes, path: Path) -> Entry:
    try:
        entry = from_line(line.decode())
        whole = entry.digest == entry.hash
    except (DataError, ValueError):
        whole = False
    if not whole:
        raise GateStopped(
            f"The log {path.name!r} is damaged: one of its lines is no entry. Bring it back from a copy that is whole."
        )
    return entry


def _inode(file: IO[bytes]) -> tuple[int, int]:
    stat = os.fstat(file.fileno())
    return stat.st_dev, stat.st_ino


def _set_back(seq: int) -> GateStopped:
    return GateStopped(
        f"The store was set back, or exchanged: it lacks entry {seq} as the log has it. Nothing is told from it. Put "
        "it back with: sfumato gate restore FOLDER"
    )


def _damaged(path: Path, number: int) -> GateStopped:
    return GateStopped(
        f"The log {path.name!r} is damaged: line {number} is not entry {number}, or does not follow on the one before. "
        "Bring it back from a copy that is whole."
    )


def _other_gate(path: Path) -> GateStopped:
    return GateStopped(
        f"The log {path.name!r} is not this store's: their entries differ. Name this gate's own log under `log`, or "
        "put the store back with: sfumato gate restore FOLDER"
    )


def _unwritable(path: Path) -> str:
    return (
        f"The log {path.name!r} cannot be written: is it gone, or its disk full or read-only? Nothing is told until it "
        "can be."
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError:
        raise FileError(_unwritable(path)) from None
