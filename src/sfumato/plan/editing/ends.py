"""Ends of lines: a field of a page knows one kind, a plan may have any."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

__all__ = ["keep_ends"]

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


def keep_ends(before: str, typed: str) -> str:
    """Give the lines of a text that was typed the ends that they had before.

    Parameters
    ----------
    before
        The text that was changed.
    typed
        What became of it, with whatever ends of lines.

    Returns
    -------
    str
        What was typed. A line that was there keeps its end; a new one gets the end that most lines have.

    Examples
    --------
    >>> keep_ends("a\\r\\nb\\r\\n", "a\\nc\\nb\\n")
    'a\\r\\nc\\r\\nb\\r\\n'
    """
    new = _lines(typed)
    if "\r" not in before:
        return "".join(f"{line}\n" if end else line for line, end in new)
    old = _lines(before)
    ends = [end for _, end in old if end]
    most = max(dict.fromkeys(ends), key=ends.count)
    kept = [most if end else "" for _, end in new]
    same = SequenceMatcher(None, [line for line, _ in old], [line for line, _ in new], autojunk=False)
    for here, there, size in same.get_matching_blocks():
        for i in range(size):
            if kept[there + i] and old[here + i][1]:
                kept[there + i] = old[here + i][1]
    return "".join(line + end for (line, _), end in zip(new, kept, strict=True))


def _lines(text: str) -> list[tuple[str, str]]:
    """Each line and its end; the last one has none."""
    found = [(line[1], line[2]) for line in _LINE.finditer(text)]
    return found[:-1] if len(found) > 1 and found[-2][1] == "" else found
