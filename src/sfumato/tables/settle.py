"""What a custodian settles of single cells, and which columns of a table leave the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sfumato.data.files.priors import Prior
from sfumato.errors import DataError
from sfumato.tables.axis import TOTAL
from sfumato.tables.table import (
    CELL_KEY,
    CONTRIBUTORS,
    COST,
    LARGEST,
    LOWER,
    LOWER_LEVEL,
    PROVED,
    SECOND,
    STATUS,
    UPPER,
    UPPER_LEVEL,
    Table,
)

__all__ = ["internal", "published", "settled"]


def settled(table: Table, priors: Sequence[Prior]) -> Table:
    """Set what an a-priori file says of single cells; it goes before what rules said.

    Parameters
    ----------
    table
        A table, judged where statuses are to hold against rules.
    priors
        What is settled, codes in the order of the table's variables.

    Returns
    -------
    Table
        With statuses, levels, and costs where there are any.

    Raises
    ------
    DataError
        Where a cell has a code that the table does not have; the message names the variable.

    Examples
    --------
    >>> table = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]}))
    >>> settled(table, [Prior(("f",), status="u"), Prior(("m",), cost=7.0)]).cells["status"].to_list()
    ['s', 'u', 's']
    """
    if not priors:
        return table
    lines = _lines(table, priors)
    status = table.cells[STATUS].cast(pl.String) if STATUS in table.cells.columns else pl.Series(["s"] * len(table))
    letters = np.array(status.fill_null("s").to_list(), dtype="<U1")
    figures = {name: _figures(table, name) for name in (COST, LOWER_LEVEL, UPPER_LEVEL)}
    for line, prior in zip(lines, priors, strict=True):
        if line is None:
            continue
        if prior.status is not None:
            letters[line] = prior.status
        if prior.cost is not None:
            figures[COST][line] = prior.cost
        if prior.levels is not None:
            letters[line] = "u"
            figures[LOWER_LEVEL][line], figures[UPPER_LEVEL][line] = prior.levels
    for name in (LOWER_LEVEL, UPPER_LEVEL):
        figures[name] = np.where(letters == "u", np.nan_to_num(figures[name]), np.nan)
    columns = {n: pl.Series(x).fill_nan(None) for n, x in figures.items() if n != COST or not np.all(np.isnan(x))}
    return table.with_columns(**{STATUS: pl.Series(letters), **columns})


def _figures(table: Table, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = table.column(name)
    return np.full(len(table), np.nan) if found is None else found.copy()


def _lines(table: Table, priors: Sequence[Prior]) -> list[int | None]:
    """The line of each cell; None where it is empty, of which there is nothing to settle."""
    asked = pl.DataFrame({name: [prior.codes[i] for prior in priors] for i, name in enumerate(table.variables)})
    numbered = table.cells.select(table.variables).with_row_index("sfumato:line")
    found = asked.join(numbered, on=table.variables, how="left", maintain_order="left")["sfumato:line"]
    for axis in table.axes:
        if not set(asked[axis.name].to_list()) <= set(axis.codes):
            raise DataError(
                f"The a-priori file settles a cell with a code that {axis.name!r} does not have. It takes codes of "
                f"{', '.join(map(repr, table.variables))}, in this order, and {TOTAL} or nothing for a total."
            )
    return found.to_list()


def internal(table: Table) -> pl.DataFrame:
    """The columns of a table file for the custodian: all but those that live in memory only.

    Examples
    --------
    >>> internal(Table.of(pl.DataFrame({"sex": ["f"], "count": [9], "contributors": [9]}))).columns
    ['sex', 'count', 'contributors']
    """
    known = (CONTRIBUTORS, LARGEST, SECOND, STATUS, LOWER_LEVEL, UPPER_LEVEL, LOWER, UPPER, CELL_KEY, PROVED)
    return table.cells.select(*table.variables, table.value, *(n for n in known if n in table.cells.columns))


def published(table: Table, letters: bool = False) -> Table:
    """A protected table as it is handed out: no value of a hidden cell; no contributors, contributions or levels.

    Parameters
    ----------
    table
        A table with statuses.
    letters
        Whether it tells which of the hidden cells are unsafe (`u`); else all of them are `x`.

    Raises
    ------
    DataError
        For a table without statuses.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["f", "m"], "count": [9, 1], "contributors": [9, 1], "status": ["s", "u"]})
    >>> published(Table.of(rows)).cells.rows()
    [('f', 9, 's'), ('m', None, 'x')]
    """
    if STATUS not in table.cells.columns:
        raise DataError("The table has no statuses: it was not judged, so it is not protected.")
    kept = [n for n in (STATUS, LOWER, UPPER) if n in table.cells.columns]
    hidden = pl.col(STATUS).is_in(["u", "x"])
    shown = (
        pl.when(pl.col(STATUS) == "z").then(pl.lit("s")).otherwise(pl.col(STATUS))
    )  # that it was settled is nobody's
    letter = shown if letters else pl.when(hidden).then(pl.lit("x")).otherwise(shown)
    cells = table.cells.select(
        *table.variables,
        pl.when(~hidden).then(pl.col(table.value)).alias(table.value),
        *(letter.alias(n) if n == STATUS else n for n in kept),
    )
    released = replace(table.released, rule=None)
    return replace(table, cells=cells, notes=(), contributions=None, released=released)
