"""The page of a table of totals."""

import re

import polars as pl

from sfumato.data.disclosure import Disclosure, Imputed
from sfumato.render.tabular import render_table
from sfumato.report.tabular.papers import TablePapers
from sfumato.tables.table import Origin, Table

CELLS = pl.DataFrame(
    {
        "<b>town</b>": ["Total", "<script>alert(1)</script>", "b"],
        "count": [9.0, None, None],
        "status": ["s", "u", "x"],
        "lower": [None, 1.0, 4.0],
        "upper": [None, 5.0, 8.0],
    }
)


def page(papers=None, cells=CELLS, **more):
    table = Table.of(cells)
    return render_table(Table(table.axes, table.cells, **more), papers or TablePapers("Towns"))["report.html"].decode()


def test_nothing_is_run_and_nothing_is_loaded():
    text = page()
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert not re.search(r"(src|href)=\"(?!#)", text)
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_hidden_cells_are_shown_by_signs_that_are_also_told_in_words():
    text = page()
    assert text.count("■") == 2  # the key, and one cell
    assert text.count("□") == 2
    assert "hidden, unsafe" in text
    assert "1 to 5" in text


def test_the_table_can_be_scrolled_by_keyboard():
    assert 'role="region" tabindex="0"' in page()


def test_what_became_of_the_records_is_told():
    origin = Origin(Disclosure([Imputed(columns=("age",), method="median")]), "ab" * 32, "12ef")
    text = page(origin=origin)
    assert "missing values were filled in" in text
    assert "ab" * 32 in text
    assert "12ef" in text


def test_equal_tables_give_equal_pages():
    assert page() == page()


def test_a_table_that_hides_nothing_has_neither_signs_nor_widths():
    text = page(cells=CELLS.select("<b>town</b>", pl.Series("count", [9.0, 5.0, 4.0])))
    assert "■" not in text
    assert "closely" not in text
    assert "Not audited" in text
