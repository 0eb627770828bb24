"""Totals of changed cells: sums of the finest ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.tables.table import Table, keyed

__all__ = ["summed"]

Floats = NDArray[np.float64]


def summed(table: Table, values: Floats) -> Floats:
    """Values of all cells where each total is the sum of the finest cells below it.

    Parameters
    ----------
    table
        The table, which lists all its finest cells.
    values
        Changed values, shape (cells,).

    Raises
    ------
    DataError
        Where the finest cells do not add up to the totals: they are not all listed.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 7, 2]})
    >>> summed(Table.of(rows), np.array([10.0, 5.0, 0.0])).tolist()
    [5.0, 5.0, 0.0]
    """
    sizes = [len(axis.codes) for axis in table.axes]
    finest = np.ones(len(table), dtype=bool)
    for column, axis in enumerate(table.axes):
        finest &= np.isin(table.places[:, column], axis.finest)
    places = table.places[finest]
    out, known = np.zeros(len(table)), np.zeros(len(table))
    todo: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = [(places, np.flatnonzero(finest))]
    for column, axis in enumerate(table.axes):
        further = []
        for place, line in todo:
            for code in np.unique(place[:, column]):
                own = place[:, column] == code
                for broader in axis.above[code]:
                    moved = place[own].copy()
                    moved[:, column] = broader
                    further.append((moved, line[own]))
        todo = [(np.concatenate([p for p, _ in further]), np.concatenate([n for _, n in further]))]
    place, line = todo[0]
    wanted = keyed(place, sizes)
    at = np.minimum(np.searchsorted(table.keys, wanted), len(table) - 1)
    there = table.keys[at] == wanted
    np.add.at(out, at[there], values[line[there]])
    np.add.at(known, at[there], table.values[line[there]])
    if np.any(np.abs(known - table.values) > 1e-9 * np.maximum(np.abs(table.values), 1.0)):
        raise DataError(
            "Totals can be sums of changed cells only where the table lists all its finest cells. Leave totals to be "
            "changed by themselves (--totals own)."
        )
    return out
