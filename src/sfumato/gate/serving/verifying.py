"""Proving what was given to whom: the chain, what was given, what follows, and the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.data.files.atomic import replacing
from sfumato.errors import DataError, FileError, SfumatoError
from sfumato.gate.derived import Described
from sfumato.gate.ledger import Entry, first_fault, from_line, now, to_line
from sfumato.gate.log import read_log
from sfumato.gate.serving.core import Core
from sfumato.gate.serving.standing import Followed, differences

if TYPE_CHECKING:
    from sfumato.gate.store.store import View

__all__ = ["Verifying", "verify_file"]

_NOT_AS_WRITTEN = (
    "Nothing is told: what was given, or what it rests on, is not as it was written. Look with: sfumato gate ledger "
    "verify"
)


class Verifying(Core):
    """The part of a gate that proves."""

    _proved: str | None = None

    def prove(self) -> bool:
        """Verify all; where something is not as it was written nothing is told from then on, until it is again."""
        try:
            whole = not self.verify()
        except SfumatoError:
            whole = False
        self._proved = now()
        if self.store.stopped in ("", _NOT_AS_WRITTEN):
            self.store.stopped = "" if whole else _NOT_AS_WRITTEN
        return whole

    @property
    def health(self) -> dict[str, Any]:
        """When all was proved last, by this process, and whether it answers; and since when there is a log, if it was
        begun after the gate was.
        """
        since = self._state.log_since[:10]
        return {"verified": self._proved, "ok": not self.store.stopped} | ({"log_since": since} if since else {})

    def head(self) -> tuple[int, str]:
        """Number and hash of the last entry."""
        with self.store.reading() as view:
            return view.head()

    def entries(self, after: int = 0, upto: int | None = None) -> list[Entry]:
        """Entries of the ledger, those with larger numbers than `after`, at most up to `upto`."""
        with self.store.reading() as view:
            return list(view.entries(after, upto))

    def search(
        self, dataset: str | None = None, who: str | None = None, after: int = 0, limit: int = 100
    ) -> list[Entry]:
        """Entries of a data set, or about somebody, in order.

        Parameters
        ----------
        dataset, who
            Which; all where they are None.
        after
            Only those with larger numbers.
        limit
            At most so many.
        """
        with self.store.reading() as view:
            return view.search(dataset, who, after, limit)

    def export(self, path: Path) -> int:
        """Write the ledger as lines of JSON; give how many there are."""
        many = 0
        with self.store.reading() as view, replacing(path) as temporary, temporary.open("wb") as file:
            for entry in view.entries():
                file.write(to_line(entry).encode() + b"\n")
                many += 1
        return many

    def verify(self, head: tuple[int, str] | None = None) -> list[str]:
        """Look whether all is as it was written.

        Parameters
        ----------
        head
            Number and hash of an entry that papers of a release state.

        Returns
        -------
        list of str
            What is not: in the chain, in what was given, in what follows from the entries, in the data files. None of
            them quotes what was given.
        """
        known, faults = self._log_faults()
        with self.store.seeing() as view:
            found = Followed(view, known[0], head=view.head())
            fault = found.fault or ("" if head is None or not head[0] else self._seen(view, head))
            faults += [fault] if fault else []
            if known[0] and found.hashes.get(known[0]) != known[1]:
                faults.append(f"The store was set back, or exchanged: it lacks entry {known[0]} as the log has it.")
            faults += _contents(view, found.contents)
            faults += _answers(view) + _proposals(view)
            faults += [] if fault else differences(found.state, view)
            datasets = view.state().datasets if fault else found.state.datasets
        return faults + self._files(datasets)

    def _log_faults(self) -> tuple[tuple[int, str], list[str]]:
        """Where the log stands, and what is wrong with it: every line is looked at."""
        head = (0, "")
        try:
            for entry in read_log(self.config.log_path):
                head = entry.head
        except SfumatoError as error:
            return head, [str(error)]
        return head, []

    @staticmethod
    def _seen(view: View, head: tuple[int, str]) -> str:
        found = list(view.entries(head[0] - 1, head[0]))
        if not found:
            return f"The end is missing: the ledger ends at entry {view.head()[0]}, and entry {head[0]} was seen."
        if found[0].hash != head[1]:
            return f"Entry {head[0]} was replaced, or one before it: it had another hash when it was seen."
        return ""

    def _files(self, datasets: Mapping[str, Described]) -> list[str]:
        faults = []
        for name, described in sorted(datasets.items()):
            faults += [
                f"The file of the data set {name!r}, version {version.name!r}, changed or is gone."
                for version in described.versions
                if not self.sources.unchanged(version, thoroughly=True)
            ]
        return faults


def _contents(view: View, contents: dict[int, tuple[str, str, str]]) -> list[str]:
    """Releases that are not what their entries say, and entries whose releases are gone."""
    from sfumato.gate.store.store import digest

    faults: list[str] = []
    seen = 0
    missing = dict(contents)
    while rows := view.releases(after=seen):
        for row in rows:
            wanted = missing.pop(int(row.seq), None)
            if wanted is None:
                faults.append(f"A release names entry {row.seq}, which gave nothing.")
            elif digest(row.content) != wanted[0] or row.digest != wanted[0]:
                faults.append(f"The release of entry {row.seq} is not what was given.")
            elif (row.who, row.dataset) != wanted[1:]:
                faults.append(f"The release of entry {row.seq} was given to somebody else, or of another data set.")
        seen = int(rows[-1].seq)
    faults += [f"The release of entry {seq} is gone." for seq in sorted(missing)]
    return faults


def _answers(view: View) -> list[str]:
    """Answers that are not what their entries say: a key that comes again is answered by them."""
    faults = []
    for seq, who, told in view.answers():
        entry = _entry(view, seq)
        same = entry is not None and (told["seq"], told["hash"], who) == (entry.seq, entry.hash, entry.who)
        if not same or entry is None or any(told[what] != entry.body[what] for what in ("decision", "reasons")):
            faults.append(f"The answer of entry {seq} is not what was answered.")
        elif told["release"] is not None:
            row = view.release(told["release"])
            if row is None or int(row.seq) != seq:
                faults.append(f"The answer of entry {seq} names another release.")
    return faults


def _proposals(view: View) -> list[str]:
    """Exceptions that are not what their entries propose."""
    faults = []
    for row in view.proposals():
        entry = _entry(view, int(row.seq))
        asked = json.loads(row.asked)
        own = (
            row.who,
            row.dataset,
            row.proposed_by,
            row.reason,
            *(asked.get(one) for one in ("margin", "chance", "digest")),
        )
        said = ("by", "reason", "margin", "chance", "digest")
        if entry is None or own != (entry.who, entry.dataset, *(entry.body.get(one) for one in said)):
            faults.append(f"The exception of entry {row.seq} is not what was proposed.")
    return faults


def _entry(view: View, seq: int) -> Entry | None:
    return next(iter(view.entries(seq - 1, seq)), None)


def verify_file(path: Path, head: tuple[int, str] | None = None) -> list[str]:
    """Look whether the chain in an exported ledger is whole.

    Parameters
    ----------
    path
        The file.
    head
        Number and hash of an entry that papers of a release state.

    Returns
    -------
    list of str
        The first thing that is wrong; none where it is whole.
    """

    def entries() -> Iterator[Entry]:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield from_line(line, number)

    try:
        fault = first_fault(entries(), head)
    except DataError as error:
        fault = str(error)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        raise FileError(f"Cannot read the ledger {path.name!r}.") from None
    return [] if fault is None else [fault]
