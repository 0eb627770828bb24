"""A mapping within a plan given other contents: where it stands in lines, other keys stay as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ruamel.yaml.nodes import MappingNode

from sfumato.data.yaml import load_yaml
from sfumato.plan.editing.edits import remove, set_value
from sfumato.plan.editing.tree import Key, Path, Tree, is_block

__all__ = ["set_parts"]

_MOST = 40
"""Keys that are changed one by one; each takes a look at the whole text."""


def set_parts(text: str, path: Path, value: Mapping[Any, Any]) -> str:
    """Give a mapping other contents; comments among lines of its own stay, unless most of it changes.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Of the mapping; it need not be there.
    value
        What it holds afterwards: at least one key.

    Raises
    ------
    PlanError
        As `set_value`.

    Examples
    --------
    >>> print(set_parts("map:\\n  a: x  # why\\n  b: y\\n", ["map"], {"a": "x", "c": "z"}), end="")
    map:
      a: x  # why
      c: z
    """
    tree = Tree(text)
    spot = tree.walk(path)
    if len(spot.path) < len(path) or not isinstance(spot.node, MappingNode) or not is_block(spot.node):
        return set_value(text, path, dict(value))
    now: Any = load_yaml(text)[0]
    for key in path:
        now = now[key]
    gone = [key for key in now if key not in value]
    new: list[Key] = [key for key in value if key not in now or now[key] != value[key]]
    if len(gone) + len(new) > _MOST:
        return set_value(text, path, dict(value))
    for key in new:
        text = set_value(text, [*path, key], value[key])
    for key in gone:
        text = remove(text, [*path, key])
    return text
