"""The text of a plan as a tree whose nodes know where they stand, and the lines around them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NoReturn

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from sfumato.data.yaml import MAX_BYTES, load_yaml
from sfumato.errors import PlanError, Problem
from sfumato.plan.editing.again import parsed, parsed_again

__all__ = ["OFF", "Key", "Path", "Shape", "Spot", "Tree", "is_block", "is_empty", "is_null", "shape_of", "stuck"]

Key = str | int
"""A key of a mapping (rarely a number or a truth), or the position of an item from 0."""

Path = Sequence[Key]
"""Keys, and positions of items from 0, that lead to a place."""

Shape = Any
"""What a text means, not how it is written: (tag, text), or ("seq", [...]), or ("map", [[key, value], ...])."""

OFF = "# off: "
"""What stands before the lines of a step that is switched off."""

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_LAST_BREAK = re.compile("(?:\r\n|[\n\r\x85\u2028\u2029])\\Z")
_BLANK = " \t\r\n\x85\u2028\u2029"
_GAP = re.compile(f"(?:[{_BLANK}]|#[^\r\n\x85\u2028\u2029]*)*")
_COMMENT = re.compile(r"[ \t]*#")
_OFF = re.compile(rf"[ \t]*{OFF}")
_TRICKS = re.compile("[&*!%]|<<")
_SHORT = 400
"""Letters up to which a text is parsed whole at once."""
_LAST: deque[tuple[str, Node]] = deque(maxlen=2)
"""The last texts and their nodes, whoever's they are: a text that is near to none of them is parsed whole."""


def stuck(path: Path, line: int | None = None) -> NoReturn:
    """Say that a place is written in a way that cannot be changed by itself."""
    said = "it is written here in a way that cannot be changed by itself. Change it in the text"
    raise PlanError([Problem(said, line, tuple(path), ", ".join(map(str, path)))])


def shape_of(node: Node | None) -> Shape:
    """What a node means."""
    if node is None:
        return None
    if isinstance(node, MappingNode):
        return ("map", [[shape_of(key), shape_of(value)] for key, value in node.value])
    if isinstance(node, SequenceNode):
        return ("seq", [shape_of(part) for part in node.value])
    return (str(node.tag), node.value)


def is_block(node: Node) -> bool:
    """Whether a node is a list or mapping that is written in lines."""
    return isinstance(node, MappingNode | SequenceNode) and not node.flow_style


def is_null(node: Node) -> bool:
    """Whether a node is null, written out or not."""
    return isinstance(node, ScalarNode) and str(node.tag) == "tag:yaml.org,2002:null"


def is_empty(node: Node) -> bool:
    """Whether a node is null, or a list or mapping without anything in it."""
    return is_null(node) or (isinstance(node, MappingNode | SequenceNode) and not node.value)


@lru_cache(maxsize=2)  # the text that an edit made is the one that the next edit begins with
def _compose(text: str) -> Node | None:
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        raise PlanError([f"the plan would be larger than {MAX_BYTES} bytes"])
    if _TRICKS.search(text):  # it may have anchors or tags, unless these stand in quotes or comments
        load_yaml(text)
    try:
        root = _near(text) or parsed(text)
    except Exception:
        load_yaml(text)  # says what is wrong, and where
        raise PlanError(["this is not YAML: it cannot be parsed"]) from None
    if root is not None and len(text) > _SHORT:
        _LAST.appendleft((text, root))
    return root


def _near(text: str) -> Node | None:
    """A text's nodes from those of one of the last texts, where it was changed in one place."""
    if len(text) <= _SHORT or _TRICKS.search(text):
        return None
    return next((made for before, root in tuple(_LAST) if (made := parsed_again(text, before, root))), None)


def _key(node: Node) -> Any:
    """The plain value of a key: number, truth or text."""
    if not isinstance(node, ScalarNode):
        return None
    if node.tag == "tag:yaml.org,2002:str":
        return node.value
    return load_yaml(node.value)[0]


@dataclass(frozen=True, slots=True)
class Spot:
    """A node, where it hangs, and the path to it."""

    path: tuple[Key, ...]
    node: Node
    parent: Node | None = None
    index: int = 0
    """Which of its parent's items, or pairs, it is."""

    @property
    def key(self) -> Node:
        """The node of its key, in a mapping."""
        assert self.parent is not None
        return self.parent.value[self.index][0]  # type: ignore[no-any-return]


class Tree:
    """A plan's text, parsed.

    Parameters
    ----------
    text
        YAML without anchors and tags.

    Raises
    ------
    PlanError
        Where it is no such YAML, or no mapping.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        root = _compose(text)
        if not isinstance(root, MappingNode):
            raise PlanError(["a plan is a mapping that begins with `sfumato: 1`"])
        self.root = root

    @property
    def shape(self) -> Shape:
        """What it means."""
        return shape_of(self.root)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts."""
        return [0, *(found.end() for found in _BREAK.finditer(self.text))]

    @cached_property
    def eol(self) -> str:
        """How its lines end."""
        found = _BREAK.search(self.text)
        return found[0] if found else "\n"

    def line(self, at: int) -> int:
        """The line that a character stands in, from 0."""
        return bisect_right(self.starts, at) - 1

    def start(self, line: int) -> int:
        """Where a line starts; the end of the text after the last one."""
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def stop(self, line: int) -> int:
        """Where a line ends, before its line break."""
        found = _BREAK.search(self.text, self.start(line))
        return found.start() if found else len(self.text)

    def said(self, line: int) -> str:
        """A line without its line break."""
        return self.text[self.start(line) : self.stop(line)]

    # where nodes are

    def walk(self, path: Path) -> Spot:
        """The last node on the way along a path that is there."""
        spot = Spot((), self.root)
        for step in path:
            further = self._below(spot, step)
            if further is None:
                break
            spot = further
        return spot

    def _below(self, spot: Spot, step: Key) -> Spot | None:
        path = (*spot.path, step)
        if isinstance(spot.node, SequenceNode):
            if type(step) is int and 0 <= step < len(spot.node.value):
                return Spot(path, spot.node.value[step], spot.node, step)
        elif isinstance(spot.node, MappingNode):
            for i, (key, value) in enumerate(spot.node.value):
                known = _key(key)
                if known == step and isinstance(known, bool) == isinstance(step, bool):
                    return Spot(path, value, spot.node, i)
        return None

    def spot(self, path: Path) -> Spot:
        """The node at a path; a problem where there is none."""
        found = self.walk(path)
        if len(found.path) < len(path):
            self.nowhere(path, found)
        return found

    def nowhere(self, path: Path, found: Spot) -> NoReturn:
        """Say how far a path leads."""
        step, reached = path[len(found.path)], ", ".join(map(str, found.path)) or "the plan"
        if isinstance(found.node, SequenceNode):
            many = len(found.node.value)
            said = f"{reached} has no item {step}; " + (f"items: 0 to {many - 1}" if many else "it is empty")
        else:
            said = f"{reached} has no key {step!r}"
        raise PlanError([Problem(said, self.line_of(found) if found.path else None, tuple(path))])

    def begin(self, spot: Spot) -> int:
        """Where a key or an item begins: at its name, or its dash."""
        if isinstance(spot.parent, MappingNode):
            return int(spot.key.start_mark.index)
        if isinstance(spot.parent, SequenceNode) and is_block(spot.parent):
            return self.dashes(spot.parent)[spot.index]
        return int(spot.node.start_mark.index)

    def line_of(self, spot: Spot) -> int:
        """The line of a key or item, from 1."""
        return self.line(self.begin(spot)) + 1

    def end(self, node: Node) -> int:
        """The end of what a node holds: no comment, and no blank line that means nothing."""
        if is_block(node):
            last = node.value[-1]
            return self.pair_end(last) if isinstance(node, MappingNode) else self.end(last)
        begin, end = node.start_mark.index, node.end_mark.index
        if isinstance(node, ScalarNode) and node.style in ("|", ">"):
            written = self.text[begin:end]
            kept = (
                "+" in _BREAK.split(written, maxsplit=1)[0].partition("#")[0]
            )  # blank lines at the end mean something
            return int(begin + len(_LAST_BREAK.sub("", written) if kept else written.rstrip()))
        return int(end)

    def pair_end(self, pair: tuple[Node, Node]) -> int:
        """The end of what a key and its value hold."""
        key, value = pair
        nothing = is_null(value) and not value.value
        return max(self.colon(key), self.end(key)) if nothing else self.end(value)

    def colon(self, key: Node) -> int:
        """The position after the colon of a key; of the key's own end where it has none."""
        at = _GAP.match(self.text, key.end_mark.index)
        end = at.end() if at else key.end_mark.index
        return end + 1 if self.text[end : end + 1] == ":" else int(key.end_mark.index)

    def after(self, spot: Spot) -> int:
        """The position after the colon or dash that a node belongs to."""
        if isinstance(spot.parent, MappingNode):
            return self.colon(spot.key)
        assert spot.parent is not None
        if not is_block(spot.parent):
            return int(spot.node.start_mark.index)
        return self.dashes(spot.parent)[spot.index] + 1

    def dashes(self, node: Node) -> list[int]:
        """Where the dashes of a list in lines stand."""
        at, found = node.start_mark.index, []
        for part in node.value:
            gap = _GAP.match(self.text, at)
            at = gap.end() if gap else at
            if self.text[at : at + 1] != "-":
                stuck((), self.line(at) + 1)
            found.append(at)
            at = self.end(part)
        return found

    # lines that belong together

    def is_comment(self, line: int) -> bool:
        """Whether a line holds a comment alone."""
        return line < len(self.starts) and _COMMENT.match(self.said(line)) is not None

    def is_off(self, line: int) -> bool:
        """Whether a line is switched off."""
        return line < len(self.starts) and _OFF.match(self.said(line)) is not None

    def owned(self, line: int, column: int, floor: int) -> int:
        """The first of the comment lines that stand above a line and belong to it; none at or above `floor`."""
        while line - 1 > floor and self._belongs(line - 1, column):
            line -= 1
        return line

    def _belongs(self, line: int, column: int) -> bool:
        said = self.said(line)
        return self.is_comment(line) and not self.is_off(line) and len(said) - len(said.lstrip()) <= column

    def tail(self, line: int) -> int:
        """The line after a line and whatever is switched off below it."""
        last, below = line, line + 1
        while below < len(self.starts) and (self.is_comment(below) or not self.said(below).strip()):
            last = below if self.is_off(below) else last
            below += 1
        return last + 1

    def item(self, node: Node, index: int) -> tuple[int, int]:
        """The lines of an item of a list in lines: the first of its comments, and the one after its last."""
        dashes = self.dashes(node)
        first = self.line(dashes[index])
        if self.text[self.start(first) : dashes[index]].strip():
            stuck((), first + 1)  # `- - a`
        floor = self.line(self.end(node.value[index - 1])) if index else -1
        column = dashes[index] - self.start(first)
        return self.owned(first, column, floor), self.line(self.end(node.value[index])) + 1
