"""Empty cells of a table, listed: where values are changed, a listed zero must not differ from an empty cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.tables.axis import TOTAL
from sfumato.tables.table import Table

__all__ = ["MOST", "NOT_LISTED", "refuse_hidden", "with_zeros", "without_zeros"]

MOST = 1_000_000
"""Cells of the cross product above which empty cells are not listed; then no zero is."""
NOT_LISTED = (
    f"The table has too many empty cells to list them ({MOST:,} cells at most), so cells that are published as 0 are "
    "not listed: a cell that is not listed is a published 0."
)


def with_zeros(table: Table) -> Table | None:
    """The table with its empty cells, as zeros; None where that are too many.

    Tables list cells that are not empty. After a change of values a listed zero would be known to have been none.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["f", "m", "m"], "ill": ["no", "no", "yes"], "count": [3, 2, 1]})
    >>> len(with_zeros(Table.of(rows)))
    4
    """
    margins = np.unique(table.places > 0, axis=0)
    codes = [[code for code in axis.codes if code != TOTAL] for axis in table.axes]
    sizes = [int(np.prod([len(c) for c, kept in zip(codes, m, strict=True) if kept], dtype=object)) for m in margins]
    if sum(sizes) > MOST:
        return None
    every = pl.DataFrame(list(_cells(margins, codes)), schema=dict.fromkeys(table.variables, pl.String), orient="row")
    named = list(table.variables)
    listed = table.cells.select(pl.col(named).cast(pl.String))
    empty = every.join(listed, on=named, how="anti")
    if not empty.height:
        return table
    added = empty.with_columns(pl.lit(0).cast(table.cells[table.value].dtype).alias(table.value))
    cells = pl.concat([table.cells.with_columns(pl.col(named).cast(pl.String)), added], how="diagonal")
    return Table(table.axes, cells, table.value, table.notes, table.origin)


def _cells(margins: NDArray[np.bool_], codes: list[list[str]]) -> Iterator[tuple[str, ...]]:
    for margin in margins:
        yield from product(*(c if kept else [TOTAL] for c, kept in zip(codes, margin, strict=True)))


def without_zeros(table: Table) -> Table:
    """The table without the cells that are published as 0."""
    return Table(table.axes, table.cells.filter(pl.col(table.value) != 0), table.value, table.notes, table.origin)


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
