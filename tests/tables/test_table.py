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


def test_further_figures_of_a_table_without_totals_are_no_variables():
    rows = {"town": [*"aabbcc"], "sex": [*"fmfmfm"], "count": [2, 3, 4, 5, 6, 7]}
    for figures in ([10.5, 20, 20, 20, 20, 20], [101, 250, 390, 470, 120, 130]):
        with pytest.raises(DataError, match=r"'income' is no variable: .* --contributors"):
            Table.of(pl.DataFrame(rows | {"income": figures}))
    # codes that are numbers are variables: they stand in several lines, or no other column tells lines apart
    for codes in ([1, 2, 1, 2, 1, 2], [1, 1, 2, 2, 2, 2]):
        assert Table.of(pl.DataFrame(rows | {"part": codes})).variables == ("town", "sex", "part")
    grid = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4], "count": [5, 6, 7, 8]}
    assert Table.of(pl.DataFrame(grid)).variables == ("a", "b")
