"""Which steps a table needs so that hardly anybody in it can be found: the choice behind a drafted plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Variable
from sfumato.data.kinds import Facts
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, Kind, Role
from sfumato.plan.averaging import hardly_masked, patterns_of
from sfumato.plan.broadening import Broadened, Form, broaden, in_small
from sfumato.plan.coarsening import Level, levels_of, year_of

__all__ = ["BLUR", "MOST_CELLS", "MOST_COLUMNS", "SHARE", "K", "Steps", "draft_steps"]

K = 5
"""Fewest people that must be alike."""
BLUR = 0.1
"""Noise on averages, as a share of their records' distances: against releases that are subtracted."""
MOST_COLUMNS = 64
"""Most columns of one `centroids` step."""
MOST_CELLS = 0.05
"""Largest share of a key's values that are taken out singly."""
SHARE = 0.05
"""Largest share of the records that are left out."""
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
    cells
        Whether single values are taken out of such records, and they stay.
    averaged
        Numbers to average.
    constant
        Numbers that are keys and have one value only; nothing is done to them.
    within
        Whether records with the same numbers missing are averaged among each other.
    large
        Whether so many records must be grouped in blocks.
    ranges
        Range of each number that has one.
    k
        Fewest people that must be alike.
    codes
        Of each key that stays and is not averaged, the number of each record's category as it will be, 0 where it is
        missing.
    """

    dropped: tuple[str, ...] = ()
    years: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    crowded: tuple[str, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    some_small: bool = False
    smallest: int = K
    cells: bool = False
    averaged: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    within: bool = False
    large: bool = False
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    k: int = K
    codes: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that stay and are not averaged."""
        return tuple(self.forms)


def draft_steps(
    frame: pl.DataFrame,
    guesses: Sequence[Guess],
    k: int = K,
    kept: Collection[str] = (),
    share: float | None = None,
    average: bool = True,
) -> Steps:
    """Choose the steps.

    Numbers that others may know, or must not learn, are averaged in groups of `k` records with equal keys; where so
    many people share each value that averages would leave it, it is cut into bands. So is a number that is missing in
    too many combinations: a gap is a category then. Keys are broadened until their combinations are large enough for
    such groups.

    Parameters
    ----------
    frame
        The table.
    guesses
        What is known of its variables.
    k
        Fewest people that must be alike.
    kept
        Columns that leave last.
    share
        Largest share of the records that may stand in combinations that are too small, where rare categories are
        merged; None: that of the records that may go, and rare categories become missing.
    average
        Whether numbers are averaged where that hides them; else all keys among them are cut into bands.

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
    steps = _protecting(work, known, levels, k, partial(broaden, levels=levels, kept=kept, **_as_asked(share)), average)
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
    if variable.role in (*IDS, Role.WEIGHT):
        return False
    return variable.role == Role.IDENTIFIER or variable.kind in (Kind.TEXT, Kind.GEOGRAPHIC, Kind.DATE)


def _protecting(
    work: pl.DataFrame,
    known: Mapping[str, Variable],
    levels: Mapping[str, Sequence[Level]],
    k: int,
    broadening: Callable[..., Broadened],
    average: bool,
) -> Steps:
    """What becomes of keys and of sensitive numbers."""
    numbers = {n: v for n, v in known.items() if n not in levels and _masked(v, work.get_column(n).dtype)}
    facts = {n: Facts(work.get_column(n), v) for n, v in numbers.items()}
    constant = {n: f for n, f in facts.items() if f.values.is_empty() or f.low == f.high}
    fewest = 2 * k if work.height >= 2 * k else k
    rare = tuple(n for n, f in facts.items() if len(f.values) < fewest and n not in constant)
    enough = {n: v for n, v in numbers.items() if n not in {*constant, *rare}}
    hardly = hardly_masked(work, enough, k) if average else enough
    bands = [n for n in hardly if known[n].role == Role.KEY]
    averaged = {n: v for n, v in enough.items() if n not in set(bands)}

    def broadened(apart: NDArray[np.int64] | None = None) -> Broadened:
        cut = {*bands, *levels}
        keys = {n: v for n, v in known.items() if n in cut or (v.role == Role.KEY and not v.numeric)}
        least = fewest if averaged else k
        return broadening(work, keys, bands, smallest=least, apart=apart)

    found, within = broadened(), False
    while gaps := [n for n in averaged if not facts[n].complete]:
        apart = _patterns(work, averaged, fewest)
        among = None if apart is None else broadened(apart)
        if among is not None and among.left == found.left:
            found, within = among, True
            break
        worst = min(gaps, key=lambda n: (facts[n].kinds_of_missing < 2, len(facts[n].values), n))
        averaged = {n: v for n, v in averaged.items() if n != worst}
        bands.append(worst)
        found = broadened()
    return Steps(
        crowded=(*rare, *(n for n, form in found.forms.items() if form.leaves)),
        forms={n: found.forms[n] for n in found.left},
        some_small=found.some_small,
        smallest=fewest if averaged else k,
        averaged=tuple(averaged),
        constant=tuple(n for n in constant if known[n].role == Role.KEY),
        within=within,
        large=work.height > _LARGE,
        ranges={n: v.range for n, v in known.items() if v.range is not None},
        k=k,
        codes=found.codes,
    )


def _as_asked(share: float | None) -> dict[str, Any]:
    """How keys are broadened: with rare categories merged, or missing."""
    return {"share": SHARE, "merging": False} if share is None else {"share": share, "merging": True}


def _patterns(work: pl.DataFrame, averaged: Mapping[str, Variable], smallest: int) -> NDArray[np.int64] | None:
    """Which numbers each record lacks; None where few records share that, or have them all, or codes say why."""
    patterns = patterns_of(work, averaged)
    facts = [Facts(work.get_column(n), v) for n, v in averaged.items()]
    whole = int(np.all([f.present for f in facts], axis=0).sum())
    if whole < smallest or any(f.kinds_of_missing > 1 for f in facts):
        return None
    return None if in_small(patterns, smallest) > SHARE * work.height else patterns


def _masked(variable: Variable, dtype: pl.DataType) -> bool:
    """Whether it is a number that an intruder may know or must not learn."""
    return variable.numeric and dtype.is_numeric() and (variable.role == Role.KEY or variable.private)
