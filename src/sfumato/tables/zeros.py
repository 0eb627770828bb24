"""Empty cells of a table, listed: where values are changed, a listed zero must not differ from an empty cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.tables.axis import TOTAL
from sfumato.tables.equations import NOISE, relations
from sfumato.tables.table import SINGLE, Table

__all__ = ["MOST", "NOT_LISTED", "NOT_PROVED", "Zeros", "refuse_hidden", "with_zeros"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

MOST = 1_000_000
"""Cells of the cross product above which empty cells are not listed; then no zero is."""
_ROUNDS = 100
NOT_LISTED = (
    f"The table has too many empty cells to list them ({MOST:,} cells at most), so cells that are published as 0 are "
    "not listed: a cell that is not listed is a published 0, or was not asked for."
)
NOT_PROVED = (
    "Nothing proves that the cells that are not listed are empty, so they stay so. Whoever knows that they are also "
    "knows that a published 0 was none: list empty cells as 0, or give the totals that prove them."
)


@dataclass(frozen=True)
class Zeros:
    """A table with its empty cells as zeros, as far as they are known.

    Parameters
    ----------
    table
        The table.
    left
        Cells that are not listed: `none` but those that were not asked for, `unproved` ones, or too `many`.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["f", "m", "m"], "ill": ["no", "no", "yes"], "count": [3, 2, 1]})
    >>> with_zeros(Table.of(rows)).left
    'unproved'
    """

    table: Table
    left: Literal["none", "unproved", "many"]

    def handed_out(self, changed: Table) -> tuple[Table, list[str]]:
        """The table after values were changed, as it may be handed out, and what the custodian should know."""
        if self.left == "many":
            cells = changed.cells.filter(pl.col(changed.value) != 0)
            return Table(changed.axes, cells, changed.value, changed.notes, changed.origin), [NOT_LISTED]
        return changed, [NOT_PROVED] if self.left == "unproved" else []


def with_zeros(table: Table) -> Zeros:
    """The table with its empty cells as zeros, where that they are empty is sure.

    Tables list cells that are not empty. After a change of values a listed zero would be known to have been none. A
    cell that is not listed may as well not have been asked for: it is empty where the parts of a total add up without
    it, and among the finest cells of a table that was built from records without totals.

    Parameters
    ----------
    table
        The table with all its values, none negative.

    Examples
    --------
    >>> rows = {"sex": ["Total", "Total", "f", "m", "m"], "ill": ["no", "yes", "no", "no", "yes"]}
    >>> table = Table.of(pl.DataFrame(rows | {"count": [5, 1, 3, 2, 1]}))
    >>> with_zeros(table).table.cells.row(3)  # two lines with yes: 1 in all, 1 of the men
    ('f', 'yes', 0)
    """
    margins = np.unique(table.places > 0, axis=0)
    codes = [[code for code in axis.codes if code != TOTAL] for axis in table.axes]
    sizes = [int(np.prod([len(c) for c, kept in zip(codes, m, strict=True) if kept], dtype=object)) for m in margins]
    if sum(sizes) > MOST:
        return Zeros(table, "many")
    every = pl.DataFrame(list(_cells(margins, codes)), schema=dict.fromkeys(table.variables, pl.String), orient="row")
    named = list(table.variables)
    listed = table.cells.with_columns(pl.col(named).cast(pl.String))
    others = every.join(listed, on=named, how="anti")
    if not others.height:
        return Zeros(table, "none")
    unknown = others.with_columns(pl.lit(None).cast(listed[table.value].dtype).alias(table.value))
    full = Table(table.axes, pl.concat([listed, unknown], how="diagonal"), table.value, table.notes, table.origin)
    unlisted = np.isnan(full.values)
    low, high = _within(full)
    empty = unlisted & ((high == 0) | _without_records(table, full))
    cells = full.cells.with_columns(pl.when(pl.Series(empty)).then(0).otherwise(pl.col(table.value)).alias(table.value))
    cells = cells.filter(pl.Series(empty | ~unlisted)).cast({table.value: listed[table.value].dtype})
    told = Table(table.axes, cells, table.value, table.notes, table.origin)
    return Zeros(told, "unproved" if np.any(unlisted & ~empty & (low <= 0)) else "none")


def _cells(margins: Bools, codes: list[list[str]]) -> Iterator[tuple[str, ...]]:
    for margin in margins:
        yield from product(*(c if kept else [TOTAL] for c, kept in zip(codes, margin, strict=True)))


def _within(table: Table) -> tuple[Floats, Floats]:
    """What each cell is at least and at most, narrowed sum by sum."""
    value = table.values
    known = ~np.isnan(value)
    low, high = np.where(known, value, 0.0), np.where(known, value, np.inf)
    rows, cells, signs, _ = relations(table.axes, table.places, table.keys, np.zeros(len(table), dtype=bool))
    if not len(rows):
        return low, high
    part = signs > 0
    row, cell = rows[part], cells[part]
    total = np.empty(int(rows.max()) + 1, dtype=np.int64)
    total[rows[~part]] = cells[~part]
    for _ in range(_ROUNDS):
        before = low.copy(), high.copy()
        least, most = (np.bincount(row, weights=bound[cell], minlength=len(total)) for bound in (low, high))
        np.maximum.at(low, total, least)
        np.minimum.at(high, total, most)
        left = high[total][row] - (least[row] - low[cell])
        noise = NOISE * np.where(np.isinf(left), 0.0, high[total][row] + least[row])
        np.minimum.at(high, cell, np.where(left <= noise, 0.0, left))
        low[known], high[known] = value[known], value[known]
        if all(np.array_equal(x, y) for x, y in zip(before, (low, high), strict=True)):
            break
    return low, high


def _without_records(table: Table, full: Table) -> Bools:
    """Finest cells that no record is in: of a table that was built and lists no others."""
    finest = np.stack([np.isin(full.places[:, i], axis.finest) for i, axis in enumerate(full.axes)], axis=1)
    finest_all: Bools = np.asarray(finest.all(axis=1))
    built = SINGLE in table.cells.columns and bool(finest_all[np.isin(full.keys, table.keys)].all())
    return finest_all & built


def refuse_hidden(table: Table, what: str) -> None:
    """Refuse a table of which values are hidden, or negative."""
    value = table.values
    if np.isnan(value).any():
        raise DataError(
            f"Column {table.value!r} lacks the values of some cells. A table is {what} from all its values: give the "
            "one that was built (or that --internal wrote), not one that was handed out."
        )
    if np.any(value < 0) or not np.isfinite(value).all():
        raise DataError(f"Column {table.value!r} has negative or infinite values: such a table cannot be {what}.")
