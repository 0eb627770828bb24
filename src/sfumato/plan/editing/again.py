"""A text that was parsed already and changed in one place: only the items around the change are parsed again.

The parser stays the library's. What is handed to it is a run of whole lines that is YAML by itself: items of one list,
or keys of one mapping, that stand in lines at one column, from the first that the change touches to the last. What the
lines before and after mean does not hang on it, as long as it parses to items at that same column; their nodes are
taken over, those after it moved. Where any of this is in doubt there is no answer, and the whole text is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import StreamMark
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

__all__ = ["parsed", "parsed_again"]

_NO_ITEM = re.compile(r"(?:^|[\r\n\x85\u2028\u2029])(?:---|\.\.\.|%)|\ufeff")
"""Marks of documents, directives, and of the order of bytes."""

Level = tuple[Node, list[int], int, list[int]]
"""A list or mapping in lines, where the lines of its items begin, where its last item ends, and the way to it."""


def parsed(text: str) -> Node | None:
    """The whole text as nodes that know where they stand; errors are those of the library.

    Examples
    --------
    >>> parsed("a: 1").value[0][1].start_mark.index
    3
    """
    return YAML(typ="safe", pure=True).compose(StringIO(text))  # type: ignore[no-any-return]


def parsed_again(text: str, before: str, root: Node) -> Node | None:
    """What `parsed` gives, from what it gave before a text was changed.

    Parameters
    ----------
    text
        YAML without anchors, tags and directives.
    before
        The text before.
    root
        Its nodes; they stay as they are.

    Returns
    -------
    Node or None
        None where the whole text has to be parsed. Where nothing is written after a colon or dash, and where lists
        and mappings in lines end, marks may differ from those of the whole text; the numbers of lines in marks are not
        kept, for edits look at positions and columns alone.

    Examples
    --------
    >>> before = "a:\\n  - x\\n  - y\\nb: 2\\n"
    >>> parsed_again(before.replace("x", "long"), before, parsed(before)).value[1][0].start_mark.index
    18
    """
    first = _same(text, before)
    last = _same(text[first:][::-1], before[first:][::-1])
    begin, end, by = first, len(before) - last, len(text) - len(before)
    levels: list[Level] = []
    _levels(before, root, (begin, end), len(before), [], levels)
    for node, starts, stop, way in reversed(levels):
        i = bisect_left(starts, begin - node.start_mark.column) - 1
        j = bisect_right(starts, end) - 1
        below = starts[j + 1] if j + 1 < len(starts) else stop
        made = _items(text[starts[i] : below + by], node)
        if made is not None:
            new = [_moved(each, starts[i]) for each in made]
            rest = [_moved(each, by) for each in node.value[j + 1 :]]
            return _grafted(root, way, [*node.value[:i], *new, *rest], by)
    return None


def _same(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _levels(text: str, node: Node, change: tuple[int, int], stop: int, way: list[int], found: list[Level]) -> None:
    """All lists and mappings in lines that hold the whole change, the largest first."""
    starts = _starts(text, node)
    begin, end = change
    i = bisect_left(starts, begin - node.start_mark.column) - 1  # the first letter of its first line stays
    if i < 0:
        return
    found.append((node, starts, stop, way))
    j = bisect_right(starts, end) - 1
    if i == j:
        part = node.value[i][1] if isinstance(node, MappingNode) else node.value[i]
        _levels(text, part, change, starts[j + 1] if j + 1 < len(starts) else stop, [*way, i], found)


def _starts(text: str, node: Node) -> list[int]:
    """Where the lines of items begin; empty where not each has lines of its own at one column."""
    if not isinstance(node, MappingNode | SequenceNode) or node.flow_style or not node.value:
        return []
    column = node.start_mark.column
    found: list[int] = []
    for part in node.value:
        if isinstance(node, MappingNode):
            at = part[0].start_mark.index
            if part[0].start_mark.column != column:
                return []
        else:
            line = part.start_mark.index - part.start_mark.column
            at = line + column
            if text[at : at + 1] != "-" or at >= part.start_mark.index:
                return []
        line = at - column
        if text[line:at].strip(" ") or (line and text[line - 1] not in "\r\n") or (found and line <= found[-1]):
            return []
        found.append(line)
    return found


def _items(piece: str, like: Node) -> Sequence[Any] | None:
    """The items that a piece of text holds, if it is a list or mapping at the column of another."""
    if _NO_ITEM.search(piece):
        return None
    try:
        made = parsed(piece)
    except Exception:  # whatever is wrong with it, the whole text tells where
        return None
    if type(made) is not type(like) or made is None or made.start_mark.column != like.start_mark.column:
        return None
    return made.value if _starts(piece, made) else None


def _mark(mark: Any, by: int) -> StreamMark:
    return StreamMark(mark.name, mark.index + by, mark.line, mark.column)


def _moved(part: Any, by: int) -> Any:
    """A node, or a key and its value, that stands elsewhere."""
    if isinstance(part, tuple):
        return (_moved(part[0], by), _moved(part[1], by))
    begin, end = _mark(part.start_mark, by), _mark(part.end_mark, by)
    if isinstance(part, ScalarNode):
        return ScalarNode(part.ctag, part.value, begin, end, part.style)
    return type(part)(part.ctag, [_moved(each, by) for each in part.value], begin, end, part.flow_style)


def _grafted(node: Any, way: Sequence[int], value: Sequence[Any], by: int) -> Node:
    """The nodes on the way to a list or mapping, anew, with its new items; what stands after it is moved."""
    new: list[Any] = list(value)
    if way:
        i, old = way[0], node.value[way[0]]
        part = old[1] if isinstance(node, MappingNode) else old
        made: Any = _grafted(part, way[1:], value, by)
        made = (old[0], made) if isinstance(node, MappingNode) else made
        new = [*node.value[:i], made, *(_moved(each, by) for each in node.value[i + 1 :])]
    return type(node)(node.ctag, new, node.start_mark, _mark(node.end_mark, by), node.flow_style)  # type: ignore[no-any-return]
