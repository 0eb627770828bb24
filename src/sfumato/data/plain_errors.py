"""What pydantic finds wrong, in plain words: no names of Python's types, and one sentence for each place.

Where a key takes one of several things (a number, or a mapping), pydantic reports every one of them, at a place that
holds the name of a Python type. Here the one that was meant is kept, and where none can be told all stand in one
sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

__all__ = ["plain_errors"]

Path = tuple[str | int, ...]

_NEEDS = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "a mapping",
    "model_attributes_type": "a mapping",
    "model_type": "a mapping",
    "set_type": "a list",
    "string_type": "text",
    "tuple_type": "a list",
}
"""What is needed, where something of another shape was given."""
_CHOICES = ("literal_error", "enum")
_LONGEST = 40
"""Most characters of a given text that a sentence repeats."""


@dataclass(frozen=True)
class _Fault:
    """One of pydantic's errors: where, as far as the place is in what was given, and which alternative it is of."""

    path: Path
    labels: tuple[tuple[int, str], ...]
    detail: ErrorDetails
    of_name: bool = False

    @property
    def of_shape(self) -> bool:
        return self.detail["type"] in _NEEDS or self.detail["type"] in _CHOICES


def plain_errors(
    error: ValidationError, given: object, words: Mapping[str, str] | None = None
) -> list[tuple[Path, str]]:
    """Say what is wrong, once for each place.

    Parameters
    ----------
    error
        What pydantic raised.
    given
        What was given to it.
    words
        Own sentences for some of pydantic's types of error.

    Returns
    -------
    list of (path, sentence)
        The keys and numbers that lead to the place, and what is wrong there.

    Examples
    --------
    >>> from pydantic import TypeAdapter
    >>> strength = TypeAdapter(dict[str, float | dict[str, float] | None])
    >>> for given in ({"share": [1]}, {"share": {"bmi": "much"}}):
    ...     try:
    ...         strength.validate_python(given)
    ...     except ValidationError as error:
    ...         plain_errors(error, given)
    [(('share',), 'a number or a mapping is needed here, not a list')]
    [(('share', 'bmi'), "a number is needed here, not 'much'")]
    """
    faults = [_fault(detail, given) for detail in error.errors(include_url=False)]
    while any(fault.labels for fault in faults):
        faults = _meant(faults)
    places: dict[Path, list[_Fault]] = {}
    for fault in faults:
        places.setdefault(fault.path, []).append(fault)
    return [(path, sentence) for path, found in places.items() for sentence in _sentences(found, words or {})]


def _fault(detail: ErrorDetails, given: Any) -> _Fault:
    """Split pydantic's place into what is really there and the names of alternatives."""
    path: list[str | int] = []
    labels: list[tuple[int, str]] = []
    *_, last = detail["loc"] or ("",)
    for part in detail["loc"]:
        if part == "[key]":
            continue
        if _holds(given, part):
            given = given[part]
            path.append(part)
        elif detail["type"] == "missing" and part == last:
            path.append(part)
        else:
            labels.append((len(path), str(part)))
    return _Fault(tuple(path), tuple(labels), detail, "[key]" in detail["loc"])


def _holds(given: object, part: str | int) -> bool:
    if isinstance(given, Mapping):
        return part in given
    return isinstance(given, list | tuple) and isinstance(part, int) and part < len(given)


def _meant(faults: Iterable[_Fault]) -> list[_Fault]:
    """Of each choice keep the alternatives that what was given comes nearest to; without their first label."""
    kept: list[_Fault] = []
    choices: dict[Path, dict[str, list[_Fault]]] = {}
    for fault in faults:
        if not fault.labels:
            kept.append(fault)
            continue
        (depth, label), *further = fault.labels
        of_label = choices.setdefault(fault.path[:depth], {}).setdefault(label, [])
        of_label.append(replace(fault, labels=tuple(further)))
    for alternatives in choices.values():
        nearest = max(map(_nearness, alternatives.values()))
        kept += [f for branch in alternatives.values() if _nearness(branch) == nearest for f in branch]
    return kept


def _nearness(branch: Sequence[_Fault]) -> tuple[int, bool]:
    """How far what was given has the shape of an alternative: how deep the fault lies, and that it is none of shape."""
    return max(len(f.path) for f in branch), any(not f.of_shape for f in branch)


def _sentences(faults: Sequence[_Fault], words: Mapping[str, str]) -> list[str]:
    """What is wrong at one place."""
    said = [words.get(f.detail["type"]) or _sentence(f) for f in faults if f.of_name or not f.of_shape]
    needs = [_need(f.detail) for f in faults if not f.of_name and f.of_shape]
    if "a number" in needs:
        needs = [n for n in needs if n != "a whole number"]
    if needs:
        *most, final = dict.fromkeys(needs)
        either = f"{', '.join(most)} or {final}" if most else final
        said.append(f"{either} is needed here{_not_given(faults[0].detail['input'], needs)}")
    return list(dict.fromkeys(said))


def _need(detail: ErrorDetails) -> str:
    return str(detail["ctx"]["expected"]) if detail["type"] in _CHOICES else _NEEDS[detail["type"]]


def _sentence(fault: _Fault) -> str:
    """What is wrong, where the shape is right."""
    kind, context = fault.detail["type"], fault.detail.get("ctx", {})
    if fault.of_name or kind == "invalid_key":
        return "a name is text: put it in quotes"
    if kind == "value_error":
        return str(context["error"])
    if kind in _BOUNDS:
        sentence, bound = _BOUNDS[kind]
        number = context[bound]
        given = "" if bound.endswith("length") else _not_given(fault.detail["input"])
        return sentence.format(number, "entry" if number == 1 else "entries") + given
    return {
        "missing": "it is required",
        "extra_forbidden": "there is no such key",
        "finite_number": "a finite number is needed here",
    }.get(kind, "what is given cannot stand here")


_BOUNDS = {
    "greater_than": ("a number above {0:g} is needed here", "gt"),
    "greater_than_equal": ("a number of at least {0:g} is needed here", "ge"),
    "less_than": ("a number below {0:g} is needed here", "lt"),
    "less_than_equal": ("a number of at most {0:g} is needed here", "le"),
    "string_too_short": ("a longer text is needed here", "min_length"),
    "too_long": ("no more than {0} {1} may stand here", "max_length"),
    "too_short": ("at least {0} {1} must stand here", "min_length"),
}


def _not_given(given: object, needs: Sequence[str] = ()) -> str:
    """What was given in place of what is needed, where that is short and says something."""
    quote = "; put it in quotes" if "text" in needs and isinstance(given, bool | int | float) else ""
    if given is None:
        return "; nothing is given"
    if isinstance(given, bool):
        return f", not {str(given).lower()}{quote}"
    if isinstance(given, int | float):
        return f", not {given:.10g}{quote}"
    if isinstance(given, str):
        return f", not '{given}'" if 0 < len(given) <= _LONGEST and given.isprintable() else ""
    kind = "a list" if isinstance(given, list | tuple) else "a mapping" if isinstance(given, Mapping) else None
    return f", not {kind}" if kind is not None and kind not in needs else ""
