import polars as pl
import pytest

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.table import Table

ROWS = pl.DataFrame({"sex": ["m", "Total", "f"], "count": [2, 5, 3]})


def test_cells_stand_in_the_order_of_their_codes():
    assert Table.of(ROWS).cells["sex"].to_list() == ["Total", "f", "m"]


def test_the_same_table_from_rows_in_any_order():
    assert Table.of(ROWS).cells.equals(Table.of(ROWS.reverse()).cells)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (pl.concat([ROWS, ROWS[:1]]), {}, "twice"),
        (ROWS, {"value": "turnover"}, "turnover"),
        (ROWS, {"hierarchies": {"sex": Hierarchy((("m",),))}}, "does not list"),
        (ROWS, {"hierarchies": {"age": Hierarchy((("m",),))}}, "no variable"),
        (ROWS.with_columns(count=pl.lit("many")), {}, "text"),
        (ROWS.with_columns(count=-pl.col("count")), {}, "negative"),
        (ROWS.with_columns(sex=pl.lit(None, dtype=pl.String)), {}, "without a code"),
        (ROWS.with_columns(sex=pl.lit("Total"))[:1], {}, "Leave it out"),
        (ROWS, {"contributors": "n"}, "contributors"),
    ],
)
def test_bad_tables_are_refused_without_a_value(rows, options, message):
    with pytest.raises(DataError, match=message) as error:
        Table.of(rows, **options)
    assert "5" not in str(error.value)


def test_further_figures_are_no_variables():
    """Another figure in each line would hold all lines apart: nothing would add up, and nothing be protected."""
    with pytest.raises(DataError, match="'income' is no variable"):
        Table.of(ROWS.with_columns(income=pl.Series(range(70, 70 + len(ROWS))).cast(pl.String)))
    assert len(Table.of(ROWS.with_columns(year=pl.lit("2014")))) == len(ROWS)
