"""Units of cells: the same cell in every table, and no two cells alike."""

import polars as pl

from sfumato.tables.table import Table
from sfumato.tables.units import cell_units


def test_a_cell_has_one_unit_in_every_table_and_order_of_variables():
    one = Table.of(pl.DataFrame({"town": ["a", "a", "b"], "sex": ["f", "m", "f"], "count": [1, 2, 3]}))
    two = Table.of(
        pl.DataFrame(
            {"sex": ["f", "m", "f"], "ill": ["Total"] * 2 + ["y"], "town": ["a", "a", "a"], "count": [1, 2, 1]}
        )
    )
    first = dict(zip(one.cells.select("town", "sex").rows(), cell_units(one), strict=True))
    second = dict(zip(two.cells.select("town", "sex", "ill").rows(), cell_units(two), strict=True))
    assert first[("a", "f")] == second[("a", "f", "Total")] != second[("a", "f", "y")]
    assert first[("a", "m")] == second[("a", "m", "Total")]
    assert len(set(first.values())) == 3


def test_signs_in_codes_make_no_two_cells_alike():
    rows = {"a": ["x,b=y", "x", "x\\", "x\\\\"], "b": ["Total", "y", "Total", "Total"], "count": [1, 2, 3, 4]}
    assert len(set(cell_units(Table.of(pl.DataFrame(rows))))) == 4
