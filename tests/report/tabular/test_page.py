"""What the page of a table shows: counted by hand."""

import polars as pl
import pytest

from sfumato.data.hierarchy import Hierarchy
from sfumato.report.tabular.page import WIDTHS, page_of
from sfumato.tables.table import Table

AGE = ["Total", "young", "old"]
SEX = ["Total", "f", "m"]
CELLS = pl.DataFrame(
    {
        "age": [a for a in AGE for _ in SEX],
        "sex": SEX * 3,
        "count": [100.0, 60.0, 40.0, 50.0, None, None, 50.0, None, None],
        "status": ["s", "s", "s", "s", "u", "x", "s", "x", "x"],
        "lower": [None, None, None, None, 0.0, 48.0, None, 9.0, 30.0],
        "upper": [None, None, None, None, 5.0, 50.0, None, 11.0, None],
    }
)


def test_cells_are_counted_by_status_and_by_what_they_are_of():
    page = page_of(Table.of(CELLS))
    assert [(letter, cells) for letter, _, cells in page.statuses] == [("s", 5), ("u", 1), ("x", 3)]
    assert [(m.label, m.cells, m.hidden) for m in page.margins] == [
        ("over all", 1, 0),
        ("sex", 2, 0),
        ("age", 2, 0),
        ("age, sex", 4, 4),
    ]


def test_intervals_are_counted_by_their_width():
    # [0, 5] may be zero; [48, 50] is 49 ± 2.04%; [9, 11] is 10 ± 10%; [30, ) has no upper bound
    counts = dict(zip(WIDTHS, page_of(Table.of(CELLS)).widths.counts, strict=True))
    assert counts == {
        "under 5%": 1,
        "5% to 10%": 0,
        "10% to 20%": 1,
        "20% to 50%": 0,
        "50% to 100%": 0,
        "may be zero": 1,
        "no upper bound": 1,
    }


def test_a_table_without_intervals_has_no_widths():
    page = page_of(Table.of(CELLS.select("age", "sex", pl.col("count").fill_null(1))))
    assert page.widths is None
    assert page.statuses == ()


def test_the_table_is_crossed_by_its_two_longest_variables():
    tree = Hierarchy((("young", "all"), ("old", "all")))
    page = page_of(Table.of(CELLS, hierarchies={"age": tree}))
    (crossing,) = page.crossings
    assert (crossing.rows, crossing.columns, crossing.head) == ("age", "sex", ("Total", "f", "m"))
    assert [(depth, code) for depth, code, _ in crossing.lines] == [(0, "Total"), (2, "young"), (2, "old")]
    young = crossing.lines[1][2]
    assert [cell.text for cell in young] == ["50", "", ""]
    assert [cell.between for cell in young] == ["", "0 to 5", "48 to 50"]
    assert crossing.lines[2][2][2].between == "from 30"


@pytest.mark.parametrize(("codes", "shown"), [(60, 1), (5_000, 0)])
def test_a_table_that_is_too_large_is_not_shown(codes, shown):
    names = [f"c{i}" for i in range(codes)]
    assert len(page_of(Table.of(pl.DataFrame({"v": names, "count": [1] * codes}))).crossings) == shown


def test_many_levels_are_counted_by_which_variables_are_summed_over():
    deep = Hierarchy(tuple((f"l{i}", *(f"g{level}-{i >> level}" for level in range(1, 6))) for i in range(64)))
    codes = [c for path in deep.paths for c in path]
    frame = pl.DataFrame({"v": list(dict.fromkeys(codes))}).with_columns(w=pl.lit("k"), count=pl.lit(2))
    both = pl.concat([frame, frame.with_columns(w=pl.lit("Total"))])
    assert len(page_of(Table.of(both, hierarchies={"v": deep})).margins) == 12  # 6 levels by 2
    third = pl.concat([both.with_columns(x=pl.lit("k")), both.with_columns(x=pl.lit("Total"))])
    margins = page_of(Table.of(third, hierarchies={"v": deep})).margins
    assert len(margins) == 24
    fourth = pl.concat([third.with_columns(y=pl.lit("k")), third.with_columns(y=pl.lit("Total"))])
    assert [m.label for m in page_of(Table.of(fourth, hierarchies={"v": deep})).margins][:2] == ["v", "v, y"]
