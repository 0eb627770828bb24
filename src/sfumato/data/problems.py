"""What pydantic finds wrong in YAML, as problems with their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sfumato.data.plain_errors import plain_errors
from sfumato.data.yaml import Lines
from sfumato.errors import Problem

__all__ = ["problems_of"]

Path = tuple[str | int, ...]


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
        Own sentences, by pydantic's type of error.

    Examples
    --------
    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python(given := {"k": [3]})
    ... except ValidationError as error:
    ...     print(*problems_of(error, given, {("k",): 7}))
    line 7: k: a whole number is needed here, not a list
    """
    found = [
        Problem(sentence, _line(path, lines), path, place(path)) for path, sentence in plain_errors(error, given, words)
    ]
    return sorted(found, key=lambda problem: (problem.line or 0, str(problem)))


def _line(path: Path, lines: Lines) -> int | None:
    """The line of the nearest key or item that was written."""
    return next((lines[path[:i]] for i in range(len(path), 0, -1) if path[:i] in lines), None)
