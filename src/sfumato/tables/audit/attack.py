"""Audit tables as they are handed out: intervals of hidden cells, exact disclosures, cells below their levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, decimals, ends_on_grid
from sfumato.kernels.tabular.attacker import Intervals, Need, inwards
from sfumato.kernels.tabular.determined import motions
from sfumato.progress import Progress, quiet, split
from sfumato.tables.audit.insiders import Inside, found_exactly, found_too_closely
from sfumato.tables.audit.listed import LISTED, listed_cells
from sfumato.tables.audit.rounded import attacked
from sfumato.tables.audit.useless import useless_cells
from sfumato.tables.equations import Merged, System, allowed_of, equations, made_additive
from sfumato.tables.reader import Reader, reader_of_all
from sfumato.tables.table import (
    CONTRIBUTORS,
    COUNT,
    LARGEST,
    LEAST,
    LOWER_LEVEL,
    MOST,
    SINGLE,
    SLIDING_LEVEL,
    STATUS,
    UPPER_LEVEL,
    Table,
)

__all__ = ["Audit", "audit"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

LARGE = 6_000
"""With more hidden cells than this, elimination takes the place of linear programs."""
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
    method
        `programs`: linear programs, every interval; `elimination`: exact disclosure by the equations only.
    exact
        Primary cells that are exactly determined, or published.
    below_level
        Primary cells whose interval is narrower than their protection level asks for; None where no levels are known or
        the method does not tell.
    useless
        Secondary cells that could be published again without harm; None where it was not looked for.
    insider
        Primary cells that somebody who is alone in another hidden cell finds exactly; None where contributors are not
        known.
    insider_below
        Primary cells that hold against outsiders, but which somebody who is alone in another hidden cell, or has the
        largest part of one, bounds more closely than their level allows; None where it was not looked for.
    lower, upper
        For each table, the interval of each of its lines; NaN where it is published, or not worked out.
    problems
        For each table, what is wrong with each of its lines: `exact`, `below level`, `insider`, `insider below level`,
        `useless`, or nothing.
    notes
        What must be said of the figures.
    """

    method: str
    exact: int
    below_level: int | None
    useless: int | None
    insider: int | None = None
    insider_below: int | None = None
    lower: tuple[Floats, ...] = field(default=(), compare=False, repr=False)
    upper: tuple[Floats, ...] = field(default=(), compare=False, repr=False)
    problems: tuple[pl.Series, ...] = field(default=(), compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def passed(self) -> bool:
        """Nothing is exactly determined, and no cell is known to be below its level."""
        return self.exact == 0 and not self.below_level

    def summary(self) -> dict[str, str | int | None]:
        """The figures, as the commands print them."""
        counts: dict[str, str | int | None] = {
            "exact": self.exact,
            "below_level": self.below_level,
            "useless": self.useless,
        }
        return counts if self.method == "programs" else {"method": self.method, **counts}

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
    large: int = LARGE,
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
    large
        With more hidden cells than this the audit is by elimination.
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
    known = _known(merged, released, judged)
    hidden = np.isnan(merged.system.value)
    if hidden.sum() > large:
        return _by_elimination(merged, released, known, hidden)
    search, rest = split(progress, (3, 1))
    readers = reader_of_all(released, lower) if reader is None else [reader.with_least(lower)] * len(released)
    low, high = _bounds(merged, released, judged, readers, upper)
    allowed = allowed_of(released, tolerance)
    whole = allowed == 0 and _whole(merged, released, low[hidden], high[hidden])
    found = attacked(merged.system, (low, high), allowed, search)
    if whole:
        found = inwards(found, hidden)
    fit = _EXACT * np.nanmax(np.abs([merged.system.value, known.value]), initial=0.0)
    exact = known.primary & (found.high - found.low <= fit)
    shown = found
    if allowed > 0 and (additive := known.additive(merged.system)) is not None:
        # what is close to the truth is told with the truth added up as well; what is shown is from what is handed out
        known, low, high = additive, np.fmin(low, additive.value), np.fmax(high, additive.value)
        found = attacked(replace(merged.system, value=np.where(hidden, np.nan, known.value)), (low, high))
    need = known.need(sliding) if known.leveled else None
    below = None if need is None else known.primary & _short(found, need, known.value, fit)
    rest("looking for cells that need not be hidden", 0.0)
    alone = None if known.inside is None else known.inside.alone
    useless = useless_cells(merged.system.matrix, known.value, hidden, known.primary, need, low, high, alone)
    notes: tuple[str, ...] = (_ROUNDED,) if whole and hidden.any() else ()
    if whole and (low[hidden] < 1).any():
        listed = listed_cells(merged.system.matrix, merged.system.value, hidden, known.primary)
        notes = (*notes, LISTED) if (listed & ~exact).any() else notes
    if need is not None and np.isnan(known.value[known.primary]).any():
        notes = (*notes, _UNJUDGED)
    if hidden.any() and not merged.system.matrix.shape[0]:
        notes = (*notes, _NO_SUMS)
    said = {"exact": exact, "below level": below, "useless": useless}
    if need is not None and below is not None and known.inside is not None:
        rest("looking for what insiders find", 0.7)
        asked = known.primary & ~exact & ~below
        said["insider below level"] = found_too_closely(
            merged.system.matrix, known.value, hidden, asked, need, known.inside, (low, high)
        )
    return _told(merged, released, known, (shown, hidden), said, notes)


_ROUNDED = (
    "All values are whole counts: intervals are rounded inwards to whole numbers. That all other cells are whole too "
    "may narrow them further."
)


_UNJUDGED = (
    "No judged table tells the values and levels of some unsafe cells: of these only exact disclosure was looked for. "
    "Give the judged table of each release (--against again)."
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
    if any(CONTRIBUTORS in t.cells.columns for t in (*judged, *released)):
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
        low, high = reader.bounds(table.cells[STATUS].to_list(), *own)
        lows.append(low)
        highs.append(np.fmin(high, upper))
    return merged.gather(lows, "max", 0.0), merged.gather(highs, "min", np.inf)


def _whole(merged: Merged, released: Sequence[Table], lower: Floats, upper: Floats) -> bool:
    """Whether all that is known are whole counts."""
    told = merged.system.value[~np.isnan(merged.system.value)]
    ends = np.concatenate([lower, upper])
    ends = ends[np.isfinite(ends)]
    return all(t.value == COUNT for t in released) and bool(
        np.all(told == np.round(told)) and np.all(ends == np.round(ends))
    )


def _short(found: Intervals, need: Need, value: Floats, fit: float) -> Bools:
    """Cells whose interval does not reach their levels."""
    short = np.zeros(len(value), dtype=bool)
    far = (value - found.low, found.high - value, found.high - found.low)
    for level, reached in zip((need.lower, need.upper, need.sliding), far, strict=True):
        short |= (level > 0) & (reached < level * (1 - 1e-9) - fit)
    return short


def _by_elimination(merged: Merged, released: Sequence[Table], known: _Known, hidden: Bools) -> Audit:
    still = motions(merged.system.matrix, hidden)
    none = np.full(len(hidden), np.nan)
    exact = known.primary & (still.determined | ~hidden)
    found = Intervals(none, none, 0)
    said = {"exact": exact, "below level": None, "useless": None}
    return _told(merged, released, known, (found, hidden), said, (_ELIMINATED,), "elimination")


_ELIMINATED = (
    "The tables are large: exact disclosure by the equations was looked for, not the intervals of hidden cells."
)


def _told(
    merged: Merged,
    released: Sequence[Table],
    known: _Known,
    seen: tuple[Intervals, Bools],
    said: dict[str, Bools | None],
    notes: tuple[str, ...],
    method: str = "programs",
) -> Audit:
    found, hidden = seen
    if known.inside is not None:
        wholly = found_exactly(merged.system.matrix, hidden, known.primary, known.inside.alone)
        closely = said.get("insider below level")
        said["insider"] = wholly
        said["insider below level"] = None if closely is None else closely & ~wholly
    low, high = merged.spread(found.low, np.nan), merged.spread(found.high, np.nan)
    lower, upper = zip(*(_written(*one) for one in zip(released, low, high, strict=True)), strict=True)
    shown = [np.isnan(t.values) for t in released]
    spread = {
        name: None if cells is None else _own(merged, cells, name, released, known) for name, cells in said.items()
    }
    counts = {name: None if lines is None else _distinct(released, lines) for name, lines in spread.items()}
    problems = []
    for k, table in enumerate(released):
        text = np.full(len(table), None, dtype=object)
        for name in ("useless", "insider below level", "insider", "below level", "exact"):
            lines = spread.get(name)
            if lines is not None:
                text[lines[k]] = name
        problems.append(pl.Series("problem", text.tolist(), dtype=pl.String))
    return Audit(
        method=method,
        exact=counts["exact"] or 0,
        below_level=counts["below level"],
        useless=counts["useless"],
        insider=counts.get("insider"),
        insider_below=counts.get("insider below level"),
        lower=tuple(np.where(s, x, np.nan) for s, x in zip(shown, lower, strict=True)),
        upper=tuple(np.where(s, x, np.nan) for s, x in zip(shown, upper, strict=True)),
        problems=tuple(problems),
        notes=notes,
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
