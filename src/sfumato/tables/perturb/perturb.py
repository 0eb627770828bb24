"""Perturb a table by cell keys: counts by transition tables, sums by multiples of their largest contributions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, SIGNIFICANT, decimals, significant
from sfumato.tables.equations import equations
from sfumato.tables.perturb.counts import count_noise, transitions
from sfumato.tables.perturb.magnitudes import Flex, magnitude_noise, steps
from sfumato.tables.table import CELL_KEY, CONTRIBUTORS, STATUS, Table, is_count, largest_name

__all__ = ["Perturbed", "perturb"]

Floats = NDArray[np.float64]
COUNTS = (5, 3.0)
"""Largest change and variance of counts, where nothing is said."""
_DIGITS = 9
SUMS = (5, 2.0)
"""The same of sums, in units of the noise."""
NOT_ADDITIVE = "Every cell was changed by itself, totals too: totals differ from the sums of their parts."


@dataclass(frozen=True)
class Perturbed:
    """A perturbed table.

    Parameters
    ----------
    table
        The table as it may be handed out: codes and perturbed values, nothing else.
    method
        `cell_key`, or `cell_key_magnitude` for sums.
    largest, variance, forbidden
        Largest change D, variance V and the forbidden counts js; of sums in units of the noise.
    cells, changed
        How many cells there are, and how many of them have another value.
    largest_change
        The largest change of a cell.
    d1, d2, d3
        Means over cells of the change, of its share of the true value, and of the change of the square root.
    false_zeros, false_nonzeros
        Cells that became 0, and zeros that became something else.
    additivity_gap
        Largest difference of a total from the sum of its parts; None where the true table has totals that do not add
        up by what is known of its codes.
    notes
        What the custodian should know.
    """

    table: Table
    method: str
    largest: int
    variance: float
    forbidden: int | None
    cells: int
    changed: int
    largest_change: float
    d1: float
    d2: float
    d3: float
    false_zeros: int
    false_nonzeros: int
    additivity_gap: float | None
    notes: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON; the custodian's, for they tell of true values."""
        return {
            "method": self.method,
            "D": self.largest,
            "V": self.variance,
            "js": self.forbidden,
            "cells": self.cells,
            "changed": self.changed,
            "largest_change": self.largest_change,
            "d1": self.d1,
            "d2": self.d2,
            "d3": self.d3,
            "false_zeros": self.false_zeros,
            "false_nonzeros": self.false_nonzeros,
            "additivity_gap": self.additivity_gap,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        return str(self.table.cells._repr_html_())


def perturb(
    table: Table,
    *,
    largest: int | None = None,
    variance: float | None = None,
    forbidden: int = 2,
    exact: bool = False,
    stay: float = 0.0,
    monotone: bool = True,
    weighted: bool = False,
    flex: Flex | None = None,
) -> Perturbed:
    """Add noise to every cell that hangs on the cell's key: the same records have the same noise in every table.

    Parameters
    ----------
    table
        With keys of cells (`build` with `record` and `secret`), of counts or of a value. Sums need their largest
        contributions.
    largest
        Largest change, 5 where nothing is said; of sums, in units of the noise.
    variance
        Variance of the change at most, 3 for counts and 2 for sums where nothing is said.
    forbidden
        Counts from 1 up to this are not published.
    exact, stay, monotone
        Further conditions of transition tables, as in `transitions`; of sums `monotone` only.
    weighted
        Whether counts are sums of sampling weights; then the number of contributors is perturbed, and the count in
        proportion.
    flex
        How large the noise of sums is.

    Returns
    -------
    Perturbed

    Raises
    ------
    DataError
        No keys, hidden values, counts that are not whole, sums without contributions, rows of the transition table that
        cannot be.

    Notes
    -----
    The change of a count has mean 0, and so hides by how much. A zero stays a zero: that nobody is in a cell is told.
    Whoever asks for the same cell again gets the same noise, so there is nothing to average. Of two nested cells that
    differ by one record the noise is independent, of twice the variance. Whoever knows the largest change knows
    each count to within it, and totals and parts together narrow this down: `bounds` says by how much.

    References
    ----------
    Thompson, Broadfoot and Elazar (2013), Methodology for the automatic confidentialisation of statistical outputs from
    remote servers at the Australian Bureau of Statistics. Giessing and Tent (2019), Concepts for generalising tools
    implementing the cell key method to the case of continuous variables. Both: UNECE/Eurostat work sessions on
    statistical data confidentiality.

    Examples
    --------
    >>> import polars as pl
    >>> rows = {"sex": ["Total", "f", "m"], "count": [40, 31, 9], "cell_key": [0.4, 0.05, 0.35]}
    >>> perturb(Table.of(pl.DataFrame(rows))).table.cells.rows()
    [('Total', 40.0), ('f', 28.0), ('m', 8.0)]
    """
    value, key = table.values, _keys(table)
    if np.isnan(value).any():
        raise DataError(f"Column {table.value!r} lacks the values of some cells. Perturb the table with all of them.")
    counted = is_count(table) or weighted
    usual = COUNTS if counted else SUMS
    most, v = largest or usual[0], variance or usual[1]
    if counted:
        rows = transitions(most, v, forbidden, exact=exact, stay=stay, monotone=monotone)
        count = _counts(table, weighted)
        changed = count + count_noise(count, key, rows)
        out = value * np.divide(changed, count, out=np.zeros_like(count), where=count > 0) if weighted else changed
    else:
        if not 1 <= most <= 200 or not 0 < v <= most:
            raise DataError(
                "Of sums, the largest change lies between 1 and 200, and the variance above 0 and up to it."
            )
        own = flex or Flex()
        unsafe = (
            (table.cells[STATUS] == "u").to_numpy() if STATUS in table.cells.columns else np.zeros(len(table), bool)
        )
        noise = magnitude_noise(
            value, _contributions(table, len(own.shares)), key, steps(most, v, monotone), own, unsafe
        )
        out = value + noise
    grid = decimals(value)
    out = np.round(out, grid) + 0.0 if grid < NO_GRID else out
    out = out if counted and not weighted else _in_digits(out)
    leaves = replace(table, cells=table.cells.select(table.variables).with_columns(**{table.value: out}), notes=())
    return _told(table, leaves, most, v, forbidden if counted else None)


def _in_digits(x: Floats) -> Floats:
    """Sums to nine significant digits, each its own: one step for a table would wipe out its small cells.

    All further digits of a sum and its noise would tell which sum it was. At nine (2⁻³⁰) they do no more.
    """
    return np.array([significant(float(one), _DIGITS) for one in x]) + 0.0


def _keys(table: Table) -> Floats:
    key = table.column(CELL_KEY)
    if key is None:
        raise DataError(
            f"The table has no keys of cells (column {CELL_KEY!r}). Build it with them: --cell-keys --record id "
            "--secret-file key (`record`, `secret`)."
        )
    if not np.all((key >= 0) & (key < 1)):
        raise DataError(f"Column {CELL_KEY!r} takes a number from 0 to below 1 for every cell.")
    return key


def _counts(table: Table, weighted: bool) -> Floats:
    count = table.column(CONTRIBUTORS) if weighted else table.values
    if count is None:
        raise DataError(f"Weighted counts are perturbed by the number of contributors: a column {CONTRIBUTORS!r}.")
    if np.any(~(count >= 0)) or np.any(count != np.floor(count)):
        raise DataError(
            "Counts that are perturbed are whole and not negative. Sums of sampling weights are told by --weighted "
            "(`weighted`), other values by --value."
        )
    return count


def _contributions(table: Table, ranks: int) -> list[Floats]:
    found = [table.column(largest_name(rank)) for rank in range(1, ranks + 1)]
    if missing := [largest_name(i) for i, one in enumerate(found, 1) if one is None]:
        raise DataError(
            f"Noise of sums goes by their largest contributions: column {missing[0]!r} is missing. Build the table "
            "from records (third and further ones are kept in a folder only)."
        )
    own = [one for one in found if one is not None]
    if any(np.any((~(one > 0)) & (table.values != 0)) for one in own[:1]):
        raise DataError("Cells lack their largest contribution, by which their noise goes.")
    return own


def _told(table: Table, leaves: Table, largest: int, variance: float, forbidden: int | None) -> Perturbed:
    old, new = table.values, leaves.values
    change = np.abs(new - old)
    some = old != 0
    gap = _gap(table, new)
    notes = [*table.notes, *([NOT_ADDITIVE] if gap is None or gap > 0 else [])]
    if STATUS in table.cells.columns and table.cells[STATUS].is_in(["u", "x"]).any():
        notes.append("Statuses are left out: every cell is published, perturbed.")
    return Perturbed(
        leaves,
        "cell_key_magnitude" if forbidden is None else "cell_key",
        largest,
        variance,
        forbidden,
        cells=len(table),
        changed=int(np.sum(change > 0)),
        largest_change=significant(float(np.max(change, initial=0.0)), SIGNIFICANT),
        d1=_mean(change),
        d2=_mean(change[some] / np.abs(old[some])),
        d3=_mean(np.abs(np.sqrt(np.abs(old)) - np.sqrt(np.abs(new)))),
        false_zeros=int(np.sum(some & (new == 0))),
        false_nonzeros=int(np.sum(~some & (new != 0))),
        additivity_gap=gap,
        notes=tuple(notes),
    )


def _mean(x: Floats) -> float:
    return float(x.mean()) if len(x) else 0.0


def _gap(table: Table, new: Floats) -> float | None:
    """How far totals are from the sums of their parts; None where the codes do not tell which are parts of which."""
    try:
        merged = equations(replace(table, cells=table.cells.select(*table.variables, table.value)))
    except DataError:
        return None
    system = merged.system
    return float(np.max(np.abs(system.matrix @ merged.gather([new], "min")), initial=0.0))
