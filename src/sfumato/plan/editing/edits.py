"""Edits of a plan's text that leave all other lines byte for byte as they are: comments, order, spacing, line ends.

Each function takes a text and gives a text. What is changed is spliced in where the parser says that it stands, and the
new text is parsed again: where it does not mean what was asked for, the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from sfumato.errors import PlanError, Problem
from sfumato.plan.editing.tree import Key, Path, Shape, Spot, Tree, is_block, is_empty, is_null, shape_of, stuck
from sfumato.plan.editing.written import bounded, flow, rows

__all__ = ["add", "checked", "meant", "move", "remove", "set_value", "unfolded"]

_ORDER = (
    *(
        "sfumato",
        "title",
        "description",
        "file",
        "order",
        "access",
        "consent",
        "variables",
        "earlier",
        "tables",
        "links",
    ),
    *("steps", "unknown", "limits", "knows"),
)
"""How the keys of a plan, and of its tables, usually follow each other."""


def set_value(text: str, path: Path, value: Any) -> str:
    """Give a key or an item another value; a key that is not there is added.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Keys, and positions of items from 0. All keys after the first one that is not there are added too.
    value
        Plain: text, number, true, false, null, or lists and mappings of these.

    Raises
    ------
    PlanError
        Where the path leads nowhere, the text is no YAML, or the place cannot be changed by itself.

    Examples
    --------
    >>> print(set_value("steps:\\n  - {do: noise, k: 3}  # why", ["steps", 0, "k"], 5))
    steps:
      - {do: noise, k: 5}  # why
    """
    bounded([list(path), value])
    tree = Tree(text)
    spot = tree.walk(path)
    rest = path[len(spot.path) :]
    if not path:
        raise PlanError(["a path names at least one key"])
    if not rest:
        new = _shape(value)
        if shape_of(spot.node) == new:
            return text
        return checked(tree, _replaced(tree, spot, value), meant(tree.shape, tree, spot.path, new), path)
    empty = is_null(spot.node)
    if not (isinstance(spot.node, MappingNode) or empty) or not all(isinstance(key, str) for key in rest[1:]):
        tree.nowhere(path, spot)
    key, given = rest[0], _nested(rest[1:], value)
    if empty:
        return set_value(text, spot.path, {key: given})
    wanted = meant(tree.shape, tree, spot.path, ("map", [*shape_of(spot.node)[1], [_shape(key), _shape(given)]]))
    return checked(tree, _with_key(tree, spot, key, given), wanted, path)


def add(text: str, path: Path, at: int | None, value: Any) -> str:
    """Put an item into a list; a list that is empty, or not there yet, is made.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Of the list.
    at
        Its position afterwards, from 0; None for the end, after whatever is switched off there.
    value
        Plain, as for `set_value`.

    Raises
    ------
    PlanError
        As `set_value`.

    Examples
    --------
    >>> print(add("steps:\\n  # ids\\n  - {do: drop, columns: [id]}", ["steps"], 1, {"do": "noise"}))
    steps:
      # ids
      - {do: drop, columns: [id]}
      - {do: noise}
    """
    bounded(value)
    tree = Tree(text)
    spot = tree.walk(path)
    absent = len(spot.path) == len(path) - 1 and isinstance(spot.node, MappingNode) and isinstance(path[-1], str)
    if not absent and len(spot.path) < len(path):
        tree.nowhere(path, spot)
    if not (absent or is_null(spot.node) or isinstance(spot.node, SequenceNode)):
        _no_list(spot, tree)
    if absent or is_empty(spot.node):
        _position(tree, spot, at, 0)
        return set_value(text, path, [value])
    items = shape_of(spot.node)[1]
    index = _position(tree, spot, at, len(items))
    wanted = meant(tree.shape, tree, spot.path, ("seq", [*items[:index], _shape(value), *items[index:]]))
    put = _added_line if is_block(spot.node) else _added_inside
    return checked(tree, put(tree, spot.node, index, value, at is None), wanted, path)


def move(text: str, path: Path, to: int) -> str:
    """Give an item of a list another position, with the comment lines above it.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Of the item.
    to
        Its position afterwards, from 0.

    Raises
    ------
    PlanError
        As `set_value`.

    Examples
    --------
    >>> print(move("steps:\\n  - {do: a}\\n  # of b\\n  - {do: b}\\n", ["steps", 1], 0), end="")
    steps:
      # of b
      - {do: b}
      - {do: a}
    """
    tree = Tree(text)
    spot = tree.spot(path)
    if not isinstance(spot.parent, SequenceNode):
        _no_item(spot, tree)
    items = shape_of(spot.parent)[1]
    _position(tree, Spot(spot.path[:-1], spot.parent), to, len(items) - 1)
    if to == spot.index:
        return text
    items.insert(to, items.pop(spot.index))
    wanted = meant(tree.shape, tree, spot.path[:-1], ("seq", items))
    moved = _moved_lines if is_block(spot.parent) else _moved_inside
    return checked(tree, moved(tree, spot.parent, spot.index, to), wanted, path)


def remove(text: str, path: Path) -> str:
    """Take an item out of its list, or a key out of its mapping, with the comment lines above it.

    A list that becomes empty is left as `[]`, a mapping as `{}`.

    Raises
    ------
    PlanError
        As `set_value`.

    Examples
    --------
    >>> print(remove("steps:\\n  # ids\\n  - {do: drop, columns: [id]}\\nlimits: []\\n", ["steps", 0]), end="")
    steps: []
    limits: []
    """
    tree = Tree(text)
    spot = tree.spot(path)
    if spot.parent is None:
        raise PlanError(["a path names at least one key"])
    kind, parts = shape_of(spot.parent)
    del parts[spot.index]
    wanted = meant(tree.shape, tree, spot.path[:-1], (kind, parts))
    if not parts and not (is_block(spot.parent) and isinstance(spot.parent, SequenceNode)):
        if len(path) == 1:
            stuck(path)
        return checked(tree, _replaced(tree, tree.spot(path[:-1]), {} if kind == "map" else []), wanted, path)
    if not is_block(spot.parent):
        made = _removed_inside(tree, spot)
    elif isinstance(spot.parent, SequenceNode):
        made = _removed_item(tree, spot)
    else:
        made = _removed_key(tree, spot)
    return checked(tree, made, wanted, path)


# what is asked for


def _shape(value: Any) -> Shape:
    """What a plain value means once it is written."""
    if isinstance(value, Mapping):
        return ("map", [[_shape(key), _shape(part)] for key, part in value.items()])
    if isinstance(value, list | tuple):
        return ("seq", [_shape(part) for part in value])
    if isinstance(value, str):
        return ("tag:yaml.org,2002:str", value)
    kind = "null" if value is None else "bool" if isinstance(value, bool) else type(value).__name__
    return (f"tag:yaml.org,2002:{kind}", flow(value))


def _nested(keys: Path, value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def meant(shape: Shape, tree: Tree, path: Path, new: Shape) -> Shape:
    """What a text would mean with another value at a path."""
    if not path:
        return new
    node: Node = tree.root
    here = shape
    for i, step in enumerate(path):
        spot = tree.spot(path[: i + 1])
        last = i == len(path) - 1
        if isinstance(node, MappingNode):
            pair = here[1][spot.index]
            pair[1] = new if last else pair[1]
            here = pair[1]
        else:
            here[1][step] = new if last else here[1][step]
            here = here[1][step]
        node = spot.node
    return shape


def checked(tree: Tree, text: str, wanted: Shape, path: Path) -> str:
    """A changed text, if it means what was wanted."""
    try:
        made = Tree(text)
    except PlanError as error:
        if "larger" in str(error):
            raise
        stuck(path, _line_of(tree, path))
    if _sorted(made.shape) != _sorted(wanted):
        stuck(path, _line_of(tree, path))
    return text


def _sorted(shape: Shape) -> Shape:
    """What a text means, whatever the order of its keys."""
    kind, parts = shape
    if kind == "map":
        return (kind, sorted(([key, _sorted(part)] for key, part in parts), key=repr))
    return (kind, [_sorted(part) for part in parts]) if kind == "seq" else shape


def _line_of(tree: Tree, path: Path) -> int:
    return tree.line_of(tree.walk(path))


def _position(tree: Tree, spot: Spot, at: int | None, most: int) -> int:
    if at is None:
        return most
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at <= most:
        said = f"{', '.join(map(str, spot.path)) or 'the plan'} has no position {at}; positions: 0 to {most}"
        raise PlanError([Problem(said, tree.line_of(spot), (*spot.path, "at"))])
    return at


def _no_list(spot: Spot, tree: Tree) -> NoReturn:
    said = f"{', '.join(map(str, spot.path))} is no list"
    raise PlanError([Problem(said, tree.line_of(spot), spot.path)])


def _no_item(spot: Spot, tree: Tree) -> NoReturn:
    said = f"{', '.join(map(str, spot.path)) or 'the plan'} is no item of a list: only these have a position"
    raise PlanError([Problem(said, tree.line_of(spot), spot.path)])


# another value


def _of_plan(path: Path) -> bool:
    """Whether a key is one of the plan's or of a table's own, whose items stand in lines."""
    return len(path) == 1 or (len(path) == 3 and path[0] == "tables")


def _replaced(tree: Tree, spot: Spot, value: Any) -> str:
    node, after = spot.node, tree.after(spot)
    text, begin, end = tree.text, spot.node.start_mark.index, tree.end(spot.node)
    if begin == end and isinstance(spot.parent, MappingNode):  # nothing is written, and the parser says it is below
        begin = end = after
    lines = (
        value
        and isinstance(value, Mapping | list | tuple)
        and _of_plan(spot.path)
        and isinstance(spot.parent, MappingNode)
    )
    if lines and spot.parent is not None and is_block(spot.parent) and (is_block(node) or is_empty(node)):
        indent = _indent(tree, spot)
        if is_block(node) and tree.line(begin) > tree.line(after):
            after, end = tree.stop(tree.line(after)), tree.stop(tree.line(end))
            return text[:after] + "".join(tree.eol + row for row in rows(value, indent)) + text[end:]
        if tree.line(end) == tree.line(after):
            stop = tree.stop(tree.tail(tree.line(after)) - 1)
            kept = text[:after] + text[end:stop]
            return kept + "".join(tree.eol + row for row in rows(value, indent)) + text[stop:]
    new = flow(value)
    if is_block(node) and tree.line(begin) > tree.line(after):  # below its key
        stop = tree.stop(tree.line(after))
        return text[:after] + " " + new + text[after:stop] + text[tree.stop(tree.line(end)) :]
    if begin == end and not node.value:  # nothing is written
        colon = "" if text[after - 1 : after] in (":", "-") else ":"
        return f"{text[:after]}{colon} {new}{text[after:]}"
    space = " " if text[begin - 1 : begin] in (":", "-") else ""
    return text[:begin] + space + new + text[end:]


def _indent(tree: Tree, spot: Spot) -> str:
    """How far the items below a key of the plan are indented."""
    if is_block(spot.node):
        return " " * int(spot.node.start_mark.column)
    return " " * (int(spot.key.start_mark.column) + 2)


def _with_key(tree: Tree, spot: Spot, key: Key, value: Any) -> str:
    node, text = spot.node, tree.text
    if not is_block(node):
        pair = f"{flow(key)}: {flow(value)}"
        if not node.value:
            return _inside(tree, node, pair)
        return _after_last(tree, node.value[-1][0].start_mark.index, tree.pair_end(node.value[-1]), pair, text)
    column = " " * int(node.start_mark.column)
    if value and isinstance(value, Mapping | list | tuple) and _of_plan((*spot.path, key)):
        below = [f"{column}{flow(key)}:", *rows(value, column + "  ")]
    else:
        below = [f"{column}{flow(key)}: {flow(value)}"]
    before = node.value[-1]
    if key in _ORDER and _of_plan((*spot.path, key)):
        earlier = _ORDER[: _ORDER.index(str(key))]
        named = [i for i, (known, _) in enumerate(node.value) if known.value in earlier]
        before = node.value[named[-1]] if named else node.value[0]
    return _lines_put(tree, tree.tail(tree.line(tree.pair_end(before))), below)


def _lines_put(tree: Tree, line: int, lines: Sequence[str]) -> str:
    """The text with lines before one of its lines, or at its end, which keeps its line break or its lack of one."""
    text, at = tree.text, tree.start(line)
    if line >= len(tree.starts) and tree.starts[-1] < len(text):
        return text + "".join(tree.eol + each for each in lines)
    return text[:at] + "".join(each + tree.eol for each in lines) + text[at:]


def _inside(tree: Tree, node: Node, part: str) -> str:
    """The text with something inside empty brackets."""
    at = node.start_mark.index + 1
    return tree.text[:at] + part + tree.text[at:]


def _after_last(tree: Tree, begin: int, end: int, part: str, text: str) -> str:
    """The text with something more in brackets; in a line of its own where the last part has one."""
    lead = text[tree.start(tree.line(begin)) : begin]
    gap = tree.eol + lead if lead and not lead.strip() else " "
    return f"{text[:end]},{gap}{part}{text[end:]}"


# items of a list


def _added_line(tree: Tree, node: Node, index: int, value: Any, last: bool) -> str:
    row = " " * (tree.dashes(node)[0] - tree.start(tree.line(tree.dashes(node)[0]))) + f"- {flow(value)}"
    if index < len(node.value):
        return _lines_put(tree, tree.item(node, index)[0], [row])
    below = tree.item(node, index - 1)[1]
    return _lines_put(tree, tree.tail(below - 1) if last else below, [row])


def _added_inside(tree: Tree, node: Node, index: int, value: Any, last: bool) -> str:
    text = tree.text
    if index == len(node.value):
        item = node.value[-1]
        return _after_last(tree, item.start_mark.index, tree.end(item), flow(value), text)
    at = node.value[index].start_mark.index
    lead = text[tree.start(tree.line(at)) : at]
    gap = tree.eol + lead if lead and not lead.strip() else " "
    return f"{text[:at]}{flow(value)},{gap}{text[at:]}"


def _moved_lines(tree: Tree, node: Node, index: int, to: int) -> str:
    first, below = tree.item(node, index)
    begin, end = tree.start(first), tree.start(below)
    if to < index:
        put = tree.item(node, to)[0]
    elif to + 1 < len(node.value):
        put = tree.item(node, to + 1)[0]
    else:
        put = tree.tail(tree.item(node, to)[1] - 1)
    at, text = tree.start(put), tree.text
    parts = [text[:at], text[begin:end], text[at:begin], text[end:]]
    if at > begin:
        parts = [text[:begin], text[end:at], text[begin:end], text[at:]]
    ended = text[-1:] in "\r\n"
    whole = [part if not part or part[-1] in "\r\n" else part + tree.eol for part in parts[:-1]]
    made = "".join(whole) + parts[-1]
    return made if ended or parts[-1] else made.removesuffix(tree.eol)


def _moved_inside(tree: Tree, node: Node, index: int, to: int) -> str:
    spans = [(part.start_mark.index, tree.end(part)) for part in node.value]
    pieces = [tree.text[begin:end] for begin, end in spans]
    pieces.insert(to, pieces.pop(index))
    text = tree.text
    for (begin, end), piece in zip(reversed(spans), reversed(pieces), strict=True):
        text = text[:begin] + piece + text[end:]
    return text


def _removed_inside(tree: Tree, spot: Spot) -> str:
    assert spot.parent is not None
    text, parts, i = tree.text, spot.parent.value, spot.index

    def begin(j: int) -> int:
        return int((parts[j][0] if isinstance(spot.parent, MappingNode) else parts[j]).start_mark.index)

    def end(j: int) -> int:
        return tree.pair_end(parts[j]) if isinstance(spot.parent, MappingNode) else tree.end(parts[j])

    if i + 1 < len(parts):
        return text[: begin(i)] + text[begin(i + 1) :]
    return text[: end(i - 1)] + text[end(i) :]


def _removed_item(tree: Tree, spot: Spot) -> str:
    assert spot.parent is not None
    first, below = tree.item(spot.parent, spot.index)
    if len(spot.parent.value) > 1:
        return _lines_cut(tree, first, below)
    after = tree.after(tree.spot(spot.path[:-1]))
    if first <= tree.line(after):
        stuck(spot.path, first + 1)
    cut = _lines_cut(tree, first, below)
    return cut[:after] + " []" + cut[after:]


def _lines_cut(tree: Tree, first: int, below: int) -> str:
    """The text without some of its lines; a text whose last line has no line break keeps to that."""
    text, begin, end = tree.text, tree.start(first), tree.start(below)
    if end == len(text) and text[-1:] not in ("\n", "\r") and first:
        while first > 1 and not tree.said(first - 1).strip():
            first -= 1
        begin = tree.stop(first - 1)
    return text[:begin] + text[end:]


def _removed_key(tree: Tree, spot: Spot) -> str:
    assert spot.parent is not None
    text, pairs, i = tree.text, spot.parent.value, spot.index
    begin = spot.key.start_mark.index
    first = tree.line(begin)
    if text[tree.start(first) : begin].strip():  # it stands after a dash
        if i + 1 == len(pairs):
            stuck(spot.path, first + 1)
        end, following = tree.pair_end(pairs[i]), pairs[i + 1][0].start_mark.index
        if any(tree.is_comment(line) for line in range(tree.line(end) + 1, tree.line(following))):
            return text[:begin].rstrip(" ") + text[tree.stop(tree.line(end)) :]  # they belong to the next key
        return text[:begin] + text[following:]
    floor = tree.line(tree.pair_end(pairs[i - 1])) if i else -1
    top = tree.owned(first, begin - tree.start(first), floor)
    return _lines_cut(tree, top, tree.line(tree.pair_end(pairs[i])) + 1)


def unfolded(tree: Tree, spot: Spot) -> str:
    """The text with a list in brackets written in lines, each item as it was written."""
    node, text, after = spot.node, tree.text, tree.after(spot)
    at = node.start_mark.index + 1
    for part in node.value:
        if re.sub(r"[\s,]", "", text[at : part.start_mark.index]):
            stuck(spot.path, tree.line(at) + 1)
        at = tree.end(part)
    if re.sub(r"[\s,]", "", text[at : node.end_mark.index - 1]) or tree.line(after) != tree.line(node.start_mark.index):
        stuck(spot.path, tree.line(at) + 1)
    indent = " " * (int(spot.key.start_mark.column) + 2)
    below = [f"{indent}- {text[part.start_mark.index : tree.end(part)]}" for part in node.value]
    end = node.end_mark.index
    stop = tree.stop(tree.line(end))
    return text[:after] + text[end:stop] + "".join(tree.eol + row for row in below) + text[stop:]
