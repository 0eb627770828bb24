"""Totals as sums of changed cells: under a hierarchy, and refused where finest cells are not listed."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.round.totals import summed
from sfumato.tables.table import Table


def test_sums_of_every_level():
    tree = {"town": Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath", "South")))}
    rows = {"town": ["Total", "North", "Leeds", "York", "South", "Bath"], "count": [6, 3, 1, 2, 3, 3]}
    table = Table.of(pl.DataFrame(rows), hierarchies=tree)
    own = {"Leeds": 10, "York": 20, "Bath": 5}
    values = np.array([own.get(town, -99) for town in table.cells["town"]], dtype=float)
    got = dict(zip(table.cells["town"], summed(table, values), strict=True))
    assert got == {"Total": 35, "North": 30, "Leeds": 10, "York": 20, "South": 5, "Bath": 5}


def test_totals_without_their_parts_are_refused():
    rows = {"a": ["Total", "x", "y", "x"], "b": ["Total", "Total", "Total", "p"], "count": [9, 5, 4, 5]}
    with pytest.raises(DataError, match="--totals own"):
        summed(Table.of(pl.DataFrame(rows)), np.zeros(4))
