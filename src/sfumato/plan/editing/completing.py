"""What may be typed next in a plan: keys, methods, choices, columns, measures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sfumato.measures.registry import figures
from sfumato.methods.registry import methods_told
from sfumato.plan.editing.cursor import Cursor, Frame, cursor_at
from sfumato.plan.editing.written import flow
from sfumato.plan.plan import Plan

__all__ = ["complete", "typed"]

_OF_COLUMNS = frozenset(
    {
        *("columns", "column", "by", "keys", "x", "y", "weight", "sensitive", "given", "geography", "similar", "carry"),
        *("where", "order", "predictors", "clip", "round_to", "importance", "caps", "attribute_weights", "variable"),
    }
)
"""Parameters, and keys of a limit, whose values, or whose own keys, are names of columns."""


def complete(
    text: str, line: int, column: int, columns: Sequence[str] | Mapping[str, str] = ()
) -> list[tuple[str, str]]:
    """Tell what may be typed at a place, in the order of the documentation.

    Parameters
    ----------
    text
        A plan, perhaps unfinished: what cannot be parsed is read line by line.
    line, column
        The place, from 1; the column after the last letter that was typed.
    columns
        Names of the table's columns, perhaps with their labels.

    Returns
    -------
    list of (insert, what)
        What takes the place of the word that is being typed (`typed`), and what it is. Empty where nothing is known.

    Examples
    --------
    >>> [insert for insert, what in complete("steps:\\n  - {do: nois", 2, 14)]
    ['noise']
    >>> complete("steps:\\n  - {do: drop, columns: [Ag", 2, 28, ["Age", "Fare"])
    [('Age', 'a column')]
    """
    cursor = cursor_at(text, line, column)
    if cursor is None:
        return []
    known = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, "a column")
    word = cursor.word.strip("\"' ").lower()
    offers = _offers(cursor, _rest(text, line, column), known)
    bare = [
        (insert, what, insert.removeprefix("- ").removeprefix("do: ").strip("\"': ").lower()) for insert, what in offers
    ]
    begin = [(insert, what) for insert, what, name in bare if name.startswith(word)]
    return begin + [(insert, what) for insert, what, name in bare if word in name and not name.startswith(word)]


def typed(text: str, line: int, column: int) -> str:
    """The word before a place, which a completion takes the place of.

    Examples
    --------
    >>> typed("steps:\\n  - {do: nois", 2, 14)
    'nois'
    """
    cursor = cursor_at(text, line, column)
    return "" if cursor is None else cursor.word


@cache
def _schema() -> dict[str, Any]:
    return Plan.json_schema()


@cache
def _purposes() -> dict[str, str]:
    return {told["name"]: told["purpose"] for told in methods_told()}


def _rest(text: str, line: int, column: int) -> str:
    """What follows a place, as far as the next item of a list or the next key of the plan."""
    lines = re.split("\r\n|\n|\r", text)[line - 1 :]
    lines[0] = lines[0][column - 1 :]
    end = next((i for i, each in enumerate(lines) if i and re.match(r"\s*- |\S", each)), len(lines))
    return "\n".join(lines[:end])


def _offers(cursor: Cursor, rest: str, columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    node: Mapping[str, Any] = _schema()
    named = False
    for i, frame in enumerate(cursor.frames):
        if frame.kind == "map":
            node = _chosen(node, frame, rest)
            if frame.key is None:
                yield from _keys(node, frame, columns, named=named)
                return
            named = (i > 0 and frame.key in _OF_COLUMNS) or (named and "properties" not in node)
            node = _property(node, frame.key)
        else:
            node = _items(node)
    yield from _values(node, cursor, columns, named=named)


def _forms(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every form that a value may have."""
    if "$ref" in node:
        yield from _forms(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    elif choices := node.get("anyOf", node.get("oneOf")):
        for choice in choices:
            yield from _forms(choice)
    else:
        yield node


def _chosen(node: Mapping[str, Any], frame: Frame, rest: str) -> Mapping[str, Any]:
    """The form that a mapping has; of a step the one of its method."""
    forms = [form for form in _forms(node) if form.get("type") == "object"]
    steps = [form for form in forms if "do" in form.get("properties", {})]
    if steps:
        later = re.search(r"\bdo: *(\w+)", rest)
        do = frame.given.get("do") or (later[1] if later else "")
        chosen = [form for form in steps if form["properties"]["do"].get("const") == do.strip("\"' ")]
        only = {"properties": {"do": {"description": "Names the method.", "methods": True}}}
        return {**chosen[0]} if chosen else only
    return forms[0] if forms else {}


def _property(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = node.get("properties", {}).get(key)
    if found is None:
        found = node.get("additionalProperties")
    return found if isinstance(found, Mapping) else {}


def _items(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((form["items"] for form in _forms(node) if isinstance(form.get("items"), Mapping)), {})


def _keys(
    node: Mapping[str, Any], frame: Frame, columns: Mapping[str, str], *, named: bool
) -> Iterator[tuple[str, str]]:
    """Keys that a mapping does not have yet."""
    properties = node.get("properties")
    if properties is None:
        keyed = isinstance(node.get("additionalProperties"), Mapping)
        of_variables = keyed and node["additionalProperties"].get("$ref", "").endswith("/Variable")
        told = columns if keyed and (named or of_variables) else {}
        yield from ((f"{flow(name)}: ", what) for name, what in told.items() if name not in frame.given)
        return
    for key, part in properties.items():
        if key not in frame.given:
            yield f"{key}: ", part.get("description", "")


def _values(
    node: Mapping[str, Any], cursor: Cursor, columns: Mapping[str, str], *, named: bool
) -> Iterator[tuple[str, str]]:
    forms = list(_forms(node))
    below = cursor.frames[-1].kind == "map" and cursor.line.strip() == cursor.word.strip()  # the line after a key
    arrays = [form for form in forms if form.get("type") == "array"]
    if below and arrays:  # an item of a list whose dash is not there yet
        inner = Cursor((*cursor.frames, Frame("seq", -1)), cursor.word, "-")
        yield from ((f"- {insert}", what) for insert, what in _values(_items(node), inner, columns, named=named))
        return
    if below and (inner_map := [form for form in forms if form.get("type") == "object"]):
        yield from _keys(inner_map[0], Frame("map", 0), columns, named=named)
        return
    if any("do" in form.get("properties", {}) for form in forms):
        yield from ((f"do: {name}", what) for name, what in _purposes().items())
    elif any("methods" in form for form in forms) or any(form.get("title") == "Do" for form in forms):
        yield from _purposes().items()
    elif any("measure" in form.get("properties", {}) for form in forms):
        yield "measure: ", "Name of the measure."
    elif cursor.frames[-1].key == "measure" and node.get("title") == "Measure":
        yield from ((name, figure.title) for name, figure in figures().items())
    else:
        yield from _choices(forms, node, columns, named=named)


def _choices(
    forms: Sequence[Mapping[str, Any]], node: Mapping[str, Any], columns: Mapping[str, str], *, named: bool
) -> Iterator[tuple[str, str]]:
    said = node.get("description", "")
    for form in forms:
        listed = form.get("enum", [form["const"]] if "const" in form else [])
        yield from ((flow(value), said) for value in listed)
        if form.get("type") == "boolean":
            yield from (("true", said), ("false", said))
    if named and any(form.get("type") == "string" and "enum" not in form and "const" not in form for form in forms):
        yield from ((flow(name), what) for name, what in columns.items())
    if named and any(form.get("type") == "array" for form in forms):
        yield from ((f"[{flow(name)}]", what) for name, what in columns.items())
