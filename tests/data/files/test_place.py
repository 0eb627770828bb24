"""Where a table is on a sheet; whole workbooks are read in `test_excel.py`."""

import polars as pl
import pytest

from sfumato.data.files.place import find_table
from sfumato.data.files.sheet import Extent
from sfumato.errors import DataError, FileError

RECORDS = [["1", "f", "30.5"], ["2", "m", "41.25"], ["3", "f", "28"]]


def found(rows, header=None, skip_rows=0, left=1, merged=()):
    width = max(map(len, rows))
    cells = [[*row, *[None] * (width - len(row))] for row in rows]
    frame = pl.DataFrame(cells, schema=[(str(j), pl.String) for j in range(width)], orient="row")
    return find_table(frame, Extent((1, left, len(rows), left + width - 1), 9, merged), header, skip_rows, "It")


def test_names_in_the_first_row():
    place = found([["id", "sex", "age"], *RECORDS])
    assert (place.first, place.columns, place.names, place.notes) == (1, (0, 1, 2), ("id", "sex", "age"), ())
    assert found([["c1", "c2", "c3"], *RECORDS], header=False) == found([["c1", "c2", "c3"], *RECORDS])


def test_empty_columns_between_others_are_left_out():
    place = found([["id", None, " age "], ["1", None, "30"], ["2", " ", "31"]], left=4)
    assert (place.columns, place.left, place.names) == ((0, 2), 3, ("id", " age "))


def test_names_below_a_title():
    for title in (["A study"], [None, "A study"]):
        place = found([title, [None], ["name", "town"], ["Ann", "York"], ["Joe", "Leeds"]])
        assert (place.first, place.names) == (3, ("name", "town"))
        assert "row 3" in place.notes[0]


def test_a_row_that_is_not_full_is_no_title_where_names_cannot_be_told():
    with pytest.raises(DataError, match="Column B .in row 1."):
        found([["name", None], ["Ann", "York"], ["Joe", "Leeds"]])
    with pytest.raises(DataError, match="Column C .in row 1."):
        found([["name", "town"], [None], ["Ann", "York", "x"], ["Joe", "Leeds", "y"]])


def test_rows_that_are_skipped():
    rows = [["A study", "of", "1984"], *RECORDS]
    assert found(rows, skip_rows=1, header=False).names == ("c1", "c2", "c3")
    assert found([["x"], ["id", "sex", "age"], *RECORDS], skip_rows=1).first == 2
    with pytest.raises(FileError, match="below the 4 rows"):
        found(rows, skip_rows=4)
    with pytest.raises(FileError, match="0 or more"):
        found(rows, skip_rows=-1)


def test_merged_cells_matter_among_the_records_of_the_table_only():
    rows = [["id", "sex", "age"], *RECORDS]
    assert found(rows, merged=((1, 1, 1, 1), (2, 7, 3, 7))).first == 1
    with pytest.raises(DataError, match="in column B, C"):
        found(rows, merged=((3, 2, 4, 3),))
