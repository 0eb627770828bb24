"""Steps that are switched off: their lines become comments with a mark, and come back as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.nodes import MappingNode, SequenceNode

from sfumato.data.yaml import load_yaml
from sfumato.errors import PlanError, Problem
from sfumato.plan.editing.edits import checked, meant, unfolded
from sfumato.plan.editing.tree import OFF, Path, Spot, Tree, is_block, is_empty, is_null, shape_of, stuck

__all__ = ["Off", "switch_off", "switch_on", "switched_off"]

_OFF = re.compile(rf"([ \t]*){OFF}")
_DASH = re.compile(r"[ \t]*- ")


@dataclass(frozen=True, slots=True)
class Off:
    """An item of a list that is switched off.

    Parameters
    ----------
    at
        Which position it would have in the list if it were on: before the item that is there now.
    line
        Its first line in the text, from 1.
    lines
        How many lines it has.
    value
        What it says, as plain values; None where that cannot be read.

    Examples
    --------
    >>> switched_off("steps: []\\n  # off: - {do: drop, columns: [id]}\\n", ["steps"])[0].value
    {'do': 'drop', 'columns': ['id']}
    """

    at: int
    line: int
    lines: int
    value: Any


def switched_off(text: str, path: Path) -> tuple[Off, ...]:
    """Find the items of a list that are switched off, in the order of the text.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Of the list. One that is not there has none.

    Raises
    ------
    PlanError
        Where the text is no YAML.

    Examples
    --------
    >>> [(off.at, off.line) for off in switched_off("steps:\\n  - {do: a}\\n  # off: - {do: b}\\n", ["steps"])]
    [(1, 3)]
    """
    tree = Tree(text)
    spot = tree.walk(path)
    return tuple(_found(tree, spot)) if len(spot.path) == len(path) and path else ()


def switch_off(text: str, path: Path) -> str:
    """Make a comment of an item of a list. A list in brackets is written in lines first.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Of the item.

    Raises
    ------
    PlanError
        Where the path leads to no item of a list, or the place cannot be changed by itself.

    Examples
    --------
    >>> print(switch_off("steps:\\n  - {do: a}\\n  - {do: b}\\n", ["steps", 1]), end="")
    steps:
      - {do: a}
      # off: - {do: b}
    """
    tree = Tree(text)
    spot = tree.spot(path)
    if not isinstance(spot.parent, SequenceNode):
        raise PlanError([Problem("only an item of a list can be switched off", tree.line_of(spot), tuple(path))])
    if not is_block(spot.parent):
        return switch_off(_in_lines(tree, tree.spot(path[:-1])), path)
    items = shape_of(spot.parent)[1]
    del items[spot.index]
    wanted = meant(tree.shape, tree, spot.path[:-1], ("seq", items))
    dash = tree.dashes(spot.parent)[spot.index]
    first, below = tree.line(dash), tree.item(spot.parent, spot.index)[1]
    column = dash - tree.start(first)
    made = text[: tree.start(first)]
    for line in range(first, below):
        said = tree.said(line)
        margin = min(column, len(said) - len(said.lstrip(" ")))
        made += said[:margin] + OFF + said[margin:] + text[tree.stop(line) : tree.start(line + 1)]
    made += text[tree.start(below) :]
    if len(spot.parent.value) == 1:
        after = tree.after(tree.spot(path[:-1]))
        made = made[:after] + " []" + made[after:]
    return checked(tree, made, wanted, path)


def switch_on(text: str, path: Path, number: int = 0) -> str:
    """Bring back an item that was switched off.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Of the list.
    number
        Which of its items that are off, in the order of the text, from 0.

    Raises
    ------
    PlanError
        Where there is none, or what its lines say is no item of the list any more.

    Examples
    --------
    >>> print(switch_on("steps: []  # none\\n  # off: - {do: a}\\n", ["steps"]), end="")
    steps:  # none
      - {do: a}
    """
    tree = Tree(text)
    spot = tree.spot(path)
    off = list(_found(tree, spot)) if path else []
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(off):
        said = f"{', '.join(map(str, path)) or 'the plan'} has no item {number} that is switched off"
        raise PlanError([Problem(said, tree.line_of(spot), tuple(path))])
    if not is_empty(spot.node) and not is_block(spot.node):
        return switch_on(_in_lines(tree, spot), path, number)
    chosen = off[number]
    first, below = chosen.line - 1, chosen.line - 1 + chosen.lines
    lines = [_OFF.sub(r"\1", tree.said(line), count=1) for line in range(first, below)]
    lines = _in_its_column(tree, spot, lines)
    ends = [text[tree.stop(line) : tree.start(line + 1)] for line in range(first, below)]
    body = "".join(line + end for line, end in zip(lines, ends, strict=True))
    made = text[: tree.start(first)] + body + text[tree.start(below) :]
    if is_empty(spot.node):
        end = spot.node.end_mark.index if spot.node.value or not is_null(spot.node) else tree.after(spot)
        made = made[: tree.after(spot)] + made[end:]
    items = [] if is_empty(spot.node) else shape_of(spot.node)[1]
    items.insert(chosen.at, _item(lines, tree, path))
    return checked(tree, made, meant(tree.shape, tree, path, ("seq", items)), path)


def _in_lines(tree: Tree, spot: Spot) -> str:
    if not isinstance(spot.parent, MappingNode) or not is_block(spot.parent):
        stuck(spot.path, tree.line_of(spot))
    return checked(tree, unfolded(tree, spot), tree.shape, spot.path)


def _found(tree: Tree, spot: Spot) -> Iterator[Off]:
    """What is off between the items of a list, before the first, and after the last."""
    if not (is_empty(spot.node) or isinstance(spot.node, SequenceNode)) or spot.parent is None:
        return
    if isinstance(spot.node, SequenceNode) and is_block(spot.node):
        dashes = tree.dashes(spot.node)
        ends = [tree.line(tree.after(spot)), *(tree.line(tree.end(part)) for part in spot.node.value)]
        gaps = [(end + 1, tree.line(dash)) for end, dash in zip(ends, dashes, strict=False)]
        gaps.append((ends[-1] + 1, tree.tail(ends[-1])))
    else:
        last = tree.line(tree.after(spot) if is_null(spot.node) else tree.end(spot.node))
        gaps = [(0, 0)] * len(spot.node.value) + [(last + 1, tree.tail(last))]
    for at, (first, below) in enumerate(gaps):
        line = first
        while line < below:
            begin = line
            line += 1
            if _is_first(tree, begin):
                while line < below and tree.is_off(line) and not _is_first(tree, line):
                    line += 1
                yield Off(at, begin + 1, line - begin, _value(tree, begin, line))


def _is_first(tree: Tree, line: int) -> bool:
    """Whether a line is the first of an item that is off."""
    found = _OFF.match(tree.said(line))
    return found is not None and tree.said(line)[found.end() : found.end() + 2] in ("- ", "-")


def _value(tree: Tree, first: int, below: int) -> Any:
    text = "\n".join(_OFF.sub(r"\1", tree.said(line), count=1) for line in range(first, below))
    try:
        value, _ = load_yaml(text + "\n")
    except PlanError:
        return None
    return value[0] if isinstance(value, list) and len(value) == 1 else None


def _in_its_column(tree: Tree, spot: Spot, lines: list[str]) -> list[str]:
    """The lines of an item with its dash where the others of the list have theirs."""
    if is_empty(spot.node):
        return lines
    column = int(spot.node.start_mark.column)
    own = len(lines[0]) - len(lines[0].lstrip(" "))
    if own == column or any(line[:own].strip() for line in lines):
        return lines
    return [" " * column + line[own:] if line.strip() else line for line in lines]


def _item(lines: list[str], tree: Tree, path: Path) -> Any:
    """What the lines of an item mean."""
    try:
        node = Tree("item:" + tree.eol + tree.eol.join(lines) + tree.eol).root.value[0][1]
    except PlanError:
        stuck(path)
    if not isinstance(node, SequenceNode) or len(node.value) != 1:
        stuck(path)
    return shape_of(node.value[0])
