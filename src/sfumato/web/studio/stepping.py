"""Forms of steps, made from the methods' own JSON Schema: a new method needs nothing here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from markupsafe import Markup, escape
from pydantic import ValidationError

from sfumato.data.codebook import Codebook
from sfumato.data.docstring import prose, summary
from sfumato.data.hidden import ROW
from sfumato.data.plain_errors import plain_errors
from sfumato.data.yaml import load_yaml
from sfumato.errors import PlanError, SfumatoError
from sfumato.methods.base import Method
from sfumato.methods.registry import methods
from sfumato.plan.editing.edits import remove, set_value
from sfumato.plan.editing.written import bounded, flow
from sfumato.web.layout.forms import Given
from sfumato.web.studio.stepped import plain_plan

__all__ = ["GROUPS", "Field", "Offered", "Unfit", "catalogue", "changed", "fields", "read_step", "unsuited"]

Widget = Literal["text", "number", "choice", "yes", "columns", "column", "lines", "yaml"]

_COLUMNS = frozenset({"columns", "by", "keys", "given", "sensitive", "carry", "geography"})
"""Parameters of the common vocabulary that list columns, in any order."""
_COLUMN = frozenset({"x", "y", "head", "time"})
"""Those that name one."""
_QUOTED = re.compile("`+([^`]+)`+")
_NOTHING = object()
"""Nothing was typed: the default holds. An empty list of columns is the same."""


@dataclass(frozen=True)
class Field:
    """One parameter of a step, as a form shows it.

    Parameters
    ----------
    name, label
        Of the parameter, and for people.
    widget
        What it is typed into.
    hint
        What it means.
    required
        Whether there is no default.
    default
        What is taken where nothing is typed, in YAML.
    value
        What is there: a text, or a list of columns.
    options
        What can be chosen.
    more
        Attributes of the input.
    error
        What is wrong with it.
    stated
        Whether the plan says it, so that it is shown first.
    """

    name: str
    label: str
    widget: Widget
    hint: Markup
    required: bool
    default: str
    value: str | list[str]
    options: tuple[str, ...] = ()
    more: tuple[tuple[str, str], ...] = ()
    error: str = ""
    stated: bool = False


@dataclass(frozen=True)
class Offered:
    """A method in the catalogue.

    Parameters
    ----------
    name
        What `do` calls it.
    purpose
        What it does, in a sentence.
    words
        What it protects against, and what not.
    """

    name: str
    purpose: str
    words: tuple[Markup, ...]


class Unfit(Exception):
    """What was typed is no step: the sentence of each parameter; those of the whole step under an empty name."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = errors


GROUPS: tuple[tuple[str, str, Callable[[type[Method]], bool]], ...] = (
    (
        "Prepare",
        "First of all: leave out names and numbers of people, replace ids, fill gaps, make new columns. It protects "
        "nobody by itself, except for what is gone.",
        lambda method: not method.masks and not method.coarsens,
    ),
    (
        "Tell less",
        "Broader categories, or records and cells left out. All that is told stays true, and tables stay readable; "
        "take these first where few people share their values.",
        lambda method: bool(method.coarsens) and not method.masks,
    ),
    (
        "Blur",
        "Values are changed, exchanged or drawn anew, so that nobody can be sure of them. Take these where numbers are "
        "needed in full, or where broader categories would cost too much; the release says by how much values moved.",
        lambda method: bool(method.masks),
    ),
)
"""What steps are for: heading, when to take which, and whether a method belongs there."""


@cache
def catalogue() -> tuple[tuple[str, str, tuple[Offered, ...]], ...]:
    """Every method, in groups by what it is for."""
    return tuple(
        (name, when, tuple(_offered(key, method) for key, method in methods().items() if belongs(method)))
        for name, when, belongs in GROUPS
    )


def _offered(name: str, method: type[Method]) -> Offered:
    said = prose(method.__doc__)
    words = [part.strip() for part in said.split("\n\n")[1:] if part.strip()]
    return Offered(name, summary(method), tuple(map(_coded, words)))


def _coded(text: str) -> Markup:
    """Words of a docstring for a page: what stands in back quotes is code."""
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(" ".join(text.split())))))


@cache
def _schema(name: str) -> dict[str, Any]:
    return methods()[name].json_schema()


def fields(
    name: str,
    value: Mapping[str, Any],
    columns: Sequence[str],
    typed: Given | None = None,
    errors: Mapping[str, str] | None = None,
) -> list[Field]:
    """The form of a method, those that must be filled first.

    Parameters
    ----------
    name
        The method.
    value
        The step as it is; only what differs from the defaults needs to be there.
    columns
        Of the table as it enters the step.
    typed, errors
        What was typed, and what is wrong with it.
    """
    schema = _schema(name)
    required = set(schema.get("required", ()))
    made = [
        _field(key, part, schema.get("$defs", {}), key in required, value, columns, typed, errors or {})
        for key, part in schema["properties"].items()
        if key != "do"
    ]
    return sorted(made, key=lambda field: not field.required)


def _field(
    key: str,
    part: Mapping[str, Any],
    known: Mapping[str, Any],
    required: bool,
    value: Mapping[str, Any],
    columns: Sequence[str],
    typed: Given | None,
    errors: Mapping[str, str],
) -> Field:
    options = _alternatives(part, known)
    widget = _widget(key, options, part)
    default = part.get("default")
    now = value.get(key, default)
    shown = _shown(widget, now, default, key in value)
    if typed is not None:
        names = typed.many(f"p.{key}")
        shown = names if widget == "columns" else typed.whole(f"p.{key}")
    chosen: tuple[str, ...] = ()
    if widget in ("columns", "column"):
        chosen = tuple(dict.fromkeys((*columns, *(shown if isinstance(shown, list) else [shown] if shown else []))))
    elif widget == "choice":
        nullable = not required and (default is None or len(options) < len(_every(part, known)))
        chosen = (*([""] if nullable or required else []), *_choices(options))
    hint = _coded(str(part.get("description", "")))
    told = "" if default is None or widget in ("choice", "yes") else flow(default)
    more = _bounds(options) if widget == "number" else ()
    label = key.replace("_", " ").capitalize() if len(key) > 1 else key
    error, stated = errors.get(key, ""), key in value or key in _COLUMNS
    return Field(key, label, widget, hint, required, told, shown, chosen, more, error, stated)


def _every(part: Mapping[str, Any], known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "$ref" in part:
        return _every(known[part["$ref"].rpartition("/")[2]], known)
    for word in ("anyOf", "oneOf"):
        if word in part:
            return [one for each in part[word] for one in _every(each, known)]
    return [part]


def _alternatives(part: Mapping[str, Any], known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a parameter may be, beside nothing."""
    return [one for one in _every(part, known) if one.get("type") != "null"]


def _choices(options: Iterable[Mapping[str, Any]]) -> list[str]:
    options = list(options)
    if options[0].get("type") == "boolean":
        return ["true", "false"]
    return [str(word) for one in options for word in (one.get("enum") or [one.get("const")])]


def _widget(key: str, options: Sequence[Mapping[str, Any]], part: Mapping[str, Any]) -> Widget:
    none, nullable = part.get("default") is None, any(one.get("type") == "null" for one in part.get("anyOf", ()))
    if [one.get("type") for one in options] == ["boolean"]:
        return "choice" if nullable else "yes"
    if nullable and not none and not any("enum" in one for one in options):
        return "yaml"  # nothing typed is the default, so that `null` must be typed
    if all(isinstance(w, str) for one in options for w in (one.get("enum") or [one.get("const")])):
        return "choice"
    if len(options) != 1:
        return "yaml"
    kind = options[0].get("type")
    if kind == "array" and options[0].get("items") == {"type": "string"}:
        return "columns" if key in _COLUMNS else "lines"
    if kind == "string":
        return "column" if key in _COLUMN else "text"
    return "number" if kind in ("integer", "number") else "yaml"


def _bounds(options: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    only = options[0]
    least = only.get("minimum", only.get("exclusiveMinimum"))
    most = only.get("maximum", only.get("exclusiveMaximum"))
    pairs = {"min": least, "max": most}
    step = ("step", "1" if only.get("type") == "integer" else "any")
    return (step, *((word, flow(bound)) for word, bound in pairs.items() if bound is not None))


def _shown(widget: Widget, now: Any, default: Any, stated: bool) -> str | list[str]:
    """What a form shows for a value; a default stands as a hint, unless it must be chosen."""
    if widget == "columns":
        return [str(n) for n in now or ()]
    if widget == "yes":
        return "yes" if now else ""
    if now is None and stated and widget == "yaml":
        return "null"
    if now is None or (not stated and widget not in ("choice",)):
        return ""
    if widget == "lines":
        return "\n".join(str(n) for n in now)
    return str(now) if isinstance(now, str) and widget != "yaml" else flow(now)


# what was typed


def read_step(name: str, form: Given, old: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The step that a form holds: only what differs from the defaults, in the method's order.

    Parameters
    ----------
    name
        The method.
    form
        What was typed: `p.NAME` for each parameter.
    old
        The step as it was: columns keep their order.
    columns
        Of the table, in its order.

    Raises
    ------
    Unfit
        It is none.
    """
    schema, errors = _schema(name), {}
    value: dict[str, Any] = {"do": name}
    for key, part in schema["properties"].items():
        if key == "do":
            continue
        options = _alternatives(part, schema.get("$defs", {}))
        try:
            typed = _typed(_widget(key, options, part), options, form, key, old, columns)
        except ValueError as error:
            errors[key] = str(error)
            continue
        stays = key in old and old[key] == typed
        if typed is not _NOTHING and (stays or typed != part.get("default")):
            value[key] = typed
    if not errors:
        errors = _objections(name, value)
    if errors:
        raise Unfit(errors)
    return value


def _objections(name: str, value: Mapping[str, Any]) -> dict[str, str]:
    try:
        bounded(value)
        methods()[name].model_validate(value)
    except ValidationError as error:
        found: dict[str, str] = {}
        for path, sentence in plain_errors(error, value, {}):
            key = str(path[0]) if path and path[0] in methods()[name].model_fields else ""
            found[key] = f"{found[key]}; {sentence}" if key in found else sentence
        return found
    except SfumatoError as error:
        return {"": str(error)}
    return {}


def _typed(
    widget: Widget,
    options: Sequence[Mapping[str, Any]],
    form: Given,
    key: str,
    old: Mapping[str, Any],
    columns: Sequence[str],
) -> Any:
    """The value of one parameter."""
    name = f"p.{key}"
    if widget == "columns":
        chosen = dict.fromkeys(form.many(name))
        kept = [n for n in old.get(key) or () if n in chosen]
        added = dict.fromkeys(n for n in (*columns, *chosen) if n in chosen and n not in kept)
        return [*kept, *added] or _NOTHING
    if widget == "yes":
        return form.one(name) == "yes"
    text = form.one(name) if widget != "text" else form.whole(name)
    if not text.strip():
        return _NOTHING
    if widget == "number":
        return _number(text, options[0].get("type") == "integer")
    if widget == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if widget == "yaml":
        return _parsed(text)
    return text == "true" if widget == "choice" and options[0].get("type") == "boolean" else text


def _number(text: str, whole: bool) -> int | float:
    try:
        number = float(text.replace(" ", "").replace("−", "-"))
    except ValueError:
        raise ValueError("a number is needed here, with a point for decimals") from None
    if not math.isfinite(number):
        raise ValueError("a finite number is needed here")
    if number == int(number) and (whole or "." not in text):
        return int(number)
    if whole:
        raise ValueError("a whole number is needed here")
    return number


def _parsed(text: str) -> Any:
    try:
        value = load_yaml(text)[0]
        bounded(value)
    except PlanError as error:
        raise ValueError(error.problems[0].message) from None
    return value


def changed(text: str, path: Sequence[str | int], new: Mapping[str, Any]) -> str:
    """A plan's text in which a step says something else: only keys that differ are written.

    Parameters
    ----------
    text
        The plan.
    path
        Of the step.
    new
        As `read_step` gives it.
    """
    value: Any = plain_plan(text)
    for key in path:
        value = value[key]
    if value.get("do") != new["do"]:
        raise PlanError(["the step is another one by now: look at it again"])
    properties = _schema(new["do"])["properties"]
    for key in [*value, *(key for key in new if key not in value)]:
        if key in new and (key not in value or value[key] != new[key]):
            text = set_value(text, [*path, key], new[key])
        elif key not in new and value[key] != properties.get(key, {}).get("default"):
            text = remove(text, [*path, key])
    return text


# columns that a step cannot take


def unsuited(name: str, value: Mapping[str, Any], book: Codebook) -> dict[str, str]:
    """Columns that a method refuses to change, each with its sentence.

    The method itself is asked, with what is known of its parameters, column by column.

    Parameters
    ----------
    name
        The method.
    value
        The step as it is, perhaps unfinished.
    book
        Of the table as it enters the step.
    """
    method = methods()[name]
    field = next((key for key in ("columns", "keys") if key in method.model_fields), None)
    if field is None:
        return {}
    refused = {}
    for column in book:
        if column == ROW:
            continue
        try:
            step = method.model_construct(**{**value, field: (column,)})
            told = [said for said in step.check(book) if repr(column) in said]
        except (AttributeError, TypeError, KeyError, ValueError, SfumatoError):
            continue  # it cannot be said before more is known of the step
        if told:
            refused[column] = told[0]
    return refused
