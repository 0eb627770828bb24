"""The file that is looked at: read once, in a thread of its own, and drafted a plan for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sfumato.errors import FileError
from sfumato.web.studio.remembered import Remembered

if TYPE_CHECKING:
    from sfumato.api.draft import Draft
    from sfumato.data.finding import Findings
    from sfumato.engines.polars import PolarsDataset

__all__ = ["Opened", "Source"]

Stamp = tuple[int, int, int, int]
_T = TypeVar("_T")
_MOST_REMEMBERED = 5_000


@dataclass(frozen=True)
class Source:
    """A file, and how it is read.

    Parameters
    ----------
    path
        The file.
    how
        Options of `sfumato.api.read.read`.
    """

    path: Path
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stamp(self) -> Stamp:
        """By what a file that was changed is known: where it lies, its size and when it was written.

        Raises
        ------
        FileError
            It is gone.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            raise FileError(f"There is no file {str(self.path)!r}.") from None
        except OSError as error:
            raise FileError(f"{str(self.path)!r} cannot be read: {error.strerror}.") from None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def read(self) -> PolarsDataset:
        """The table.

        Raises
        ------
        FileError, DataError
            It cannot be read, or is too large for the memory of this machine.
        """
        from sfumato.api.opening import in_memory
        from sfumato.api.read import SAMPLE, read

        try:
            return in_memory(read(self.path, **self.how), "The studio", SAMPLE)
        except MemoryError:
            raise FileError(f"{self.path.name!r} is too large for the memory of this machine.") from None


class Opened:
    """A file that is being read, then drafted a plan for; whoever needs either waits for it.

    Parameters
    ----------
    source
        The file.

    Attributes
    ----------
    stamp
        Of the file as it was read.
    risks
        What was measured of it, by what was asked.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.risks: Remembered[Findings] = Remembered(64)
        self.stamp = source.stamp
        pool = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._table: Future[PolarsDataset] = pool.submit(source.read)
        self._draft: Future[Draft] = pool.submit(self._drafted)
        pool.shutdown(wait=False)
        self._remembered: dict[object, Any] = {}
        self._lock = threading.Lock()

    @property
    def table(self) -> PolarsDataset:
        """The table; errors of reading are raised again."""
        return self._table.result()

    @property
    def draft(self) -> Draft:
        """The plan that `init` drafts, and its guesses."""
        return self._draft.result()

    @property
    def read(self) -> bool:
        """Whether the table is there."""
        return self._table.done()

    @property
    def drafted(self) -> bool:
        """Whether the draft is there."""
        return self._draft.done()

    @property
    def changed(self) -> bool:
        """Whether the file is no longer what was read."""
        try:
            return self.source.stamp != self.stamp
        except FileError:
            return True

    def remember(self, key: object, make: Callable[[], _T]) -> _T:
        """What was worked out of this file before; else it is worked out, and kept as long as the file is open.

        Parameters
        ----------
        key
            By which it is known; it names all that it hangs on beside the file.
        make
            Gives it.
        """
        with self._lock:
            if key in self._remembered:
                return self._remembered[key]  # type: ignore[no-any-return]
        made = make()
        with self._lock:
            while len(self._remembered) >= _MOST_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[key] = made
        return made

    def _drafted(self) -> Draft:
        from sfumato.api.draft import draft

        return draft(self._table.result(), self.source.path.stem)
