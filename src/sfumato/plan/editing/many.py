"""Several values of a plan's text changed as one edit, with one look at the whole text where its lines allow that."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from ruamel.yaml.nodes import MappingNode

from sfumato.plan.editing.edits import set_value
from sfumato.plan.editing.tree import Key, Shape, Tree, is_block
from sfumato.plan.editing.written import flow

__all__ = ["set_values"]


def set_values(text: str, values: Mapping[tuple[Key, ...], Any]) -> str:
    """Give several keys other values, as `set_value` does one after the other.

    A plan of a thousand variables takes a second to parse. Where what holds a key stands in lines of its own, as a
    variable does, these lines are changed by themselves, and the whole is parsed once, to see that it means what it
    should.

    Parameters
    ----------
    text
        A plan as YAML.
    values
        The new value of each path.

    Raises
    ------
    PlanError
        As `set_value`.

    Examples
    --------
    >>> text = "variables:\\n  a: {role: key}  # why\\n  b: {kind: date}"
    >>> print(set_values(text, {("variables", "a", "role"): "other", ("variables", "b", "role"): "key"}))
    variables:
      a: {role: other}  # why
      b: {kind: date, role: key}
    """
    if len(values) > 1 and (made := _by_lines(text, values)) is not None:
        return made
    for path, value in values.items():
        text = set_value(text, path, value)
    return text


def _by_lines(text: str, values: Mapping[tuple[Key, ...], Any]) -> str | None:
    """The text with each owner's lines changed by themselves; None where one has no lines of its own."""
    tree = Tree(text)
    owners: dict[tuple[Key, ...], dict[Key, Any]] = {}
    for path, value in values.items():
        owners.setdefault(path[:-1], {})[path[-1]] = value
    pieces: list[tuple[int, int, str]] = []
    for owner, news in owners.items():
        spot = tree.walk(owner)
        held = isinstance(spot.node, MappingNode) and isinstance(spot.parent, MappingNode) and is_block(spot.parent)
        if len(owner) < 2 or spot.path != owner or not held:
            return None
        key, value = spot.key, spot.node
        begin = tree.start(tree.line(key.start_mark.index))
        end = tree.stop(tree.line(tree.pair_end((key, value))))
        head = f"lines:{tree.eol}"
        piece = head + text[begin:end]
        for name, new in news.items():
            piece = set_value(piece, ["lines", owner[-1], name], new)
        pieces.append((begin, end, piece[len(head) :]))
    pieces.sort()
    if any(a[1] > b[0] for a, b in itertools.pairwise(pieces)):
        return None
    made, at = [], 0
    for begin, end, piece in pieces:
        made += [text[at:begin], piece]
        at = end
    new_text = "".join([*made, text[at:]])
    wanted = tree.shape
    for path, value in values.items():
        _set(wanted, path, Tree(f"value: {flow(value)}").shape[1][0][1])
    return new_text if Tree(new_text).shape == wanted else None


def _set(shape: Shape, path: tuple[Key, ...], new: Shape) -> None:
    """Give a place in what a text means another value."""
    for step in path[:-1]:
        shape = next(part for key, part in shape[1] if key[1] == str(step))
    for pair in shape[1]:
        if pair[0][1] == str(path[-1]):
            pair[1] = new
            return
    shape[1].append([("tag:yaml.org,2002:str", path[-1]), new])
