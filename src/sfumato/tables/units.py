"""Units of cells for keyed draws: the same cell of the same count gets the same draw in every table that holds it."""

from __future__ import annotations

import polars as pl

from sfumato.draws import Words, units
from sfumato.tables.axis import TOTAL
from sfumato.tables.table import Table

__all__ = ["cell_units"]


def cell_units(table: Table) -> Words:
    """The unit of each cell: its `variable=code` pairs without totals, by the name of the variable.

    A cell of one table is so the same in a table of more variables, where the further ones are summed over: rounding
    it again tells nothing new.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    ndarray, shape (cells,), uint64

    Examples
    --------
    >>> one = Table.of(pl.DataFrame({"sex": ["f", "m"], "count": [3, 2]}))
    >>> two = Table.of(pl.DataFrame({"age": ["Total", "old"], "sex": ["f", "f"], "count": [3, 1]}))
    >>> bool(cell_units(one)[0] == cell_units(two)[0]), bool(cell_units(one)[0] == cell_units(two)[1])
    (True, False)
    """
    pairs = [
        pl.when(pl.col(name) != TOTAL).then(pl.lit(f"{_plain(name)}=") + _escaped(pl.col(name).cast(pl.String)))
        for name in sorted(table.variables)
    ]
    return units(table.cells.select(pl.concat_str(pairs, separator=",", ignore_nulls=True)).to_series())


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def _escaped(codes: pl.Expr) -> pl.Expr:
    """Codes of which no two lists give the same text."""
    return codes.str.replace_all("\\", "\\\\", literal=True).str.replace_all(",", "\\,", literal=True)
