"""The ledger: a chain of entries, each with the hash of the one before: what is changed or taken out shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sfumato.errors import DataError
from sfumato.gate.margin import canonical_json

__all__ = ["GENESIS", "KINDS", "Entry", "Kind", "chained", "first_fault", "from_line", "now", "read_head", "to_line"]

Kind = Literal["request", "repeat", "offer", "exception", "user", "edge", "policy", "version", "log"]
KINDS: tuple[str, ...] = get_args(Kind)
"""What an entry can be about."""
GENESIS = "0" * 64
"""What stands as the hash before the first entry."""


@dataclass(frozen=True)
class Entry:
    """One entry.

    Parameters
    ----------
    seq
        Its number, from 1.
    at
        When, in UTC.
    kind
        What it is about.
    who
        The principal that it is about.
    dataset
        Name of the data set; empty where it is about none.
    body
        What was asked and decided. Whole numbers and texts alone: fractions are texts.
    previous
        Hash of the entry before; 64 zeros for the first.
    hash
        SHA-256 of the canonical JSON of all else.
    """

    seq: int
    at: str
    kind: str
    who: str
    dataset: str
    body: Mapping[str, Any]
    previous: str
    hash: str

    @property
    def digest(self) -> str:
        """The hash that it should have.

        Examples
        --------
        >>> entry = chained(None, "user", "ann", "", {"policy": "research"}, at="2026-01-01T00:00:00.000000Z")
        >>> entry.digest == entry.hash
        True
        """
        content = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "hash"}
        return hashlib.sha256(canonical_json(content)).hexdigest()

    @property
    def head(self) -> tuple[int, str]:
        """Its number and its hash: what papers of a release state."""
        return self.seq, self.hash


def now() -> str:
    """The time, as entries state it: UTC, to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def chained(
    previous: Entry | tuple[int, str] | None,
    kind: str,
    who: str,
    dataset: str,
    body: Mapping[str, Any],
    at: str | None = None,
) -> Entry:
    """Make the next entry of a chain.

    Parameters
    ----------
    previous
        The last entry, or its number and hash; None for the first.
    kind, who, dataset, body, at
        As in `Entry`; the time is now where it is not given.

    Raises
    ------
    ValueError
        A float in the body, or a kind that there is not.

    Examples
    --------
    >>> first = chained(None, "user", "ann", "", {}, at="2026-01-01T00:00:00.000000Z")
    >>> second = chained(first, "request", "ann", "ward", {}, at="2026-01-01T00:00:01.000000Z")
    >>> first.previous == GENESIS, second.previous == first.hash, second.seq
    (True, True, 2)
    """
    if kind not in KINDS:
        raise ValueError(f"there is no kind of entry {kind!r}")
    seq, before = previous.head if isinstance(previous, Entry) else previous or (0, GENESIS)
    entry = Entry(seq + 1, at or now(), kind, who, dataset, body, before, "")
    return Entry(**{one.name: getattr(entry, one.name) for one in fields(entry)} | {"hash": entry.digest})


def first_fault(entries: Iterable[Entry], head: tuple[int, str] | None = None) -> str | None:
    """Name the first thing that is wrong with a chain; None where it is whole.

    Parameters
    ----------
    entries
        All entries, in order.
    head
        Number and hash of an entry that was seen before, as papers of a release state them: it must be there still. A
        chain alone does not show that its end was cut off.

    Examples
    --------
    >>> first = chained(None, "user", "ann", "", {}, at="2026-01-01T00:00:00.000000Z")
    >>> second = chained(first, "user", "bob", "", {}, at="2026-01-01T00:00:00.000000Z")
    >>> first_fault([first, second], second.head), first_fault([second])
    (None, 'Entry 1 is missing: entry 2 stands in its place.')
    >>> first_fault([first], second.head)
    'The end is missing: the ledger ends at entry 1, and entry 2 was seen.'
    """
    seq, before, seen = 0, GENESIS, head is None
    for entry in entries:
        if entry.seq > seq + 1:
            return f"Entry {seq + 1} is missing: entry {entry.seq} stands in its place."
        if entry.seq <= seq:
            return f"Entry {entry.seq} stands twice, or not in its place."
        try:
            whole = entry.digest == entry.hash
        except ValueError:
            whole = False
        if not whole:
            return f"Entry {entry.seq} was changed: its hash is that of something else."
        if entry.previous != before:
            changed = f"entry {seq} was changed or replaced" if seq else "it is not the first of this ledger"
            return f"Entry {entry.seq} does not follow on what stands before it: {changed}."
        if head is not None and entry.seq == head[0]:
            if entry.hash != head[1]:
                return f"Entry {entry.seq} was replaced, or one before it: it had another hash when it was seen."
            seen = True
        seq, before = entry.head
    if not seen and head is not None and head != (0, GENESIS):
        return f"The end is missing: the ledger ends at entry {seq}, and entry {head[0]} was seen."
    return None


def to_line(entry: Entry) -> str:
    """One line of JSON, as `ledger export` writes it."""
    return canonical_json({one.name: getattr(entry, one.name) for one in fields(entry)}).decode()


_TYPES = {"seq": int, "body": dict}


def from_line(line: str, number: int = 1) -> Entry:
    """Read what `to_line` wrote.

    Raises
    ------
    DataError
        With the number of the line, for what is no entry.

    Examples
    --------
    >>> entry = chained(None, "user", "ann", "", {}, at="2026-01-01T00:00:00.000000Z")
    >>> from_line(to_line(entry)) == entry
    True
    """
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        given = None
    names = {one.name for one in fields(Entry)}
    if not isinstance(given, dict) or set(given) != names:
        raise DataError(f"Line {number} is no entry of a ledger.")
    for name in names:
        if type(given[name]) is not _TYPES.get(name, str):
            raise DataError(f"Line {number} is no entry of a ledger: {name!r} is of another kind.")
    return Entry(**given)


def read_head(text: str) -> tuple[int, str]:
    """Read a head as papers state it: `SEQ:HASH`.

    Examples
    --------
    >>> read_head("12:" + "a" * 64)[0]
    12
    """
    seq, _, digest = text.strip().partition(":")
    if not seq.isascii() or not seq.isdigit() or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise DataError("The head of a ledger is written SEQ:HASH, a number and 64 hexadecimal digits.")
    return int(seq), digest
