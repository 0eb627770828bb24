"""The audit of protected tables: the interval of every hidden cell, from codes, published values and statuses alone.

It shares nothing with the methods that hide cells but the equations and the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.attacker import intervals, inwards
from sfumato.progress import Progress, quiet
from sfumato.tables.equations import Merged, equations
from sfumato.tables.table import COUNT, LOWER_LEVEL, STATUS, UPPER_LEVEL, Table

__all__ = ["Audit", "audit"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_CLOSE = 1e-7
"""Share of the largest value within which two ends are one, and a level is reached."""


@dataclass(frozen=True)
class Audit:
    """What can be worked out.

    Parameters
    ----------
    exact
        Unsafe cells whose value is determined; of tables that do not tell which cells are unsafe, hidden ones.
    below_level
        Unsafe cells that are determined more closely than their level allows; None where no levels are known.
    useless
        Hidden cells beside the unsafe ones whose value is determined all the same: they could as well be published.
    low, high
        For each table the interval of each of its lines; a published one's is its value.
    where_exact
        For each table, which of its lines are unsafe and determined.
    method
        How it was found out.
    """

    exact: int
    below_level: int | None
    useless: int | None
    low: tuple[Floats, ...]
    high: tuple[Floats, ...]
    where_exact: tuple[Bools, ...]
    method: str = "linear programs"

    @property
    def ok(self) -> bool:
        """Whether nothing unsafe is determined, or more closely than allowed."""
        return self.exact == 0 and not self.below_level

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "method": self.method,
            "exact": self.exact,
            "below_level": self.below_level,
            "useless": self.useless,
        }


def audit(
    *tables: Table,
    against: Table | None = None,
    tolerance: float | None = None,
    progress: Progress = quiet,
) -> Audit:
    """Attack tables as they are handed out, together.

    Parameters
    ----------
    tables
        One or several tables of the same data. A cell that one of them publishes is known in all.
    against
        The custodian's judged table: which cells are unsafe, their values and levels.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding.
    progress
        Called with what is being done, and the share of the work that is done.

    Raises
    ------
    DataError
        Where tables contradict each other, or `against` is of other variables.

    Notes
    -----
    The attacker knows that no value is negative (unless a published one is), that counts are whole, and every sum. He
    does not know the contribution of anybody: see `singletons` of `protect` for attackers who are in the table.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5, None, 4], "status": ["s", "u", "s"]})
    >>> audit(Table.of(rows)).exact
    1
    """
    tables = tuple(getattr(table, "table", table) for table in tables)
    merged = equations(*tables, tolerance=tolerance)
    value = merged.system.value
    hidden = np.isnan(value)
    letters = [_letters(table) for table in tables]
    told = _Told(tables, merged, against)
    unsafe = told.unsafe if told.unsafe is not None else merged.gather([one == "u" for one in letters], "any") > 0
    unsafe = (unsafe if unsafe.any() else hidden.copy()) & hidden
    negative = bool(np.any(value < 0))
    found = intervals(
        merged.system.matrix,
        value if told.value is None else np.where(hidden, told.value, value),
        hidden,
        -np.inf if negative else 0.0,
        np.inf,
        need=None,
        tolerance=tolerance or 0.0,
        progress=progress,
    )
    if _whole(tables, value):
        found = inwards(found, hidden)
    scale = np.maximum(1.0, np.abs(np.where(np.isfinite(found.high), found.high, 0.0)))
    determined = hidden & (found.high - found.low <= _CLOSE * scale)
    below = told.below(found.low, found.high, unsafe)
    return Audit(
        exact=int((determined & unsafe).sum()),
        below_level=None if below is None else int(below.sum()),
        useless=int((determined & ~unsafe).sum()),
        low=merged.spread(found.low, 0.0),
        high=merged.spread(found.high, 0.0),
        where_exact=merged.spread(determined & unsafe, False),
    )


class _Told:
    """What the custodian's table tells of the cells."""

    def __init__(self, tables: tuple[Table, ...], merged: Merged, against: Table | None) -> None:
        self.unsafe: Bools | None = None
        self.value: Floats | None = None
        self.levels: tuple[Floats, Floats] | None = None
        if against is None:
            return
        lines = [_lines(table, against) for table in tables]
        self.unsafe = merged.gather([_of(_letters(against) == "u", at, 0.0) for at in lines], "any") > 0
        self.value = merged.gather([_of(against.values, at) for at in lines], "max", np.nan)
        own = [against.column(name) for name in (LOWER_LEVEL, UPPER_LEVEL)]
        if own[0] is not None and own[1] is not None:
            low, high = (merged.gather([_of(one, at) for at in lines], "max") for one in own if one is not None)
            self.levels = low, high

    def below(self, low: Floats, high: Floats, unsafe: Bools) -> Bools | None:
        """Unsafe cells whose interval is narrower than asked."""
        if self.levels is None or self.value is None:
            return None
        slack = _CLOSE * np.maximum(1.0, np.abs(self.value))
        near_below = low > self.value - self.levels[0] + slack
        near_above = high < self.value + self.levels[1] - slack
        return np.asarray(unsafe & (near_below | near_above))


def _letters(table: Table) -> NDArray[np.str_]:
    if STATUS not in table.cells.columns:
        return np.where(np.isnan(table.values), "x", "s")
    return np.asarray(table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy(), dtype="<U1")


def _lines(table: Table, against: Table) -> NDArray[np.float64]:
    """The line of the custodian's table that each line is; NaN where it has none."""
    if set(table.variables) != set(against.variables):
        raise DataError("The judged table must have the variables of the table that is audited.")
    numbered = against.cells.select(table.variables).with_row_index("sfumato:line")
    found = table.cells.select(table.variables).join(
        numbered, on=list(table.variables), how="left", maintain_order="left"
    )
    return np.asarray(found["sfumato:line"].cast(pl.Float64).fill_null(float("nan")).to_numpy())


def _of(column: NDArray[Any], lines: Floats, empty: float = np.nan) -> Floats:
    """A column of the custodian's table, line by line of another."""
    out = np.full(len(lines), empty)
    there = ~np.isnan(lines)
    out[there] = column[lines[there].astype(np.int64)]
    return out


def _whole(tables: tuple[Table, ...], value: Floats) -> bool:
    """Whether all are counts, so that hidden ones are whole too."""
    known = value[~np.isnan(value)]
    return all(table.value == COUNT for table in tables) and bool(np.all(known == np.round(known)))
