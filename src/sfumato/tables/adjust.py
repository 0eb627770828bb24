"""`adjust`: controlled tabular adjustment, unsafe values moved far enough and others as little as needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, decimals, significant
from sfumato.kernels.tabular.adjustment import adjusted, on_decimals
from sfumato.kernels.tabular.asked import Asked
from sfumato.kernels.tabular.whole_numbers import Solved
from sfumato.tables.equations import Merged, equations
from sfumato.tables.table import CONTRIBUTORS, LOWER_LEVEL, STATUS, UPPER_LEVEL, Table, is_count
from sfumato.tables.zeros import refuse_hidden, with_zeros

__all__ = ["Adjusted", "Costs", "adjust"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Costs = Literal["value", "unity", "count", "root"]
SECONDS = 60.0
SHARE = 0.1
_DIGITS = 12
"""Values are written with so many digits of the largest one: what lies behind is the solver's rounding."""
_SHOWN = 5
_UNLEVELLED = (
    "Unsafe cells without protection levels move by at least 10% of their value; rules on shares (p, pq, nk) give "
    "levels."
)
_NO_UNSAFE = "No value was changed: the table has no unsafe cell (status u)."


@dataclass(frozen=True)
class Adjusted:
    """A table whose unsafe values were moved, and others with them, so that it adds up.

    Parameters
    ----------
    table
        The table as it may be handed out: variables and the value alone, with known empty cells as zeros.
    cells, primary, changed
        Number of cells, empty ones too, of unsafe ones, and of those that have another value.
    largest_change, total_change
        Largest change of a cell, and the sum of all sizes of changes.
    cost
        What the changes cost.
    optimal, gap
        Whether nothing cheaper exists, or by what share it may be cheaper (None: not known).
    method
        `exact`, or `fixed` where directions were fixed beforehand.
    complete
        Whether all empty cells are listed: no other is left of which nothing proves that it is empty.
    notes
        What the custodian should know.
    """

    table: Table
    cells: int
    primary: int
    changed: int
    largest_change: float
    total_change: float
    cost: float
    optimal: bool
    gap: float | None
    method: str
    complete: bool = True
    notes: tuple[str, ...] = field(default=())

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = (
            "cells",
            "primary",
            "changed",
            "largest_change",
            "total_change",
            "cost",
            "optimal",
            "gap",
            "method",
            "complete",
        )
        return {**{name: getattr(self, name) for name in names}, "additive": True, "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        return str(self.table.cells._repr_html_())


def adjust(
    table: Table,
    *,
    cost: Costs = "value",
    capacity: float | None = None,
    zeros: bool = False,
    method: Literal["auto", "exact", "fixed"] = "auto",
    seconds: float | None = SECONDS,
    gap: float = 0.0,
    tolerance: float | None = None,
) -> Adjusted:
    """Move every unsafe value of a judged table far enough, and others as little as it takes for totals to add up.

    Parameters
    ----------
    table
        A judged table with all its values: `status`, and `lower_level` and `upper_level` of unsafe cells. An unsafe
        cell moves down by its lower level at least, or up by its upper one. Counts move by 1 at least; sums without
        levels by 10% of their value. Cells with status `z` stay.
    cost
        What a unit of change costs: the `value` (totals hardly move), one (`unity`), the `count` of contributors, or
        the square `root` of the value.
    capacity
        Largest change of a safe cell, as a share of its value; else as far as it takes, but not below 0.
    zeros
        Whether zeros may become something else.
    method
        `exact`: directions are chosen with the rest. `fixed`: they are balanced beforehand, and turned around as long
        as that is cheaper; for large tables. `auto` goes by the number of unsafe cells.
    seconds
        When to stop with the best that was found.
    gap
        The share of the cost at which to stop looking for something cheaper.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding.

    Returns
    -------
    Adjusted
        Counts stay whole.

    Raises
    ------
    DataError
        Without statuses, with hidden or negative values, where the table does not add up, or where unsafe cells cannot
        move so far; the message names them.

    Notes
    -----
    It protects against whoever takes an unsafe cell's published value for the true one: that is off by its level. It
    does not say which cells were changed, nor hide that some were; who knows a cell's neighbours exactly, or an unsafe
    cell's level, can draw conclusions from totals. Several adjustments of one table must not be handed out.

    References
    ----------
    Castro (2006), Minimum-distance controlled perturbation methods for large-scale tabular data protection, European
    Journal of Operational Research 171, 39-52. Hundepool et al. (2012), Statistical Disclosure
    Control, doi:10.1002/9781118348239, chapter 4.

    Examples
    --------
    >>> counts = {"sex": ["Total", "f", "m"], "count": [9, 8, 1], "status": ["z", "s", "u"]}
    >>> levels = {"lower_level": [None, None, 1], "upper_level": [None, None, 2]}
    >>> adjust(Table.of(pl.DataFrame(counts | levels))).table.cells.rows()
    [('Total', 9), ('f', 9), ('m', 0)]
    """
    _refuse(table, capacity, gap, cost)
    listed = with_zeros(table)
    given = listed.table
    problem = _Problem(given, cost, capacity, zeros, tolerance)
    fixed = {"auto": None, "exact": True, "fixed": False}[method]
    found = adjusted(problem.asked, free=fixed, seconds=seconds, gap=gap)
    if found.values is None:
        _refuse_impossible(problem, found, seconds)
    assert found.values is not None
    if not problem.asked.whole and problem.place < NO_GRID:
        found, fits = on_decimals(problem.asked, found, 10.0**-problem.place, seconds)
        problem.place = problem.place if fits else NO_GRID
    assert found.values is not None
    (change,) = problem.merged.spread(found.values, 0.0)
    out = given.values + change
    out = np.round(out, problem.place if problem.place < NO_GRID else _places(out)) + 0.0
    out = out if problem.asked.whole else np.maximum(out, 0.0)
    told = pl.Series(table.value, out)
    cells = given.cells.select(given.variables).with_columns(told.cast(pl.Int64) if problem.asked.whole else told)
    after = Table(given.axes, cells, given.value, (), given.origin)
    after, unlisted = listed.handed_out(after)
    notes = [*problem.notes, *_said(found), *unlisted]
    size = np.abs(out - given.values)
    near = 0.0 if problem.asked.whole else 1e-9 * float(np.abs(out).max(initial=1.0))
    return Adjusted(
        after,
        cells=len(after),
        primary=problem.primary,
        changed=int(np.sum(size > near)),
        largest_change=significant(float(size.max(initial=0.0)), _DIGITS),
        total_change=significant(float(size.sum()), _DIGITS),
        cost=found.cost,
        optimal=found.optimal,
        gap=found.gap,
        method=problem.way(fixed),
        complete=listed.left == "none",
        notes=tuple(notes),
    )


def _refuse(table: Table, capacity: float | None, gap: float, cost: str) -> None:
    if STATUS not in table.cells.columns:
        raise DataError(
            "The table has no statuses: nothing says which cells are unsafe. Judge it first (sfumato table protect "
            "--internal judged.csv, or sf.tables.judge)."
        )
    refuse_hidden(table, "adjusted")
    if (capacity is not None and capacity < 0) or gap < 0:
        raise DataError("Capacity and gap are shares, 0 or more.")
    if cost not in ("value", "unity", "count", "root"):
        raise DataError(f"{cost!r} is no cost. Costs are value, unity, count and root.")
    if is_count(table) and np.any(table.values != np.floor(table.values)):
        raise DataError(f"Column {table.value!r} holds fractions, which are no counts. Name sums otherwise.")


class _Problem:
    """What is asked for, cell by cell of the equations."""

    def __init__(self, table: Table, cost: Costs, capacity: float | None, zeros: bool, tolerance: float | None) -> None:
        self.table = table
        letters = table.cells[STATUS].cast(pl.String).fill_null("w").to_numpy()
        self.primary = int(np.sum(letters == "u"))
        # zeros that may change are cells as others; hidden ones take part in the equations
        live = table
        if zeros:
            live = table.with_columns(**{STATUS: pl.Series(np.where(table.values == 0, "x", letters))})
        self.merged: Merged = equations(live, tolerance=tolerance)
        value = self.merged.system.value
        unsafe = self._has(letters == "u")
        stays = (self._has(letters == "z") & ~unsafe) | ((value == 0) & ~unsafe & (not zeros))
        whole = is_count(table)
        self.place = 0 if whole else decimals(table.values)
        down_level, up_level = (self._level(name, value, whole) for name in (LOWER_LEVEL, UPPER_LEVEL))
        down_level[~unsafe] = up_level[~unsafe] = 0.0
        self.notes: list[str] = [*table.notes] if self.primary else [*table.notes, _NO_UNSAFE]
        if not whole and self.primary and np.any(self._raw(LOWER_LEVEL)[unsafe] <= 0):
            self.notes.append(_UNLEVELLED)
        room = float(up_level.sum() + down_level.sum()) * 2 + 1
        up = np.full(len(value), room) if capacity is None else np.where(value > 0, capacity * value, room)
        up = np.where(unsafe, np.maximum(up_level, room), up)
        down = value.copy() if capacity is None else np.minimum(value, capacity * value)
        down = np.where(unsafe, value, down)
        up[stays] = down[stays] = 0.0
        if self.place < NO_GRID:
            up, down = (
                np.round(np.floor(end * 10.0**self.place + 1e-6) / 10.0**self.place, self.place) for end in (up, down)
            )
        self.asked = Asked(
            self.merged.system.matrix,
            unsafe,
            down_level,
            up_level,
            down,
            up,
            self._costs(cost, value),
            whole,
        )

    def _has(self, lines: Bools) -> Bools:
        return np.asarray(self.merged.gather([lines], "any") > 0)

    def _raw(self, name: str) -> Floats:
        own = self.table.column(name)
        return np.zeros(self.merged.system.size) if own is None else self.merged.gather([own], "max")

    def _level(self, name: str, value: Floats, whole: bool) -> Floats:
        raw = self._raw(name)
        if whole:
            return np.maximum(np.ceil(raw - 1e-9), 1.0)
        far = np.where(raw > 0, raw, np.where(value > 0, SHARE * value, 0.0))
        if self.place == NO_GRID:
            return far
        return np.asarray(np.round(np.ceil(far * 10.0**self.place - 1e-6) / 10.0**self.place, self.place))

    def _costs(self, cost: Costs, value: Floats) -> Floats:
        lines = self.merged.gather([np.ones(len(self.table))], "sum")  # a total with one part is two lines
        if cost == "unity":
            return lines
        if cost == "count":
            count = self.table.column(CONTRIBUTORS)
            if count is None:
                raise DataError(f"Costs by count need the number of contributors: a column {CONTRIBUTORS!r}.")
            return self.merged.gather([np.fmax(count, 1.0)], "sum")
        least = 1.0 if is_count(self.table) else max(float(value[value > 0].min(initial=np.inf)), 1e-9)
        size = np.maximum(value, least if np.isfinite(least) else 1.0)
        size = size / float(size.max(initial=1.0)) * 1e4 if not is_count(self.table) else size
        return lines * (np.sqrt(size) if cost == "root" else size)

    def way(self, asked: bool | None) -> str:
        """What the method came to."""
        from sfumato.kernels.tabular.adjustment import MOST_BINARY

        free = int(self.asked.unsafe.sum()) <= MOST_BINARY if asked is None else asked
        return "exact" if free else "fixed"


def _places(values: Floats) -> int:
    """Decimal places that values of this size are written with."""
    largest = float(np.abs(values).max(initial=1.0))
    return max(0, _DIGITS - 1 - int(np.floor(np.log10(max(largest, 1.0)))))


def _said(found: Solved) -> list[str]:
    if found.optimal:
        return []
    far = "" if found.gap is None else f" (by {found.gap:.2%} at most)"
    return [f"It was not proved that no cheaper adjustment exists{far}."]


def _refuse_impossible(problem: _Problem, found: Solved, seconds: float | None) -> None:
    """Say which unsafe cells cannot move: each by itself, first by what surrounds it."""
    if not found.optimal:
        raise DataError(
            "No adjusted table was found in time. Allow more time (--time-limit, `seconds`), or fix directions "
            "beforehand (--method fixed)."
        )
    from dataclasses import replace

    stuck: list[str] = []
    for cell in np.flatnonzero(problem.asked.unsafe)[:200]:
        alone = np.zeros(len(problem.asked.unsafe), dtype=bool)
        alone[cell] = True
        if adjusted(replace(problem.asked, unsafe=alone), free=True, seconds=5).values is None:
            line = int(np.flatnonzero(problem.merged.cell[0] == cell)[-1])
            codes = problem.table.cells.select(problem.table.variables).row(line, named=True)
            stuck.append(", ".join(f"{n}={c}" for n, c in codes.items()))
        if len(stuck) == _SHOWN:
            break
    where = "Unsafe cells are in each other's way. "
    if stuck:
        where = f"These cannot move as far as they must: {'; '.join(stuck)}. "
    raise DataError(
        f"No adjustment adds up and moves every unsafe cell far enough. {where}Let zeros change (--zeros, `zeros`), "
        "allow larger changes (--capacity, `capacity`), or free cells with status z."
    )
