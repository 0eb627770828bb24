import polars as pl
import pytest

import sfumato as sf
from sfumato.data.files.priors import Prior
from sfumato.data.files.tables import read_cells, write_cells
from sfumato.errors import DataError
from sfumato.tables.judge import judge
from sfumato.tables.settle import internal, published, settled
from sfumato.tables.table import RESERVED, Table

ROWS = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]})


def test_what_is_settled_goes_before_rules():
    judged = judge(Table.of(ROWS), "n(3)")
    table = settled(judged, [Prior(("m",), status="s"), Prior(("f",), levels=(2.0, 3.0)), Prior(("Total",), cost=4.0)])
    assert table.cells["status"].to_list() == ["s", "u", "s"]
    assert table.cells.select("lower_level", "upper_level").rows() == [(None, None), (2.0, 3.0), (None, None)]
    assert table.cells["sfumato:cost"].to_list() == [4.0, None, None]


def test_a_cell_that_there_is_not_is_refused():
    with pytest.raises(DataError, match="'sex'") as error:
        settled(judge(Table.of(ROWS)), [Prior(("secret",), status="u")])
    assert "secret" not in str(error.value)


def test_nothing_that_identifies_leaves_the_house(tmp_path):
    rows = ROWS.with_columns(contributors=pl.col("count"), largest=1.0, second=1.0, cell_key=1)
    judged = judge(Table.of(rows), "n(3)")
    out = published(judged)
    assert out.cells.columns == ["sex", "count", "status"]
    assert out.cells.filter(pl.col("status") == "x")["count"].to_list() == [None]
    assert out.cells["status"].to_list() == ["s", "s", "x"]
    assert published(judged, letters=True).cells["status"].to_list() == ["s", "s", "u"]
    with pytest.raises(DataError, match="not judged"):
        published(Table.of(ROWS))


def test_internal_tables_are_read_back(tmp_path):
    judged = judge(Table.of(ROWS.with_columns(contributors=pl.col("count"))), "n(3)")
    write_cells(internal(judged), tmp_path / "t.csv")
    again = Table.of(read_cells(tmp_path / "t.csv", "count", RESERVED))
    assert again.cells.rows() == judged.cells.select(again.cells.columns).rows()


def test_whose_the_contributions_are_does_not_leave():
    records = sf.read(pl.DataFrame({"town": ["a", "a", "b"], "turnover": [5.0, 2.0, 1.5]}))
    judged = judge(sf.tables.build(records, "town", "turnover"), "n(2)")
    assert judged.contributions is not None
    assert settled(judged, [Prior(("a",), cost=7.0)]).contributions is judged.contributions
    assert published(judged).contributions is None
