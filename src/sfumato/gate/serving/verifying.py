"""Proving what was given to whom: the chain, what was given, what follows, and the files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.data.files.atomic import replacing
from sfumato.errors import DataError, FileError
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry, first_fault, from_line, to_line
from sfumato.gate.serving.core import Core

if TYPE_CHECKING:
    from sfumato.gate.store.store import View

__all__ = ["Verifying", "verify_file"]


class Verifying(Core):
    """The part of a gate that proves."""

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
        with self.store.reading() as view:
            faults, derived, contents = self._chain(view, head)
            faults += _contents(view, contents)
            faults += _answers(view) + _proposals(view)
            stored = view.state()
        if derived is not None:
            faults += _differences(derived, stored)
        return faults + self._files(stored)

    def _chain(
        self, view: View, head: tuple[int, str] | None
    ) -> tuple[list[str], State | None, dict[int, tuple[str, str, str]]]:
        derived = State()
        contents: dict[int, tuple[str, str, str]] = {}
        odd: list[int] = []

        def followed() -> Iterator[Entry]:
            for entry in view.entries():
                if not odd:
                    try:
                        derived.apply(entry)
                        if told := entry.body.get("content"):
                            contents[entry.seq] = told, entry.who, entry.dataset
                    except (KeyError, ValueError, TypeError, AttributeError):
                        odd.append(entry.seq)
                yield entry

        stored = view.head()
        fault = first_fault(followed(), stored)
        if fault is None and derived.head != stored and not odd:
            fault = "The ledger has entries behind its head."
        if fault is None and head is not None and head[0]:
            fault = self._seen(view, head)
        if fault is None and odd:
            fault = f"Entry {odd[0]} does not say what it is about."
        return [fault] if fault else [], None if fault else derived, contents

    @staticmethod
    def _seen(view: View, head: tuple[int, str]) -> str | None:
        found = list(view.entries(head[0] - 1, head[0]))
        if not found:
            return f"The end is missing: the ledger ends at entry {view.head()[0]}, and entry {head[0]} was seen."
        if found[0].hash != head[1]:
            return f"Entry {head[0]} was replaced, or one before it: it had another hash when it was seen."
        return None

    def _files(self, stored: State) -> list[str]:
        faults = []
        for name, described in sorted(stored.datasets.items()):
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
        own = (row.who, row.dataset, row.proposed_by, row.reason, asked.get("margin"), asked.get("chance"))
        said = ("by", "reason", "margin", "chance")
        if entry is None or own != (entry.who, entry.dataset, *(entry.body.get(one) for one in said)):
            faults.append(f"The exception of entry {row.seq} is not what was proposed.")
    return faults


def _entry(view: View, seq: int) -> Entry | None:
    return next(iter(view.entries(seq - 1, seq)), None)


def _differences(derived: State, stored: State) -> list[str]:
    """What is stored beside the ledger and does not follow from it."""
    faults = []
    for what, own, kept in (
        ("principals", derived.people, stored.people),
        ("policies", derived.policies, stored.policies),
        ("data sets", derived.datasets, stored.datasets),
    ):
        names = sorted(name for name in {*own, *kept} if _get(own, name) != _get(kept, name))
        faults += [f"What is stored of {name!r} ({what}) does not follow from the ledger." for name in names]
    pairs = {key for key in {*derived.knowledge, *stored.knowledge} if derived.knows(*key) != stored.knows(*key)}
    faults += [
        f"What {who!r} is stored to know of {dataset!r} does not follow from the ledger."
        for who, dataset in sorted(pairs)
    ]
    if derived.edges != stored.edges:
        faults.append("Who shares with whom, as it is stored, does not follow from the ledger.")
    if derived.broken != stored.broken:
        faults.append("Whose knowledge breaks a policy, as it is stored, does not follow from the ledger.")
    return faults


def _get(mapping: Any, name: str) -> Any:
    return mapping.get(name)


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
