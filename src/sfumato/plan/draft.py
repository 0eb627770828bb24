"""The lines of a drafted plan: what each variable seems to be, with the reason, and steps that protect it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Scalar
from sfumato.data.entities import find
from sfumato.data.extended import shown
from sfumato.data.looking import telling
from sfumato.data.profile import Guess
from sfumato.data.roles import Role
from sfumato.data.unseen import seen
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.plan.drafting import BLUR, MOST_CELLS, MOST_COLUMNS, Steps
from sfumato.plan.spelling import yaml_list, yaml_text
from sfumato.plan.unknown import BETRAYS, OTHERS, Unknown, betrayed

__all__ = [
    "head",
    "id_lines",
    "parameter_line",
    "refuse_betrayal",
    "step_lines",
    "unknown_lines",
    "variable_lines",
]

_MOST_LINKED = 0.2
_SEARCHED_TOGETHER = 10_000


def head(title: str) -> Iterator[str]:
    """The first lines of a drafted plan."""
    yield "# A first plan, drafted from the data. Every line is a guess: read it, and change what is wrong."
    yield "# Roles: identifier (must not leave), key (an intruder may know it), sensitive, outcome, other,"
    yield "#        weight, record, household, person (whom several rows are about: who knows all of them is tried)."
    yield "# Kinds: continuous, integer, categorical, ordinal, date, text, geographic."
    yield "sfumato: 1"
    named = telling([entity.kind for entity in find(title)])  # a file may be named after somebody
    yield f"title: {json.dumps('Untitled' if named else title, ensure_ascii=False)}"


def variable_lines(guesses: Sequence[Guess], said: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """The lines on variables, each with its reason.

    Parameters
    ----------
    guesses
        What is known of them.
    said
        What stands of some of them already: a mapping of YAML in one line.
    """
    yield "variables:"
    rows = [(f"  {yaml_text(g.name)}:", said.get(g.name) or _described(g), g) for g in guesses]
    left = max((len(name) for name, _, _ in rows), default=0)
    middle = max((len(text) for _, text, _ in rows), default=0)
    for name, text, guess in rows:
        doubt = "" if guess.certain else "perhaps: "
        yield f"{name:<{left}} {text:<{middle}}  # {doubt}{guess.reason}"


def _described(guess: Guess) -> str:
    variable = guess.variable
    parts = [f"role: {variable.role}"]
    if variable.sensitive:
        parts.append("sensitive: true")
    if variable.kind is not None:
        parts.append(f"kind: {variable.kind}")
    if variable.order:
        parts.append(f"order: {json.dumps(list(variable.order), ensure_ascii=False)}")
    if variable.range is not None:
        parts.append(f"range: {_bounds(variable.range)}")
    if variable.missing:
        parts.append(f"missing: [{', '.join(_code(m) for m in variable.missing)}]")
    return "{" + ", ".join(parts) + "}"


def _bounds(bounds: tuple[float | None, float | None]) -> str:
    """A range as YAML: `[0, null]`."""
    return json.dumps([int(b) if b is not None and b == int(b) else b for b in bounds])


def _code(missing: Missing) -> str:
    if missing.code is None:
        return f"{{low: {json.dumps(missing.low)}, high: {json.dumps(missing.high)}}}"
    return json.dumps(shown(missing.code), ensure_ascii=False)


def step_lines(steps: Steps) -> Iterator[str]:
    """The lines on steps, each with what it is for; but for those that replace ids."""
    yield "steps:"
    if steps.dropped:
        yield "  # Direct identifiers, free text, places and further weights leave first."
        yield f"  - {{do: drop, columns: {yaml_list(steps.dropped)}}}"
    if steps.coordinates:
        yield "  # In place of coordinates a step to_grid could keep the area (pip install 'sfumato[geo]')."
    for n in steps.unread:
        said = "are written could not be told: coarsen_date with a format would keep the year."
        yield f"  # How the dates of {seen(n)} {said}"
    for alike in {json.dumps(parameters): parameters for parameters in steps.years.values()}.values():
        dates = [n for n, parameters in steps.years.items() if parameters == alike]
        yield f"  # Of {seen(', '.join(dates))} the year stays."
        yield parameter_line(alike, dates)
    yield from _broadened(steps)
    if not steps.averaged:
        yield "  # No number looks like one that an intruder could know, so nothing is masked yet."
    for i in range(0, len(steps.averaged), MOST_COLUMNS):
        yield from _centroids(steps, steps.averaged[i : i + MOST_COLUMNS])


def _broadened(steps: Steps) -> Iterator[str]:
    if steps.crowded:
        yield "  # With these too many people would be alone, or nearly alone, with what others may know of them."
        yield f"  - {{do: drop, columns: {yaml_list(steps.crowded)}}}"
    for n, form in steps.forms.items():
        if form.coarsen:
            yield f"  # Of {seen(n)} the broader group stays."
            yield parameter_line(form.coarsen, [n])
        if form.band:
            many = f"Many people share a value of {seen(n)}"
            yield f"  # {many}, so that averages would leave it as it is: bands hide it."
            yield f"  - {{do: recode, columns: {yaml_list([n])}, band: {json.dumps([_plain(c) for c in form.band])}}}"
        if form.merge:
            yield f"  # Categories of {seen(n)} that few people have become one."
            yield f"  - {{do: merge_rare, columns: {yaml_list([n])}, min_count: {form.merge}}}"
        if form.keep:
            yield f"  # Categories of {seen(n)} that few people have become missing; those listed stay as they are."
            kept = ", ".join(f"{_scalar(v)}: {_scalar(v)}" for v in form.keep)
            yield f"  - {{do: recode, columns: {yaml_list([n])}, map: {{{kept}}}, other: missing}}"
    if steps.some_small and steps.cells:
        yield "  # Of whoever still shares all of these with too few others single values are taken out."
        caps = ", ".join(f"{yaml_text(n)}: {MOST_CELLS}" for n in steps.keys)
        yield f"  - {{do: suppress_cells, keys: {yaml_list(steps.keys)}, k: {steps.smallest}, caps: {{{caps}}}}}"
    elif steps.some_small:
        yield "  # Whoever still shares all of these with too few others is left out."
        yield f"  - {{do: suppress_strata, by: {yaml_list(steps.keys)}, min_count: {steps.smallest}}}"


def parameter_line(parameters: Mapping[str, Any], columns: Sequence[str]) -> str:
    """A step with its columns after its name."""
    more = "".join(f", {key}: {json.dumps(v) if '%' in str(v) else v}" for key, v in parameters.items() if key != "do")
    return f"  - {{do: {parameters['do']}, columns: {yaml_list(columns)}{more}}}"


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number


def _scalar(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _centroids(steps: Steps, columns: Sequence[str]) -> Iterator[str]:
    by = steps.keys
    among = f" with equal {', '.join(by)}" if by else ""
    parameters = [f"columns: {yaml_list(columns)}"]
    parameters += [f"by: {yaml_list(by)}"] if by else []
    parameters += [f"k: {steps.k}", "grouping: mdav", f"blur: {BLUR}"]
    parameters += [f"min_stratum: {steps.k}"] if steps.smallest < 2 * steps.k else []
    if steps.within:
        parameters += ["missing: category", "on_small: suppress"]
    elif by:
        parameters.append("on_small: merge")
    parameters += [f"block_size: {_SEARCHED_TOGETHER}"] if steps.large else []
    clip = [f"{yaml_text(n)}: {_bounds(bounds)}" for n in columns if (bounds := steps.ranges.get(n)) is not None]
    parameters += [f"clip: {{{', '.join(clip)}}}"] if clip else []
    yield f"  # Each value becomes the average of a group of at least {steps.k} similar records{among}."
    if steps.within:
        yield "  # Records with the same values missing are averaged among each other; where they are too few they go."
    yield f"  - {{do: centroids, {', '.join(parameters)}}}"


def id_lines(ids: Sequence[Guess], shared: Collection[str]) -> Iterator[str]:
    """Steps that replace ids: a column each, for equal ids of records and households would get equal numbers."""
    if ids:
        yield "  # Whoever knows an id knows whose records these are: other ids take its place."
    if any(g.variable.role == Role.PERSON for g in ids):
        yield "  # Role person: several rows are about one person. Limits hold for who knows all of these rows, too."
    if any(g.variable.role == Role.RECORD for g in ids):
        yield "  # protect --crosswalk FILE writes old and new ones side by side, for you alone."
    for guess in ids:
        if guess.name in shared:
            yield "  # Another table has these ids too: others of its own keep anybody from putting the two together."
        number = guess.name not in shared and not guess.variable.missing  # which join with nothing, and bear no codes
        form = ", format: number" if number else ""
        yield f"  - {{do: pseudonymise, columns: {yaml_list([guess.name])}, scope: table{form}}}"


def unknown_lines(unknown: Sequence[Unknown]) -> Iterator[str]:
    """The lines on what nobody knows; none where nothing is said.

    Parameters
    ----------
    unknown
        What is said.
    """
    if not unknown:
        return
    yield "# What nobody outside knows of anybody, and why: the reason is published."
    if not all(each.decided for each in unknown):
        yield '# Write it in place of "?".'
    yield "unknown:"
    for each in unknown:
        columns = OTHERS if each.columns == OTHERS else yaml_list(each.columns)
        yield f"  - {{columns: {columns}, because: {json.dumps(each.because, ensure_ascii=False)}}}"


def refuse_betrayal(unknown: Sequence[Unknown], frame: pl.DataFrame, guesses: Sequence[Guess]) -> None:
    """Refuse reasons that hold the value of an identifier or id.

    Parameters
    ----------
    unknown
        What is said that nobody knows, and why.
    frame, guesses
        The table, and what is known of its variables.

    Raises
    ------
    DataError
        Where one does.
    """
    book = Codebook({g.name: g.variable for g in guesses})
    if any(True for _ in betrayed(unknown, PolarsDataset(frame, book))):
        raise DataError(f"{BETRAYS}.")
