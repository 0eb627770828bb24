"""Which steps a table needs so that hardly anybody in it can be found: the choice behind a drafted plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from sfumato.data.codebook import Variable
from sfumato.data.kinds import Facts
from sfumato.data.profile import Guess
from sfumato.data.roles import Kind, Role
from sfumato.plan.averaging import hardly_masked, patterns_of
from sfumato.plan.broadening import Broadened, Form, broaden, in_small
from sfumato.plan.coarsening import Level, levels_of, year_of

__all__ = ["BLUR", "MOST_COLUMNS", "K", "Steps", "draft_steps"]

K = 5
"""Fewest people that must be alike."""
BLUR = 0.1
"""Noise on averages, as a share of their records' distances: against releases that are subtracted."""
MOST_COLUMNS = 64
"""Most columns of one `centroids` step."""
_SHARE = 0.05  # of the records, that may be left out
_PLACE = (Role.KEY, Kind.GEOGRAPHIC)
_LARGE = 25_000  # records above which grouping all together takes long


@dataclass(frozen=True)
class Steps:
    """What a drafted plan does.

    Parameters
    ----------
    dropped
        Columns that leave for what they are.
    years
        Dates of which the year stays, with the parameters of the step.
    unread
        Those of `dropped` that hold dates of which it cannot be told how they are written.
    coordinates
        Those of `dropped` that are coordinates.
    crowded
        Keys that leave because too few people would share all of them.
    forms
        What becomes of each key that stays and is not averaged.
    some_small
        Whether records in small combinations of these must be left out.
    smallest
        Fewest records in such a combination.
    averaged
        Numbers to average.
    constant
        Numbers that are keys and have one value only; nothing is done to them.
    filled
        Numbers that are filled in, since they are missing in too many combinations.
    within
        Whether records with the same numbers missing are averaged among each other.
    large
        Whether so many records must be grouped in blocks.
    ranges
        Range of each number that has one.
    """

    dropped: tuple[str, ...] = ()
    years: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    crowded: tuple[str, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    some_small: bool = False
    smallest: int = K
    averaged: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    within: bool = False
    large: bool = False
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that stay and are not averaged."""
        return tuple(self.forms)


def draft_steps(frame: pl.DataFrame, guesses: Sequence[Guess]) -> Steps:
    """Choose the steps.

    Numbers that others may know, or must not learn, are averaged in groups of `K` records with equal keys; where so
    many people share each value that averages would leave it, it is cut into bands. Keys are broadened until their
    combinations are large enough for such groups.

    Parameters
    ----------
    frame
        The table.
    guesses
        What is known of its variables.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.data.profile import profile
    >>> rows = pl.DataFrame({"sex": ["f", "m"] * 50, "bmi": [20 + i / 7 for i in range(100)]})
    >>> steps = draft_steps(rows, profile(rows, Codebook()))
    >>> steps.keys, steps.averaged
    (('sex',), ('bmi',))
    """
    schema = frame.schema  # made anew at each look
    dates = [g for g in guesses if g.variable.kind == Kind.DATE and g.variable.role == Role.KEY and not g.leaves]
    years = {g.name: year for g in dates if (year := year_of(frame.get_column(g.name), g.variable)) is not None}
    levels = _levels(frame, [g for g in guesses if g.name not in years])
    dropped = tuple(g.name for g in guesses if g.name not in {*years, *levels} and (g.leaves or _must_go(g.variable)))
    known = {g.name: g.variable for g in guesses if g.name not in {*dropped, *years}}
    known |= {n: Variable(role=Role.KEY, kind=Kind.CONTINUOUS) for n in years}
    columns = [frame.get_column(n) for n in known if n not in years]  # a name such as `^x$` would select by pattern
    work = pl.DataFrame([*columns, *(year.values for year in years.values())])
    steps = _protecting(work, known, levels)
    useless = {n for n in years if n in steps.crowded}
    places = [g.name for g in guesses if g.variable.kind == Kind.GEOGRAPHIC and schema[g.name].is_numeric()]
    return replace(
        steps,
        dropped=(*dropped, *(n for n in years if n in useless)),
        years={n: year.parameters for n, year in years.items() if n not in useless},
        unread=tuple(g.name for g in dates if g.name not in years),
        coordinates=tuple(n for n in places if n in dropped),
        crowded=tuple(n for n in steps.crowded if n not in useless),
    )


def _levels(frame: pl.DataFrame, guesses: Sequence[Guess]) -> dict[str, tuple[Level, ...]]:
    """Postcodes and codes of classifications, with what steps can leave of them."""
    may = [g for g in guesses if not g.leaves and (g.scheme or (g.variable.role, g.variable.kind) == _PLACE)]
    found = {g.name: levels_of(frame.get_column(g.name), g.variable, g.scheme) for g in may}
    return {n: levels for n, levels in found.items() if levels}


def _must_go(variable: Variable) -> bool:
    if variable.role in (Role.RECORD, Role.WEIGHT, Role.HOUSEHOLD):
        return False
    return variable.role == Role.IDENTIFIER or variable.kind in (Kind.TEXT, Kind.GEOGRAPHIC, Kind.DATE)


def _protecting(
    work: pl.DataFrame, known: Mapping[str, Variable], levels: Mapping[str, Sequence[Level]] | None = None
) -> Steps:
    """What becomes of keys and of sensitive numbers."""
    levels = levels or {}
    numbers = {n: v for n, v in known.items() if n not in levels and _masked(v, work.get_column(n).dtype)}
    facts = {n: Facts(work.get_column(n), v) for n, v in numbers.items()}
    constant = {n: f for n, f in facts.items() if f.values.is_empty() or f.low == f.high}
    fewest = 2 * K if work.height >= 2 * K else K
    rare = tuple(n for n, f in facts.items() if len(f.values) < fewest and n not in constant)
    useless = {*constant, *rare}
    enough = {n: v for n, v in numbers.items() if n not in useless}
    bands = [n for n in hardly_masked(work, enough, K) if known[n].role == Role.KEY]
    cut = set(bands)
    averaged = {n: v for n, v in enough.items() if n not in cut}
    smallest = fewest if averaged else K
    keys = {n: v for n, v in known.items() if n in cut or n in levels or (v.role == Role.KEY and not v.numeric)}
    found = broaden(work, keys, bands, smallest=smallest, share=_SHARE, levels=levels)
    gaps = tuple(n for n in averaged if len(facts[n].values) < work.height)
    within = _within_patterns(work, averaged, keys, bands, smallest, levels) if gaps else None
    if within is not None and within.left == found.left:
        found = within
    else:
        within = None
    return Steps(
        crowded=(*rare, *(n for n, form in found.forms.items() if form.leaves)),
        forms={n: found.forms[n] for n in found.left},
        some_small=found.some_small,
        smallest=smallest,
        averaged=tuple(averaged),
        constant=tuple(n for n in constant if known[n].role == Role.KEY),
        filled=() if within else gaps,
        within=within is not None,
        large=work.height > _LARGE,
        ranges={n: v.range for n, v in known.items() if v.range is not None},
    )


def _within_patterns(
    work: pl.DataFrame,
    averaged: Mapping[str, Variable],
    keys: Mapping[str, Variable],
    bands: Sequence[str],
    smallest: int,
    levels: Mapping[str, Sequence[Level]],
) -> Broadened | None:
    """The keys among records with the same numbers missing; None where these are too few, or told apart by codes."""
    patterns = patterns_of(work, averaged)
    several = any(Facts(work.get_column(n), v).kinds_of_missing > 1 for n, v in averaged.items())
    if several or in_small(patterns, smallest) > _SHARE * work.height:
        return None
    return broaden(work, keys, bands, smallest=smallest, share=_SHARE, apart=patterns, levels=levels)


def _masked(variable: Variable, dtype: pl.DataType) -> bool:
    """Whether it is a number that an intruder may know or must not learn."""
    return variable.numeric and dtype.is_numeric() and (variable.role == Role.KEY or variable.private)
