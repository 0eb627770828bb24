"""What differs between two texts of a plan, place by place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["Place", "differing"]


@dataclass(frozen=True)
class Place:
    """Lines that one text has in place of those of another.

    Parameters
    ----------
    line
        Where it is in the second text, from 1.
    gone
        Lines that only the first text has here.
    new
        Lines that only the second text has here.
    """

    line: int
    gone: tuple[str, ...]
    new: tuple[str, ...]


def differing(before: str, after: str) -> list[Place]:
    """Tell what makes one text another. Ends of lines do not count.

    Parameters
    ----------
    before, after
        The two texts.

    Returns
    -------
    list of Place
        In the order of the second text; empty where they are equal line by line.

    Examples
    --------
    >>> differing("a: 1\\nb: 2\\n", "a: 1\\nb: 3\\nc: 4\\n")
    [Place(line=2, gone=('b: 2',), new=('b: 3', 'c: 4'))]
    """
    old, new = (re.split("\r\n|\n|\r", text) for text in (before, after))
    found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [Place(c + 1, tuple(old[a:b]), tuple(new[c:d])) for kind, a, b, c, d in found if kind != "equal"]
