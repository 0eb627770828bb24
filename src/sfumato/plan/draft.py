"""Draft a plan for a table: what each variable seems to be, with the reason, and steps that protect it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.data.codebook import Missing, Scalar
from sfumato.data.entities import find
from sfumato.data.extended import shown
from sfumato.data.hidden import HIDDEN
from sfumato.data.looking import telling
from sfumato.data.profile import Guess
from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError
from sfumato.plan.drafting import BLUR, MOST_CELLS, MOST_COLUMNS, K, Steps, draft_steps
from sfumato.plan.spelling import yaml_list, yaml_text
from sfumato.plan.unknown import IDS, OPEN, OTHERS

if TYPE_CHECKING:
    from sfumato.plan.edited import Edited

__all__ = ["draft_body", "draft_plan", "head", "id_lines", "step_lines", "variable_lines"]

_MOST_LINKED = 0.2
_SEARCHED_TOGETHER = 10_000


def draft_plan(frame: pl.DataFrame, guesses: Sequence[Guess], title: str, edited: Edited | None = None) -> str:
    """Write a commented plan as YAML: every guess is a line that the user can change.

    As it stands the plan protects: combinations of released keys are broadened until few records are nearly alone with
    theirs, these are left out, and numbers are averaged among records that share all keys.

    Parameters
    ----------
    frame
        The table; used to see what must be broadened, and how far.
    guesses
        What `profile` proposes.
    title
        Title of the plan.
    edited
        An edited plan whose title and variables stay.

    Returns
    -------
    str
        A plan that runs as it stands. It holds no count and no rare value: of the data it shows categories that many
        records have, and round cut points.
    """
    said = {} if edited is None else edited.lines(guesses)
    top = head(title) if edited is None else edited.head()
    return "\n".join([*top, *draft_body(frame, guesses, said=said)]) + "\n"


def draft_body(
    frame: pl.DataFrame,
    guesses: Sequence[Guess],
    shared: Collection[str] = (),
    said: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Give the lines on variables, steps, what is unknown and limits.

    Parameters
    ----------
    frame, guesses
        As in `draft_plan`.
    shared
        Ids that another table has too.
    said
        What stands of some variables already, as `variable_lines` takes it.
    """
    if any(n.startswith(HIDDEN) for n in frame.columns):
        raise DataError(f"Names of columns that begin with {HIDDEN!r} are sfumato's own. Rename them first.")
    steps = draft_steps(frame, guesses)
    if not (steps.keys or steps.averaged):  # a plan under which nobody could look anybody up protects nobody
        guesses = _more_keys(guesses)
        steps = draft_steps(frame, guesses)
    ids = [g for g in guesses if g.variable.role in IDS and g.name not in steps.dropped]
    return [
        *variable_lines(guesses, said),
        *step_lines(steps),
        *id_lines(ids, shared),
        *_unknown(steps, guesses),
        *_limits(steps),
    ]


def _more_keys(guesses: Sequence[Guess]) -> Sequence[Guess]:
    """The guesses, with every category of which nothing tells the role as a key."""
    why = "nothing tells its role, and no other column is a key that could stay"
    return [
        replace(g, variable=g.variable.model_copy(update={"role": Role.KEY}), reason=f"{why}; {g.reason}")
        if g.variable.role == Role.OTHER and g.variable.kind in (Kind.CATEGORICAL, Kind.ORDINAL) and not g.leaves
        else g
        for g in guesses
    ]


def head(title: str) -> Iterator[str]:
    """The first lines of a drafted plan."""
    yield "# A first plan, drafted from the data. Every line is a guess: read it, and change what is wrong."
    yield "# Roles: identifier (must not leave), key (an intruder may know it), sensitive, outcome, other,"
    yield "#        weight, household, record."
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
        yield f"  # How the dates of {n} are written could not be told: coarsen_date with a format would keep the year."
    for alike in {json.dumps(parameters): parameters for parameters in steps.years.values()}.values():
        dates = [n for n, parameters in steps.years.items() if parameters == alike]
        yield f"  # Of {', '.join(dates)} the year stays."
        yield _step(alike, dates)
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
            yield f"  # Of {n} the broader group stays."
            yield _step(form.coarsen, [n])
        if form.band:
            yield f"  # Many people share a value of {n}, so that averages would leave it as it is: bands hide it."
            yield f"  - {{do: recode, columns: {yaml_list([n])}, band: {json.dumps([_plain(c) for c in form.band])}}}"
        if form.merge:
            yield f"  # Categories of {n} that few people have become one."
            yield f"  - {{do: merge_rare, columns: {yaml_list([n])}, min_count: {form.merge}}}"
        if form.keep:
            yield f"  # Categories of {n} that few people have become missing; those listed stay as they are."
            kept = ", ".join(f"{_scalar(v)}: {_scalar(v)}" for v in form.keep)
            yield f"  - {{do: recode, columns: {yaml_list([n])}, map: {{{kept}}}, other: missing}}"
    if steps.some_small and steps.cells:
        yield "  # Of whoever still shares all of these with too few others single values are taken out."
        caps = ", ".join(f"{yaml_text(n)}: {MOST_CELLS}" for n in steps.keys)
        yield f"  - {{do: suppress_cells, keys: {yaml_list(steps.keys)}, k: {steps.smallest}, caps: {{{caps}}}}}"
    elif steps.some_small:
        yield "  # Whoever still shares all of these with too few others is left out."
        yield f"  - {{do: suppress_strata, by: {yaml_list(steps.keys)}, min_count: {steps.smallest}}}"


def _step(parameters: Mapping[str, Any], columns: Sequence[str]) -> str:
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
    if any(g.variable.role == Role.RECORD for g in ids):
        yield "  # protect --crosswalk FILE writes old and new ones side by side, for you alone."
    for guess in ids:
        if guess.name in shared:
            yield "  # Another table has these ids too: others of its own keep anybody from putting the two together."
        number = guess.name not in shared and not guess.variable.missing  # which join with nothing, and bear no codes
        form = ", format: number" if number else ""
        yield f"  - {{do: pseudonymise, columns: {yaml_list([guess.name])}, scope: table{form}}}"


def _unknown(steps: Steps, guesses: Sequence[Guess]) -> Iterator[str]:
    """The question that only the custodian can answer, where a column is released on which it is to be asked."""
    gone = {*steps.dropped, *steps.crowded, *steps.keys}
    if any(g.name not in gone and g.variable.role not in (Role.KEY, *IDS) for g in guesses):
        yield "# Columns that leave unchanged count as known to others. Name here those that nobody outside can know of"
        yield '# anybody, and write why in place of "?": the reason is published.'
        yield "unknown:"
        yield f'  - {{columns: {OTHERS}, because: "{OPEN}"}}'


def _limits(steps: Steps) -> Iterator[str]:
    rows = [f"  - {{measure: k_anonymity, at_least: {K}}}"] if steps.keys or steps.constant else []
    if steps.averaged:
        rows += [
            f"  - {{measure: {name}, at_most: {_MOST_LINKED}}}" for name in ("linkage_nearest", "linkage_one_to_one")
        ]
    if rows:
        yield "# What must hold, or the release is not written."
        yield "limits:"
        yield from rows
