"""Lines of a plan that stand for themselves: taken out of its text and read at once, since a parser is slow on many.

A drafted plan says a variable, a step, a limit in one line each: `  age: {role: key, kind: integer}  # why`. Such lines
mean the same wherever they stand, so the parser is given the others alone, and the values are put together again by
their lines. What is in the least unusual stays with the parser, whose word on it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Entry", "put_back", "taken_out"]

Path = tuple[str | int, ...]

_SECTIONS = {"variables": dict, "steps": list, "limits": list}
_TOP = re.compile(r"([A-Za-z_]+):(?: .*)?")
_OPENS = re.compile(r"(variables|steps|limits):[ ]*(?:#.*)?")
_ENTRY = re.compile(r'  (?:([A-Za-z_][A-Za-z0-9_]{0,99}|"[^"\\]{1,99}"): +|- )(\{.*\}) *(?: #.*)?')
_ALIEN = re.compile(r"[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
"""What some call a line's end, or the parser refuses."""
_PART = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]{0,99}(?![^,:}\] ]))"
    r'|"([^"\\]{0,999})"'
    r"|(-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?(?![^,:}\] ]))"
    r"|(\{ *| *\}|\[ *| *\]| *, *|: +)"
)
_CLOSED = re.compile(r"""(?<!\w)"(?:[^"\\]|\\.)*"|(?<!\w)'(?:[^']|'')*'|(?:^|\s)\#.*|([\[{])|([\]}])|(["'])""")
_PLAIN = re.compile(r" *(?:- +)?[A-Za-z_][A-Za-z0-9_]*: +[A-Za-z0-9_].*")
"""A word behind a key begins a text in which brackets and quotes are letters."""
_WORDS = {"null": None, "true": True, "false": False}
_UNSURE = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"])
_DEEPEST = 6


class _Unusual(Exception):
    """Left to the parser."""


@dataclass(frozen=True)
class Entry:
    """A line that was taken out.

    Parameters
    ----------
    section
        `variables`, `steps` or `limits`.
    line
        Its number, from 1.
    key
        Of a variable; None of an item of a list.
    value
        What it says.
    nodes
        How many scalars, lists and mappings it holds.
    """

    section: str
    line: int
    key: str | None
    value: Any
    nodes: int


def taken_out(text: str) -> tuple[str, list[Entry]]:
    """Take out the lines that stand for themselves; empty ones are in their places.

    Parameters
    ----------
    text
        A plan as YAML, or what somebody typed.

    Returns
    -------
    rest, entries
        The text without them, of as many lines, and what they say.

    Examples
    --------
    >>> rest, entries = taken_out("variables:\\n  sex: {role: key}\\n  age: {role: key}\\n")
    >>> rest, entries[0].key, entries[0].value
    ('variables:\\n  sex: {role: key}\\n\\n', 'age', {'role': 'key'})
    """
    if _ALIEN.search(text) or "\r" in text.replace("\r\n", "\n"):
        return text, []
    lines, entries, section, inside, guarded = text.split("\n"), [], "", False, False
    for i, whole in enumerate(lines):
        line = whole.removesuffix("\r")
        bare = line.lstrip(" ")
        if not bare or bare.startswith("#"):
            continue
        if line[0] != " ":
            if not (_TOP.fullmatch(line) and _is_closed(line)):
                break
            section, inside = (found[1] if (found := _OPENS.fullmatch(line)) else ""), False
            guarded = True
        elif section and (entry := _entry(section, i + 1, line)) is not None:
            if not guarded:  # the first, and what comes after another kind of line, show what is wrong with it
                entries.append(entry)
                lines[i] = "\r" if whole.endswith("\r") else ""
            inside = guarded = False
        else:
            guarded = True
            inside = inside or line[:2] == "  " != line[1:3]  # what is deeper belongs to an entry that stays
            if (section and not inside) or not _is_closed(line):
                break
    return "\n".join(lines), entries


def _is_closed(line: str) -> bool:
    """Whether no quote and no bracket is left open at the end of a line that stays, as far as that is plain."""
    if _PLAIN.fullmatch(line):
        return True
    depth = 0
    for part in _CLOSED.finditer(line):
        depth += bool(part[1]) - bool(part[2])
        if depth < 0 or part[3]:
            return False
    return depth == 0


def _entry(section: str, number: int, line: str) -> Entry | None:
    found = _ENTRY.fullmatch(line)
    if found is None or (found[1] is None) != (_SECTIONS[section] is list):
        return None
    key = found[1]
    if key is not None and key[0] != '"' and key.lower() in _UNSURE:
        return None
    try:
        value, nodes = _read(found[2])
    except _Unusual:
        return None
    return Entry(section, number, key and key.strip('"'), value, nodes + (key is not None))


def _read(text: str) -> tuple[Any, int]:
    """A mapping in braces, and how many nodes it is."""
    parts = _parts(text)
    value, nodes = _value(next(parts), parts, 0)
    if next(parts, None) is not None:
        raise _Unusual
    return value, nodes


def _parts(text: str) -> Iterator[tuple[str, Any]]:
    """Signs, and scalars with their values; spaces stand after commas and colons alone."""
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            raise _Unusual
        at = found.end()
        word, quoted, number, sign = found.groups()
        if sign is not None:
            yield sign.strip()[0], None
        elif quoted is not None:
            yield "text", quoted
        elif number is not None:
            yield "number", float(number) if "." in number else int(number)
        elif word in _WORDS:
            yield "word", _WORDS[word]
        elif word.lower() in _UNSURE:
            raise _Unusual
        else:
            yield "text", word


def _value(part: tuple[str, Any], parts: Iterator[tuple[str, Any]], depth: int) -> tuple[Any, int]:
    kind, scalar = part
    if depth > _DEEPEST:
        raise _Unusual
    if kind == "{":
        return _mapping(parts, depth + 1)
    if kind == "[":
        return _list(parts, depth + 1)
    if kind not in ("text", "number", "word"):
        raise _Unusual
    return scalar, 1


def _mapping(parts: Iterator[tuple[str, Any]], depth: int) -> tuple[dict[Any, Any], int]:
    made: dict[Any, Any] = {}
    nodes, (kind, key) = 1, _next(parts)
    while kind != "}" or made:
        if kind not in ("text", "number") or isinstance(key, float) or key in made or _next(parts)[0] != ":":
            raise _Unusual
        made[key], more = _value(_next(parts), parts, depth)
        nodes += 1 + more
        if (sign := _next(parts)[0]) == "}":
            break
        if sign != ",":
            raise _Unusual
        kind, key = _next(parts)
    return made, nodes


def _list(parts: Iterator[tuple[str, Any]], depth: int) -> tuple[list[Any], int]:
    made: list[Any] = []
    nodes, part = 1, _next(parts)
    while part[0] != "]" or made:
        one, more = _value(part, parts, depth)
        made.append(one)
        nodes += more
        if (sign := _next(parts)[0]) == "]":
            break
        if sign != ",":
            raise _Unusual
        part = _next(parts)
    return made, nodes


def _next(parts: Iterator[tuple[str, Any]]) -> tuple[str, Any]:
    if (part := next(parts, None)) is None:
        raise _Unusual
    return part


def put_back(
    value: Any, lines: Mapping[Path, int], entries: list[Entry]
) -> tuple[dict[Any, Any], dict[Path, int]] | None:
    """Put what was taken out among what the parser read of the rest.

    Parameters
    ----------
    value, lines
        The rest, with the line of each key and item by its path.
    entries
        What was taken out, at least one.

    Returns
    -------
    value, lines
        As of the whole text; None where the two do not go together.
    """
    if not isinstance(value, dict):
        return None
    made: dict[Any, Any] = dict(value)
    told: dict[Path, int] = dict(lines)
    for section, kind in _SECTIONS.items():
        own = [entry for entry in entries if entry.section == section]
        there = value.get(section)
        if not own:
            continue
        if section not in value or not (there is None or isinstance(there, kind)):
            return None
        rest: list[tuple[Any, Any]] = list(there.items() if isinstance(there, dict) else enumerate(there or ()))
        found = sorted(
            [
                *((lines[section, key], key, one, True) for key, one in rest),
                *((entry.line, entry.key, entry.value, False) for entry in own),
            ],
            key=lambda each: each[0],
        )
        names: list[Any] = [key for _, key, *_ in found] if kind is dict else list(range(len(found)))
        if len(set(names)) < len(names):
            return None
        values = [one for _, _, one, _ in found]
        made[section] = dict(zip(names, values, strict=True)) if kind is dict else values
        told = {path: line for path, line in told.items() if path[0] != section or len(path) == 1}
        moved = {key: name for (_, key, _, parsed), name in zip(found, names, strict=True) if parsed}
        for path, line in lines.items():
            if path[0] == section and len(path) > 1:
                told[section, moved[path[1]], *path[2:]] = line
        for (line, _, one, parsed), name in zip(found, names, strict=True):
            if not parsed:
                told[section, name] = line
                told |= _lines(one, (section, name), line)
    return made, told


def _lines(value: Any, path: Path, line: int) -> dict[Path, int]:
    """Every key and item of a value that stands in one line."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    told: dict[Path, int] = {}
    for key, one in pairs:
        told[*path, key] = line
        told |= _lines(one, (*path, key), line)
    return told
