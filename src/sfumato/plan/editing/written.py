"""A plain value as one piece of YAML that can stand in any line of a plan."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.data.unseen import seen
from sfumato.errors import PlanError

__all__ = ["bounded", "flow", "rows"]

_MOST_DEPTH = 20
_MOST_VALUES = 20_000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
_HALVES = re.compile("[\ud800-\udfff]")


def bounded(value: Any) -> None:
    """Refuse what is no plain value, or nested too deeply or too large for a plan.

    Raises
    ------
    PlanError
        With what is allowed.

    Examples
    --------
    >>> bounded({"do": "drop", "columns": ["name"]})
    """
    left = _MOST_VALUES
    open_: list[tuple[Any, int]] = [(value, 1)]
    while open_:
        one, depth = open_.pop()
        left -= 1
        if depth > _MOST_DEPTH or left < 0:
            raise PlanError([f"a value may be nested {_MOST_DEPTH} times and hold {_MOST_VALUES} values"])
        if isinstance(one, Mapping):
            open_ += [(part, depth + 1) for pair in one.items() for part in pair]
        elif isinstance(one, list | tuple):
            open_ += [(part, depth + 1) for part in one]
        elif isinstance(one, float) and not math.isfinite(one):
            raise PlanError(["a number must be finite"])
        elif isinstance(one, str) and _HALVES.search(one):
            raise PlanError(["a text holds half a character, which no file can hold"])
        elif not isinstance(one, str | int | float | None):
            raise PlanError(["a value is a text, a number, true, false, null, a list or a mapping of these"])


def flow(value: Any) -> str:
    """A plain value in one line; JSON's strings are YAML's.

    Parameters
    ----------
    value
        As `bounded` lets it through.

    Examples
    --------
    >>> flow({"do": "noise", "columns": ["Age", "Fare paid"], "sd": 0.5})
    '{do: noise, columns: [Age, "Fare paid"], sd: 0.5}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return str(value)
    return seen(json.dumps(value, ensure_ascii=False))


def rows(value: Mapping[Any, Any] | Sequence[Any], indent: str) -> list[str]:
    """A list or mapping in block style: a line for each of its items.

    Examples
    --------
    >>> rows([{"do": "drop"}], "  "), rows({"Age": {"role": "key"}}, "  ")
    (['  - {do: drop}'], ['  Age: {role: key}'])
    """
    if isinstance(value, Mapping):
        return [f"{indent}{flow(key)}: {flow(part)}" for key, part in value.items()]
    return [f"{indent}- {flow(part)}" for part in value]
