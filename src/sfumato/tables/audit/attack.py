"""Audit tables as they are handed out: intervals of hidden cells, exact disclosures, cells below their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, decimals, ends_on_grid
from sfumato.kernels.tabular.attacker import Contradiction, Intervals, Need, intervals, inwards
from sfumato.kernels.tabular.determined import motions
from sfumato.kernels.tabular.told import told
from sfumato.kernels.tabular.work import Work
from sfumato.progress import Progress, quiet, split
from sfumato.tables.audit.insiders import Inside, found_exactly, found_too_closely
from sfumato.tables.audit.levels import Levels, goals
from sfumato.tables.audit.rounded import attacked
from sfumato.tables.audit.useless import useless_cells
from sfumato.tables.equations import Merged, System, allowed_of, equations, made_additive
from sfumato.tables.reader import Reader, reader_of_all
from sfumato.tables.table import (
    CONTRIBUTORS,
    LARGEST,
    LEAST,
    LOWER_LEVEL,
    MOST,
    SINGLE,
    SLIDING_LEVEL,
    STATUS,
    UPPER_LEVEL,
    Table,
    is_count,
)
from sfumato.tables.unions.published import unions_of_published

__all__ = ["Audit", "Levels", "audit"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_USUAL = 5_000
"""Up to so many hidden cells the limits are as below; with more, each iteration costs more, and there are fewer."""
_INTERVALS, _LEVELS, _WHOLE, _INSIDE, _USELESS = 300_000, 300_000, 300_000, 40_000, 25_000
"""How many iterations of the solver each look may cost."""
_EXACT = 1e-10
"""Share of the largest value below which an interval has no width."""


class Released(Protocol):
    """What holds a table as it is handed out, such as the result of `protect`."""

    @property
    def table(self) -> Table:
        """The table."""


@dataclass(frozen=True)
class Audit:
    """What an attacker finds.

    Parameters
    ----------
    exact
        Primary cells that are exactly determined, or published.
    below_level
        Primary cells whose interval is proved narrower than their protection level asks for; None where no levels are
        known.
    useless
        Secondary cells that could be published again without harm; None where the work ended before.
    method
        How: by linear programs.
    levels
        What had to be possible for primary cells, and whether it is proved; None where only exact disclosure counts.
    insider
        Primary cells that somebody who is alone in other hidden cells finds exactly; None where contributors are not
        known, and of counts: whoever is in a cell knows no more of it than others.
    insider_below
        Primary cells that hold against outsiders, but which somebody who is alone in another hidden cell, or has the
        largest part of one, bounds more closely than their level allows; None where it was not looked for, or the work
        ended before.
    contributor
        Whether the reader may be a contributor, so that what insiders find exactly, and unsafe sums, are not passed.
    unions
        Sums of hidden cells that totals tell: how many were `judged`, are `unsafe`, and of how many equations not every
        one was judged (`left`). None where a judged table does not say whose contributions are in it.
    lower, upper
        For each table, the interval of each of its lines; NaN where it is published, or not worked out.
    problems
        For each table, what is wrong with each of its lines: `exact`, `below level`, `unproved`, `insider`,
        `insider below level`, `useless`, or nothing.
    notes
        What must be said of the figures.
    """

    exact: int
    below_level: int | None
    useless: int | None
    levels: Levels | None = None
    insider: int | None = None
    insider_below: int | None = None
    contributor: bool = False
    unions: Mapping[str, int] | None = None
    lower: tuple[Floats, ...] = field(default=(), compare=False, repr=False)
    upper: tuple[Floats, ...] = field(default=(), compare=False, repr=False)
    problems: tuple[pl.Series, ...] = field(default=(), compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    method: str = "programs"

    @property
    def passed(self) -> bool:
        """Nothing is exactly determined, and all that had to be possible is proved; by contributors as well."""
        inside = self.contributor and bool(self.insider or (self.unions and self.unions["unsafe"]))
        return self.exact == 0 and not inside and (self.levels is None or self.levels.proved == self.levels.asked)

    def summary(self) -> dict[str, int | None]:
        """The figures, as the commands print them."""
        return {"exact": self.exact, "below_level": self.below_level, "useless": self.useless}

    def without_useless(self) -> Audit:
        """The same where cells are hidden for more than it looked at, so that none may be called useless."""
        problems = tuple(
            pl.Series("problem", [None if p == "useless" else p for p in one], dtype=pl.String) for one in self.problems
        )
        return replace(self, useless=None, problems=problems)

    def insiders(self) -> dict[str, int | None]:
        """The same of insiders, who know what they contributed to another hidden cell."""
        return {"exact": self.insider, "below_level": self.insider_below}


def audit(
    tables: Table | Released | Sequence[Table | Released],
    *,
    against: Table | Sequence[Table] | None = None,
    reader: Reader | None = None,
    lower: float | None = None,
    upper: float = np.inf,
    sliding: bool = False,
    tolerance: float | None = None,
    work: float = 1.0,
    progress: Progress = quiet,
) -> Audit:
    """Attack tables as they are handed out, all of them together.

    What one table hides and another tells is told; so several releases of the same data are audited as one.

    Parameters
    ----------
    tables
        One or several, with a `status`; hidden cells have no value. Where no status is `u` (both are `x` in public
        files), every hidden cell counts as primary.
    against
        A judged table, or several: true values, which cells are primary, their levels, contributors.
    reader
        What readers know of hidden cells; else what the documentation of each table says, else what its file shows.
    lower, upper
        That more is known of every hidden cell, or what a file without documentation does not say.
    sliding
        Whether only the width of an interval counts, which must be that of both levels together.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding; else what papers say.
    work
        How many times the usual number of iterations of the solver it may cost. Exact disclosure by the equations is
        found in any case; what else is not decided by then is `unproved`, or not there.
    progress
        Told how far it is.

    Raises
    ------
    DataError
        Tables that contradict each other or the bounds; a judged table of other variables.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5, 3, None], "status": ["s", "s", "u"]})
    >>> audit(Table.of(rows)).summary()
    {'exact': 1, 'below_level': None, 'useless': 0}
    """
    given = tables if isinstance(tables, list | tuple) else (tables,)
    released = tuple(table if isinstance(table, Table) else table.table for table in given)
    judged = () if against is None else (against,) if isinstance(against, Table) else tuple(against)
    if not released:
        raise DataError("There is no table to audit.")
    known_of = [set(table.variables) for table in released]
    if odd := next((one for one in judged if set(one.variables) not in known_of), None):
        raise DataError(
            f"The judged table is by {', '.join(map(repr, odd.variables))}, and no table that is audited has these "
            "variables. Give the one that --internal wrote beside it."
        )
    merged = equations(*released, tolerance=tolerance)
    readers = reader_of_all(released, lower) if reader is None else [reader.with_least(lower)] * len(released)
    attack = _Attack(
        merged,
        _known(merged, released, judged),
        _bounds(merged, released, judged, readers, upper),
        allowed_of(released, tolerance),
        whole=all(one.whole for one in readers),
        sliding=sliding,
        work=work,
    )
    search, rest = split(progress, (3, 1))
    try:
        attack.find(search)
    except Contradiction:
        if lower is None and any(
            t.released.reader is None and one.least > 0 for t, one in zip(released, readers, strict=True)
        ):
            raise DataError(_ZEROS) from None
        raise
    attack.judge()
    rest("looking for cells that need not be hidden", 0.0)
    attack.look_for_useless()
    rest("looking for what insiders find", 0.7)
    attack.look_inside()
    unions = unions_of_published(released[0], judged[0]) if len(released) == len(judged) == 1 else None
    contributor = any(one.contributor for one in (*readers, *(t.released.reader for t in judged if t.released.reader)))
    found = replace(_told(merged, released, attack), contributor=contributor)
    if unions is None:
        return found
    return replace(found.without_useless() if contributor else found, unions=unions.to_plain())


class _Attack:
    """One attack: the tables as one system, what is known of it, and what is found, step by step."""

    def __init__(
        self,
        merged: Merged,
        known: _Known,
        bounds: tuple[Floats, Floats],
        allowed: float,
        *,
        whole: bool,
        sliding: bool,
        work: float,
    ) -> None:
        self.system, self.known, self.bounds, self.allowed = merged.system, known, bounds, allowed
        self.hidden = np.isnan(merged.system.value)
        self.whole = whole and allowed == 0
        self.need = known.need(sliding)
        self.leveled = known.leveled
        self.fit = _EXACT * np.nanmax(np.abs([merged.system.value, known.value]), initial=0.0)
        # of larger tables every iteration costs more, and there are more unknowns besides
        self.work = work * min(1.0, (_USUAL / max(int(self.hidden.sum()), 1)) ** 2)
        self.exact = self.free = np.zeros(len(self.hidden), dtype=bool)
        self.said: dict[str, Bools | None] = {}

    def budget(self, iterations: int) -> Work:
        """So much work, times what was allowed."""
        return Work(iterations * self.work)

    def find(self, progress: Progress) -> None:
        """What readers find from what is handed out: intervals, and which cells are determined."""
        unsafe = self.known.primary
        found = attacked(self.system, self.bounds, self.allowed, self.budget(_INTERVALS), progress)
        still = motions(self.system.matrix, self.hidden).determined
        if self.whole and self.hidden.any():
            found = self._as_whole_numbers(inwards(found, self.hidden))
        else:
            self.free = found.seen_high - found.seen_low > self.fit
        self.found = found
        self.exact = unsafe & (~self.hidden | still | (found.high - found.low <= self.fit))

    def _as_whole_numbers(self, found: Intervals) -> Intervals:
        """What is found by those who know that all hidden cells are whole numbers, all of them together."""
        decided = told(
            self.system.matrix,
            self.system.value,
            self.hidden,
            *self.bounds,
            self.known.primary,
            truth=self.known.value,
            work=self.budget(_WHOLE),
        )
        self.free = decided.free
        low, high = (np.where(decided.told, decided.value, end) for end in (found.low, found.high))
        return replace(found, low=low, high=high, sharp=found.sharp | (low == high))

    def judge(self) -> None:
        """Which goals are reached."""
        known, ends, fit = self.known, self.bounds, self.fit
        found = self.found
        if self.leveled:
            hidden, value = self.hidden, known.value
            if self.allowed > 0 and (additive := known.additive(self.system)) is not None:
                # what is close to the truth is told with the truth added up as well
                self.known = known = additive
                value, ends = known.value, (np.fmin(ends[0], known.value), np.fmax(ends[1], known.value))
                self.bounds = ends
            asked = np.flatnonzero(known.primary & hidden & ~np.isnan(value))
            reached = intervals(
                self.system.matrix, value, hidden, *ends, asked, need=self.need, work=self.budget(_LEVELS)
            )
            found = reached if self.allowed > 0 else _both(found, reached)
            if not self.whole:
                self.free = self.free | (reached.seen_high - reached.seen_low > fit)
        levels = self.need if self.leveled else Need(*(np.zeros(len(self.hidden)),) * 3)
        self.goals = goals(known.primary, known.value, levels, found, (self.exact, self.free), fit, each=self.whole)
        self.said["exact"], self.said["unproved"] = self.exact, self.goals.unproved
        self.said["below level"] = self.goals.below if self.leveled else None

    def look_for_useless(self) -> None:
        """Which hidden cells could be published again."""
        known = self.known
        self.said["useless"] = useless_cells(
            self.system.matrix,
            known.value,
            self.hidden,
            known.primary,
            self.need if self.leveled else None,
            *self.bounds,
            known.inside,
            self.budget(_USELESS),
            whole=self.whole,
        )

    def look_inside(self) -> None:
        """What those find who are alone in hidden cells, or have the largest part of one."""
        known, matrix = self.known, self.system.matrix
        if known.inside is None:
            return
        self.said["insider"] = wholly = found_exactly(matrix, self.hidden, known.primary, known.inside)
        if self.leveled:
            asked = known.primary & ~self.exact & ~self.goals.below
            closely = found_too_closely(
                matrix, known.value, self.hidden, asked, self.need, known.inside, self.bounds, self.budget(_INSIDE)
            )
            self.said["insider below level"] = None if closely is None else closely & ~wholly

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said of the figures."""
        some = bool(self.hidden.any())
        said = {
            _ROUNDED: self.whole and some,
            _NOT_ALL: bool((self.hidden & ~self.found.sharp).any()),
            _UNJUDGED: self.leveled and bool(np.isnan(self.known.value[self.known.primary]).any()),
            _NO_SUMS: some and not self.system.matrix.shape[0],
        }
        return tuple(note for note, holds in said.items() if holds)


def _both(one: Intervals, other: Intervals) -> Intervals:
    """What two attacks found together."""
    low, high = np.fmax(one.low, other.low), np.fmin(one.high, other.high)
    seen = np.fmin(one.seen_low, other.seen_low), np.fmax(one.seen_high, other.seen_high)
    return replace(one, low=low, high=high, seen_low=seen[0], seen_high=seen[1])


_ROUNDED = (
    "All values are whole counts: which of them are told is decided with all hidden cells whole together, or left "
    "unproved. Intervals of the others are rounded inwards; all cells together may narrow them further."
)
_NOT_ALL = (
    "The work ended before the intervals of all hidden cells were worked out; those of some are left empty. More work "
    "(--work, `work`) gives more of them."
)
_UNJUDGED = (
    "No judged table tells the values and levels of some unsafe cells: of these only exact disclosure was looked for. "
    "Give the judged table of each release (--against again)."
)
_ZEROS = (
    "No table fits what is published if every hidden count is 1 or more. Where empty cells may be hidden too, say so: "
    "--lower 0 (`lower=0`). Else the file contradicts itself."
)
_NO_SUMS = (
    "The tables list no totals of anything, so there was nothing to add and subtract. Where codes are totals of "
    "others, say so (--hierarchy, `hierarchies`); equations of cells by number are in their .jj file (--against)."
)


@dataclass(frozen=True)
class _Known:
    """What had to be protected, for the cells of the system."""

    primary: Bools
    value: Floats
    lower_level: Floats
    upper_level: Floats
    sliding_level: Floats
    inside: Inside | None
    lines: tuple[Bools, ...]

    def need(self, sliding: bool) -> Need:
        """How wide the intervals must be."""
        none = np.zeros(len(self.value))
        if sliding:
            return Need(none, none, np.maximum(self.lower_level + self.upper_level, self.sliding_level))
        return Need(self.lower_level, self.upper_level, self.sliding_level)

    def additive(self, system: System) -> _Known | None:
        """The same with values that add up, where all are known."""
        value = np.where(np.isnan(system.value), self.value, system.value)
        return None if np.isnan(value).any() else replace(self, value=made_additive(system.matrix, value))

    @property
    def leveled(self) -> bool:
        """Whether there are levels to judge by."""
        levels = np.maximum(np.maximum(self.lower_level, self.upper_level), self.sliding_level)
        return bool((levels > 0).any()) and not np.isnan(self.value[self.primary]).all()


def _known(merged: Merged, released: Sequence[Table], judged: Sequence[Table]) -> _Known:
    frames = [_beside(table, judged) for table in released]
    lines = tuple((f["status"] == "u").fill_null(value=False).to_numpy() for f in frames)
    primary = merged.gather(lines, "any") > 0
    hidden = [np.isnan(t.values) for t in released]
    if not primary.any():
        primary = merged.gather(hidden, "any") > 0

    def gathered(name: str, how: str, empty: float) -> Floats:
        columns = [f[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for f in frames]
        return merged.gather(columns, how, empty)  # type: ignore[arg-type]

    value = gathered("value", "max", np.nan)
    inside = None
    everybody = (*judged, *released)
    if any(CONTRIBUTORS in t.cells.columns for t in everybody) and not all(is_count(t) for t in everybody):
        alone = gathered("contributors", "min", np.nan) == 1
        inside = Inside(alone, gathered("largest", "max", np.nan), gathered("single", "max", np.nan))
    below, above, wide = (gathered(f"{name}_level", "max", 0.0) for name in ("lower", "upper", "sliding"))
    return _Known(primary, value, below, above, wide, inside, lines)


_SAID = {
    "status": STATUS,
    "lower_level": LOWER_LEVEL,
    "upper_level": UPPER_LEVEL,
    "sliding_level": SLIDING_LEVEL,
    "least": LEAST,
    "most": MOST,
    "contributors": CONTRIBUTORS,
    "largest": LARGEST,
    "single": SINGLE,
}


def _beside(table: Table, judged: Sequence[Table]) -> pl.DataFrame:
    """What is said of each line of a table: by a judged table of the same variables, else by itself."""
    own = _said(table)
    for other in judged:
        if set(other.variables) == set(table.variables):
            names = list(table.variables)
            said = pl.concat([other.cells.select(names), _said(other)], how="horizontal")
            found = table.cells.select(names).join(said, on=names, how="left", maintain_order="left")
            return found.with_columns(pl.col("status").fill_null(own["status"])).drop(names)
    return own


def _said(table: Table) -> pl.DataFrame:
    cells = table.cells
    columns = {"value": pl.Series(table.values, dtype=pl.Float64).fill_nan(None)}
    for name, column in _SAID.items():
        kind = pl.String if name == "status" else pl.Float64
        columns[name] = (
            cells[column].cast(kind) if column in cells.columns else pl.Series([None] * len(table), dtype=kind)
        )
    return pl.DataFrame(columns)


def _bounds(
    merged: Merged, released: Sequence[Table], judged: Sequence[Table], readers: Sequence[Reader], upper: float
) -> tuple[Floats, Floats]:
    """What is known of each cell before: the most that is said of it in any table."""
    lows, highs = [], []
    for table, reader in zip(released, readers, strict=True):
        frame = _beside(table, judged)
        own = [frame[name].fill_null(np.nan).to_numpy() for name in ("least", "most")]
        letters = table.cells[STATUS].to_list() if STATUS in table.cells.columns else [None] * len(table)
        low, high = reader.bounds(letters, *own)
        lows.append(low)
        highs.append(np.fmin(high, upper))
    return merged.gather(lows, "max", 0.0), merged.gather(highs, "min", np.inf)


def _told(merged: Merged, released: Sequence[Table], attack: _Attack) -> Audit:
    found = attack.found
    low, high = (merged.spread(np.where(found.sharp, end, np.nan), np.nan) for end in (found.low, found.high))
    lower, upper = zip(*(_written(*one) for one in zip(released, low, high, strict=True)), strict=True)
    shown = [np.isnan(t.values) for t in released]
    spread = {
        name: None if cells is None else _own(merged, cells, name, released, attack.known)
        for name, cells in attack.said.items()
    }
    counts = {name: None if lines is None else _distinct(released, lines) for name, lines in spread.items()}
    problems = []
    for k, table in enumerate(released):
        text = np.full(len(table), None, dtype=object)
        for name in ("useless", "insider below level", "insider", "unproved", "below level", "exact"):
            lines = spread.get(name)
            if lines is not None:
                text[lines[k]] = name
        problems.append(pl.Series("problem", text.tolist(), dtype=pl.String))
    return Audit(
        exact=counts["exact"] or 0,
        below_level=counts["below level"],
        useless=counts["useless"],
        levels=attack.goals.levels,
        insider=counts.get("insider"),
        insider_below=counts.get("insider below level"),
        lower=tuple(np.where(s, x, np.nan) for s, x in zip(shown, lower, strict=True)),
        upper=tuple(np.where(s, x, np.nan) for s, x in zip(shown, upper, strict=True)),
        problems=tuple(problems),
        notes=attack.notes,
    )


def _written(table: Table, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends of intervals with the decimals of the values that are published."""
    known = table.values[~np.isnan(table.values)]
    return ends_on_grid(low, high, decimals(known) if len(known) else NO_GRID)


def _own(merged: Merged, cells: Bools, name: str, released: Sequence[Table], known: _Known) -> tuple[Bools, ...]:
    """Lines of the tables that these cells are; copies that are not called primary are left out where `u` is told."""
    lines = merged.spread(cells, False)
    if name == "useless" or not any(mine.any() for mine in known.lines):
        return lines
    return tuple(own & mine for own, mine in zip(lines, known.lines, strict=True))


def _distinct(released: Sequence[Table], lines: Sequence[Bools]) -> int:
    """How many cells these are; one that stands in several tables counts once."""
    if len(released) == 1:
        return int(lines[0].sum())
    names = list(dict.fromkeys(n for t in released for n in t.variables))
    frames = []
    for table, chosen in zip(released, lines, strict=True):
        cells = table.cells.filter(pl.Series(chosen)).select(table.variables)
        absent = [pl.lit("Total").alias(n) for n in names if n not in table.variables]
        frames.append(cells.with_columns(absent).select(names))
    return pl.concat(frames).unique().height
