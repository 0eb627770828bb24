"""What pydantic finds wrong in YAML, as problems with their place and in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sfumato.data.yaml import Lines
from sfumato.errors import Problem

__all__ = ["problems_of"]

Path = tuple[str | int, ...]

_WORDS = {
    "extra_forbidden": "there is no such key",
    "missing": "it is required",
    **dict.fromkeys(("tuple_type", "list_type"), "a list is needed here"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping is needed here"),
}
"""Our own words, by pydantic's type of error, where its are for programmers."""
_KEY = "[key]"
_KEY_WORDS = "a name is text: put it in quotes"


def _listed(path: Sequence[str | int]) -> str:
    return ", ".join(map(str, path))


def problems_of(
    error: ValidationError,
    given: Any,
    lines: Lines,
    *,
    place: Callable[[Path], str] = _listed,
    words: Mapping[str, str] | None = None,
) -> list[Problem]:
    """One problem for each place that cannot be read, in the order of the lines.

    Parameters
    ----------
    error
        What pydantic found.
    given
        The value that it read.
    lines
        Line of each key and item of the value, by its path.
    place
        Says a place in words.
    words
        Further words, by pydantic's type of error.

    Examples
    --------
    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python(given := {"k": [3]})
    ... except ValidationError as error:
    ...     print(*problems_of(error, given, {("k",): 7}))
    line 7: k: Input should be a valid integer
    """
    known = {**_WORDS, **(words or {})}
    said: dict[Path, dict[str, None]] = {}
    choices: set[Path] = set()
    for one in error.errors(include_url=False):
        path = _path(one["loc"], given, one["type"] == "missing")
        of_key = one["loc"][-1:] == (_KEY,)
        sentence = _KEY_WORDS if of_key else known.get(one["type"]) or one["msg"].removeprefix("Value error, ")
        said.setdefault(path, {})[sentence] = None
        if not of_key and path[-1:] != one["loc"][-1:]:
            choices.add(path)
    # Of a value that may have several forms, the form that was meant is the one that could be read further.
    kept = [p for p in said if p not in choices or not any(q[: len(p)] == p and len(q) > len(p) for q in said)]
    found = [Problem("; or: ".join(said[path]), _line(path, lines), path, place(path)) for path in kept]
    return sorted(found, key=lambda problem: (problem.line or 0, str(problem)))


def _path(location: Sequence[str | int], given: Any, key_is_missing: bool) -> Path:
    """The way through the value that was read, without the names of types that pydantic puts between."""
    path: list[str | int] = []
    for part in location:
        inside = part in given if isinstance(given, Mapping) else isinstance(given, list) and isinstance(part, int)
        if inside:
            path.append(part)
            given = given[part]
    if key_is_missing:
        path.append(location[-1])
    return tuple(path)


def _line(path: Path, lines: Lines) -> int | None:
    """The line of the nearest key or item that was written."""
    return next((lines[path[:i]] for i in range(len(path), 0, -1) if path[:i] in lines), None)
