"""Draft a plan for a table: what each variable seems to be, with the reason, and steps to begin with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import polars as pl

from sfumato.data.codebook import Missing, Variable
from sfumato.data.extended import shown
from sfumato.data.profile import Guess
from sfumato.data.roles import Kind, Role

__all__ = ["draft_plan"]

_K = 5
_MIN_STRATUM = 2 * _K
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def _quoted(text: str) -> str:
    """A YAML scalar; JSON's strings are YAML's."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(_quoted(n) for n in names) + "]"


def draft_plan(frame: pl.DataFrame, guesses: Sequence[Guess], title: str) -> str:
    """Write a commented plan as YAML: every guess is a line that the user can change.

    Parameters
    ----------
    frame
        The table; used to see which columns may stratify without strata that are too small.
    guesses
        What `profile` proposes.
    title
        Title of the plan.

    Returns
    -------
    str
        A plan that runs as it stands, without data values in it.
    """
    return "\n".join([*_head(title), *_variables(guesses), *_steps(frame, guesses), *_limits(frame, guesses)]) + "\n"


def _head(title: str) -> Iterator[str]:
    yield "# A first plan, drafted from the data. Every line is a guess: read it, and change what is wrong."
    yield "# Roles: identifier (must not leave), key (an intruder may know it), sensitive, outcome, other,"
    yield "#        weight, household, record."
    yield "# Kinds: continuous, integer, categorical, ordinal, date, text, geographic."
    yield "sfumato: 1"
    yield f"title: {json.dumps(title, ensure_ascii=False)}"


def _variables(guesses: Sequence[Guess]) -> Iterator[str]:
    yield "variables:"
    rows = [(f"  {_quoted(g.name)}:", _described(g), g) for g in guesses]
    left = max((len(name) for name, _, _ in rows), default=0)
    middle = max((len(text) for _, text, _ in rows), default=0)
    for name, text, guess in rows:
        doubt = "" if guess.certain else "perhaps: "
        yield f"{name:<{left}} {text:<{middle}}  # {doubt}{guess.reason}"


def _described(guess: Guess) -> str:
    variable = guess.variable
    parts = [f"role: {variable.role}"]
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


def _steps(frame: pl.DataFrame, guesses: Sequence[Guess]) -> Iterator[str]:
    by_name = {g.name: g.variable for g in guesses}
    dates = [
        n for n, v in by_name.items() if v.kind == Kind.DATE and v.role == Role.KEY and frame.schema[n].is_temporal()
    ]
    gone = [g.name for g in guesses if g.name not in dates and (g.leaves or _must_go(g.variable.role, g.variable.kind))]
    yield "steps:"
    if gone:
        yield "  # Direct identifiers, free text, places and further weights leave first."
        yield f"  - {{do: drop, columns: {_listed(gone)}}}"
    for n in dates:
        yield f"  # {n} is coarsened to the year."
        yield f"  - {{do: derive, column: {_quoted(n + '_year')}, formula: {json.dumps(f'year(`{n}`)')}, role: key}}"
    if dates:
        yield f"  - {{do: drop, columns: {_listed(dates)}}}"
    yield from _centroids(frame, by_name)


def _must_go(role: Role, kind: Kind | None) -> bool:
    if role in (Role.RECORD, Role.WEIGHT, Role.HOUSEHOLD):
        return False
    return role == Role.IDENTIFIER or kind in (Kind.TEXT, Kind.GEOGRAPHIC, Kind.DATE)


def _centroids(frame: pl.DataFrame, known: dict[str, Variable]) -> Iterator[str]:
    numbers = _numbers(known)
    if not numbers:
        yield "  # No number looks like one that an intruder could know, so nothing is masked yet."
        return
    by = _strata(frame, known)
    among = f" with equal {', '.join(by)}" if by else ""
    parameters = [f"columns: {_listed(numbers)}"]
    parameters += [f"by: {_listed(by)}"] if by else []
    parameters += [f"k: {_K}", "grouping: mdav"]
    yield f"  # Each value becomes the average of a group of at least {_K} similar records{among}."
    parameters += ["on_small: merge"] if by else []
    clip = [f"{_quoted(n)}: {_bounds(bounds)}" for n in numbers if (bounds := known[n].range) is not None]
    parameters += [f"clip: {{{', '.join(clip)}}}"] if clip else []
    yield f"  - {{do: centroids, {', '.join(parameters)}}}"


def _numbers(known: dict[str, Variable]) -> list[str]:
    """Numbers that an intruder may know or must not learn."""
    return [n for n, v in known.items() if v.numeric and v.role in (Role.KEY, Role.SENSITIVE)]


def _strata(frame: pl.DataFrame, known: dict[str, Variable]) -> list[str]:
    """Categorical keys, those with fewest values first, as long as every combination holds enough records."""
    keys = [n for n, v in known.items() if v.role == Role.KEY and v.kind in (Kind.CATEGORICAL, Kind.ORDINAL)]
    chosen: list[str] = []
    for n in sorted(keys, key=lambda n: (frame[n].n_unique(), n)):
        smallest = frame.group_by([*chosen, n]).len()["len"].min()
        if isinstance(smallest, int) and smallest >= 2 * _MIN_STRATUM:
            chosen.append(n)
    return [n for n in frame.columns if n in chosen]


def _limits(frame: pl.DataFrame, guesses: Sequence[Guess]) -> Iterator[str]:
    known = {g.name: g.variable for g in guesses}
    by = _strata(frame, known)
    rows = [f"  - {{measure: k_anonymity, at_least: {_K}}}"] if by else []
    if _numbers(known):
        rows.append(f"  - {{measure: linkage_nearest, group: {'stratum' if by else 'overall'}, at_most: 0.2}}")
    if rows:
        yield "# What must hold, or the release is not written."
        yield "limits:"
        yield from rows
