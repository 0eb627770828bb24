"""What stands around a place in a plan's text that may be unfinished: read line by line, as far as it goes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Cursor", "Frame", "cursor_at"]

_QUOTED = r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^']|'')*'"
_KEY = re.compile(rf"({_QUOTED}|[^\s#:,\[\]{{}}\"'][^#:,\[\]{{}}]*?)[ ]*:(?=[ ]|$)")
_DASH = re.compile(r"-(?:[ ]+|$)")
_TOKEN = re.compile(rf"{_QUOTED}|[\[\]{{}},]|[ ]+#.*|[ ]+|[\"'].*|[^\[\]{{}},\s]+")
_BLOCK_TEXT = re.compile(r"[|>][-+0-9]*(?:[ ]+#.*)?$")

_LONGEST = 5_000
"""How far a line is read."""


@dataclass
class Frame:
    """A list or mapping that is open at the cursor."""

    kind: str
    """`map` or `seq`."""
    indent: int
    """Its column; -1 in brackets."""
    key: str | None = None
    """The key of a mapping whose value is at hand."""
    given: dict[str, str] = field(default_factory=dict)
    """The keys so far, and what stands in the line of each."""


@dataclass(frozen=True)
class Cursor:
    """What is open at a place, from the whole plan inwards, and what was typed there."""

    frames: tuple[Frame, ...]
    word: str
    line: str
    """The line as far as the cursor."""


def cursor_at(text: str, line: int, column: int) -> Cursor | None:
    """Read a text as far as a place; None within a comment or a text of several lines.

    Parameters
    ----------
    text
        A plan, perhaps unfinished.
    line, column
        From 1; the column after the last letter that was typed.

    Examples
    --------
    >>> found = cursor_at("steps:\\n  - {do: noise, columns: [A", 2, 28)
    >>> found.word, [frame.key for frame in found.frames]
    ('A', ['steps', None, 'columns', None])
    """
    lines = re.split("\r\n|\n|\r", text)[:line]
    if not 0 < line <= len(lines) or not 0 < column <= _LONGEST:
        return None
    lines[-1] = lines[-1][: column - 1]
    reader = _Reader()
    for number, each in enumerate(lines, 1):
        reader.read(each[:_LONGEST], last=number == line)
    if reader.word is None:
        return None
    return Cursor(tuple(reader.frames), reader.word, lines[-1])


class _Reader:
    def __init__(self) -> None:
        self.frames = [Frame("map", 0)]
        self.word: str | None = ""
        self.literal: int | None = None
        """The indentation of the key whose value is a text of several lines."""

    def read(self, line: str, *, last: bool) -> None:
        self.word = ""
        stripped = line.strip(" ")
        indent = len(line) - len(line.lstrip(" "))
        if self.literal is not None:
            if not stripped or indent > self.literal:
                self.word = None
                return
            self.literal = None
        if stripped.startswith(("#", "---")) or (not stripped and not last):
            self.word = None if stripped else ""
            return
        if self.frames[-1].indent < 0:  # in brackets from the line before
            self._flow(line, 0)
            return
        self._block(line, indent)

    def _block(self, line: str, at: int) -> None:
        dashed = _DASH.match(line, at)
        self._leave(at, dash=dashed is not None)
        while dashed:
            if not (self.frames[-1].kind == "seq" and self.frames[-1].indent == at):
                self.frames.append(Frame("seq", at))
            at = dashed.end()
            dashed = _DASH.match(line, at)
            self._leave(at, dash=dashed is not None)
            self._leave_map(at)
        found = _KEY.match(line, at)
        if found:
            if not (self.frames[-1].kind == "map" and self.frames[-1].indent == at):
                self.frames.append(Frame("map", at))
            key = _plain(found[1])
            self.frames[-1].key = key
            rest = line[found.end() :].strip()
            self.frames[-1].given[key] = rest
            if _BLOCK_TEXT.match(rest):
                self.literal = at
            else:
                self._flow(line, found.end())
            return
        if self.frames[-1].kind == "map" and self.frames[-1].indent == at:
            self.frames[-1].key = None
        self._flow(line, at)

    def _leave(self, at: int, *, dash: bool) -> None:
        """Close what is indented further than a line."""
        while len(self.frames) > 1 and self.frames[-1].indent > at:
            self.frames.pop()
        if not dash and self.frames[-1].kind == "seq" and self.frames[-1].indent == at and len(self.frames) > 1:
            self.frames.pop()  # a list whose dashes stand below its key's first letter

    def _leave_map(self, at: int) -> None:
        """Close the mapping of the item before."""
        if self.frames[-1].kind == "map" and self.frames[-1].indent == at:
            self.frames.pop()

    def _flow(self, line: str, at: int) -> None:
        """Read brackets, and what stands between them."""
        while at < len(line):
            top = self.frames[-1]
            inside = top.indent < 0
            key = _KEY.match(line, at) if inside and top.kind == "map" and top.key is None else None
            if key:
                top.key = _plain(key[1])
                top.given[top.key] = ""
                self.word, at = "", key.end()
                continue
            found = _TOKEN.match(line, at)
            if found is None:
                return
            at = found.end()
            self._token(found[0], top, inside=inside)
            if self.word is None:
                return

    def _token(self, token: str, top: Frame, *, inside: bool) -> None:
        if token in "[{":
            self.frames.append(Frame("map" if token == "{" else "seq", -1))
            self.word = ""
        elif token in "]}" and inside:
            self.frames.pop()
            self.word = ""
        elif token == "," and inside:
            top.key, self.word = None, ""
        elif token.lstrip().startswith("#") and token != "#":
            self.word = None
        elif not token.strip():
            self.word = f"{self.word}{token}" if self.word else ""
        else:
            self.word = f"{self.word}{token}"
            if inside and top.key is not None:
                top.given[top.key] = self.word or ""


def _plain(key: str) -> str:
    return key[1:-1] if key[:1] in ("'", '"') and key[-1:] == key[:1] else key
