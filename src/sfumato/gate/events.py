"""A day at the gate in lines: who comes, who joins whom, who asks what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import DataError, FileError

__all__ = ["Event", "read_events"]

_LARGEST = 4 << 20
_WORDS: dict[str, tuple[int, int, str]] = {
    "organisation": (2, 2, "organisation NAME POLICY"),
    "group": (2, 2, "group NAME POLICY"),
    "user": (2, 2, "user NAME POLICY"),
    "join": (2, 2, "join WHO WHERE"),
    "leave": (2, 2, "leave WHO WHERE"),
    "share": (2, 2, "share GIVER TAKER"),
    "withdraw": (2, 2, "withdraw GIVER TAKER"),
    "ask": (2, 3, "ask WHO TABLE [VERSION]"),
    "version": (2, 2, "version NAME FILE"),
}


@dataclass(frozen=True)
class Event:
    """One line.

    Parameters
    ----------
    word
        What happens.
    arguments
        The words after it.
    line
        Its number, from 1.
    """

    word: str
    arguments: tuple[str, ...]
    line: int


def read_events(path: Path) -> tuple[Event, ...]:
    """Read events, one a line; empty lines and what stands behind # are left out.

    Raises
    ------
    FileError, DataError
        What cannot be read; an unknown word, or too few or too many after it, with its line.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(f"{path.name!r} is too large for a file of events.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError(f"Cannot read the events in {path.name!r}.") from None
    return parsed_events(text.splitlines(), path.name)


def parsed_events(lines: Sequence[str], where: str = "events") -> tuple[Event, ...]:
    """The same from lines.

    Examples
    --------
    >>> parsed_events(["ask ann A,B  # now"])[0].arguments
    ('ann', 'A,B')
    """
    out = []
    for number, text in enumerate(lines, 1):
        word, *arguments = text.split("#", 1)[0].split() or [""]
        if not word:
            continue
        if word not in _WORDS:
            raise DataError(f"{where}, line {number}: an event is one of {', '.join(_WORDS)}.")
        fewest, most, form = _WORDS[word]
        if not fewest <= len(arguments) <= most:
            raise DataError(f"{where}, line {number}: it is written `{form}`.")
        out.append(Event(word, tuple(arguments), number))
    return tuple(out)


def located(event: Event, do: Callable[[], object]) -> object:
    """Do something; what is wrong with it is said with the event's line."""
    try:
        return do()
    except DataError as error:
        raise DataError(f"Line {event.line}: {error}") from None
