"""An edit as JSON: what a page or a program sends is checked before any text is touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.errors import PlanError
from sfumato.plan.editing.edits import add, move, remove, set_value
from sfumato.plan.editing.off import switch_off, switch_on
from sfumato.plan.editing.written import bounded

__all__ = ["apply"]

_MOST_STEPS = 30
_LONGEST = 1000

_OPS: Mapping[str, tuple[frozenset[str], frozenset[str], Callable[[str, Mapping[str, Any]], str]]] = {
    "set": (frozenset({"value"}), frozenset(), lambda text, e: set_value(text, e["path"], e["value"])),
    "add": (frozenset({"value"}), frozenset({"at"}), lambda text, e: add(text, e["path"], e.get("at"), e["value"])),
    "move": (frozenset({"to"}), frozenset(), lambda text, e: move(text, e["path"], e["to"])),
    "remove": (frozenset(), frozenset(), lambda text, e: remove(text, e["path"])),
    "off": (frozenset(), frozenset(), lambda text, e: switch_off(text, e["path"])),
    "on": (frozenset(), frozenset({"number"}), lambda text, e: switch_on(text, e["path"], e.get("number", 0))),
}
"""By its word: the keys that an edit must have beside `op` and `path`, those that it may have, and what it does."""


def apply(text: str, edit: Any) -> str:
    """Do what an edit says.

    Parameters
    ----------
    text
        A plan as YAML.
    edit
        `{"op": "set", "path": ["steps", 0, "k"], "value": 5}`; `add` with `value` and perhaps `at`, the position
        afterwards (else the end); `move` with `to`, the position afterwards; `remove`; `off`, of an item of a list;
        `on`, with the path of the list and the `number` of the item among those that are off, from 0. A path is of at
        most 30 keys and positions.

    Raises
    ------
    PlanError
        Where the edit is none of these, its path leads nowhere, or the place cannot be changed by itself. The text is
        as it was.

    Examples
    --------
    >>> apply("steps: [{do: noise, k: 3}]", {"op": "set", "path": ["steps", 0, "k"], "value": 5})
    'steps: [{do: noise, k: 5}]'
    """
    if not isinstance(edit, Mapping):
        raise PlanError(["an edit is an object with `op` and `path`"])
    op = edit.get("op")
    if not isinstance(op, str) or op not in _OPS:
        raise PlanError([f"`op` must be one of {', '.join(_OPS)}"])
    needed, perhaps, do = _OPS[op]
    if missing := sorted({"path", *needed} - edit.keys()):
        raise PlanError([f"{op} needs `{'`, `'.join(missing)}`"])
    if edit.keys() - needed - perhaps - {"op", "path"}:
        known = ", ".join(sorted({"path", *needed, *perhaps}))
        raise PlanError([f"{op} has a key that it does not take; it takes {known}"])
    _path(edit["path"])
    return do(text, edit)


def _path(path: Any) -> None:
    if not isinstance(path, list | tuple) or not 0 < len(path) <= _MOST_STEPS:
        raise PlanError([f"`path` is a list of 1 to {_MOST_STEPS} keys and positions"])
    for step in path:
        text = isinstance(step, str) and len(step) <= _LONGEST
        if not (text or isinstance(step, int | float)):  # true, false and numbers can be keys too
            raise PlanError([f"`path` holds keys of at most {_LONGEST} letters, and positions from 0"])
    bounded(list(path))
