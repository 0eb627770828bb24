"""What hiding a cell costs; with a secret, costs that nobody else can work out.

Whoever knows how cells are chosen can run the search on every table that fits what is published, and drop those that
give another pattern. Costs that hang on a secret leave that undecided: each is multiplied by a factor of its own, which
is drawn with the secret for the cell's codes. So the same secret gives the same pattern, in linked tables and next year
too: factors drawn anew would show, pattern by pattern, what the one before hid.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.draws import Draws, Purpose, units
from sfumato.errors import DataError
from sfumato.tables.axis import TOTAL
from sfumato.tables.table import CONTRIBUTORS, COST, Table

__all__ = ["SPREAD", "Costs", "costs_of"]

Floats = NDArray[np.float64]
Costs = Literal["value", "unity", "count"]

SPREAD = 1.5
"""A cost is multiplied by at most exp of that."""


def costs_of(table: Table, cost: Costs, secret: bytes | None = None) -> Floats:
    """What hiding each line of a table costs, shape (lines,).

    Parameters
    ----------
    table
        The table, with costs of single cells where some were settled.
    cost
        The cell's absolute `value`, one each (`unity`), or its `count` of contributors.
    secret
        At least 16 bytes. With it each cost is multiplied by exp(1.5 u), u drawn for the cell's codes.

    Raises
    ------
    DataError
        Costs by count of a table that does not say how many contribute.
    SecretError
        A secret that is too short.

    Examples
    --------
    >>> table = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]}))
    >>> costs_of(table, "value").tolist()
    [9.0, 8.0, 1.0]
    >>> bool((costs_of(table, "unity", bytes(16)) < np.exp(1.5)).all())
    True
    """
    usual = _usual(table, cost)
    own = table.column(COST)
    known = usual if own is None else np.where(np.isnan(own), usual, own)
    return known if secret is None else known * np.exp(SPREAD * _drawn(table, secret))


def _usual(table: Table, cost: Costs) -> Floats:
    if cost == "unity":
        return np.ones(len(table))
    if cost == "count":
        count = table.column(CONTRIBUTORS)
        if count is None:
            raise DataError(f"Costs by count need the number of contributors: a column {CONTRIBUTORS!r}.")
        return np.nan_to_num(count)
    return np.abs(table.values)


def _drawn(table: Table, secret: bytes) -> Floats:
    """A number from 0 to 1 for each line: equal for equal codes, whatever other variables a table has."""
    parts = [
        pl.when(pl.col(name) != TOTAL).then(pl.lit(f"{len(name)}:{name}=") + pl.col(name))
        for name in sorted(table.variables)
    ]
    names = table.cells.select(pl.concat_str(parts, separator="\x00", ignore_nulls=True).alias("cell"))["cell"]
    return Draws(secret).uniform(units("cell:" + names), Purpose("table costs"))
