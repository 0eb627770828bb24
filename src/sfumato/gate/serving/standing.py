"""What a gate stands on when it is opened: a whole chain that holds its log, and what follows from the entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry, first_fault

if TYPE_CHECKING:
    from sfumato.gate.log import Log
    from sfumato.gate.store.store import Store, View

__all__ = ["Followed", "differences", "followed", "stood"]

_BEGINNING = 64
"""Most entries of a store before the first line of its log: as many as processes that make it at once."""
_RESTORE = "Put the store back with: sfumato gate restore FOLDER"


class Followed:
    """Entries, with what follows from them.

    Parameters
    ----------
    view
        Of a store.
    wanted
        Numbers of entries whose hashes are kept.
    head
        Where they should end, as the store has it.

    Attributes
    ----------
    state
        What follows from the entries that were seen.
    hashes
        Of those that are wanted, by number.
    fault
        The first thing that is wrong with the chain; empty where it is whole.
    """

    def __init__(self, view: View, *wanted: int, head: tuple[int, str] | None = None) -> None:
        self.state = State()
        self.hashes: dict[int, str] = {}
        self.odd = 0
        self.contents: dict[int, tuple[str, str, str]] = {}
        self.fault = first_fault(self._entries(view, frozenset(wanted)), head) or ""
        if not self.fault and head is not None and self.state.head != head and not self.odd:
            self.fault = "The ledger has entries behind its head."
        if not self.fault and self.odd:
            self.fault = f"Entry {self.odd} does not say what it is about."

    def _entries(self, view: View, wanted: frozenset[int]) -> Iterator[Entry]:
        for entry in view.entries():
            if entry.seq in wanted:
                self.hashes[entry.seq] = entry.hash
            if not self.odd:
                try:
                    self.state.apply(entry)
                    if entry.kind == "log":
                        for seq in entry.body.get("gone", ()):
                            self.contents.pop(seq, None)
                    if told := entry.body.get("content"):
                        self.contents[entry.seq] = told, entry.who, entry.dataset
                except (DataError, KeyError, ValueError, TypeError, AttributeError):
                    self.odd = entry.seq
            yield entry


def followed(view: View, log: Log | None) -> State:
    """The state that follows from a store's entries, if these are whole and go on where the log stands.

    Parameters
    ----------
    view
        Of the store that is opened.
    log
        Its log, opened before; None where one is begun.

    Raises
    ------
    DataError
        The chain is broken, the log is another gate's, or the store lacks the log's last entry; with what to do.
    """
    first, known = (None, (0, "")) if log is None else (log.first(), log.head)
    found = Followed(view, 1, known[0])
    if found.fault:
        raise DataError(f"The gate does not open: its ledger was changed. {found.fault} {_RESTORE}")
    if first is not None and found.hashes.get(1, first) != first:
        raise DataError(
            "The gate does not open: the log is another gate's. Name the log of this one under `log` in the "
            "configuration."
        )
    if log is not None and not known[0] and found.state.head[0] > _BEGINNING:
        raise DataError(
            "The gate does not open: its log is empty, and the store has entries. Bring the log back. If it is lost, "
            "take the empty file away and begin one: sfumato gate log start --reason TEXT"
        )
    if known[0] and found.hashes.get(known[0]) != known[1]:
        raise DataError(
            f"The gate does not open: its store was set back, or exchanged. It lacks entry {known[0]} as the log has "
            f"it. {_RESTORE}"
        )
    return found.state


def stood(store: Store) -> State:
    """The state of a gate that may be opened.

    Raises
    ------
    DataError
        As `followed`; or what is stored beside the entries does not follow from them.
    FileError
        The log lacks entries and cannot be written.
    """
    assert store.log is not None
    with store.seeing() as view:
        state = followed(view, store.log)
        faults = differences(state, view)
    if faults:
        more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
        raise DataError(
            f"The gate does not open: its store was edited. {faults[0]}{more} Look with: sfumato gate ledger verify. "
            "Write what follows with: sfumato gate repair"
        )
    store.log.catch_up(store.seeing)
    return state


def differences(derived: State, view: View) -> list[str]:
    """What is stored beside the entries and does not follow from them."""
    try:
        stored = view.state()
    except (DataError, ValueError, TypeError, KeyError, AttributeError):
        return ["Something that is stored cannot be read."]
    faults = []
    if derived.head != stored.head:
        faults.append("The ledger has entries behind its head, or lacks that one.")
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
