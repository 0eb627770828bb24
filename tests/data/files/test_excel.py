import datetime
import sys
import zipfile

import polars as pl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files import read_table, read_written, write_table
from sfumato.errors import DataError, FileError, MissingExtra

from .tables import MILLISECONDS, as_numbers, assert_same, empty_text_is_missing, frames, round_trip, table

MIDNIGHT = datetime.time()


def as_excel_has_it(frame: pl.DataFrame) -> pl.DataFrame:
    """One type of numbers; times at midnight are dates; no empty text, no empty columns' types, no empty last rows."""
    frame = empty_text_is_missing(frame)
    while frame.height and all(cell is None for cell in frame.row(-1)):
        frame = frame[:-1]
    for name, dtype in frame.schema.items():
        present = frame[name].drop_nulls()
        if present.is_empty():
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        elif dtype == pl.Datetime and all(t.time() == MIDNIGHT for t in present):
            frame = frame.with_columns(pl.col(name).dt.date())
    return as_numbers(frame)


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(dates=st.dates(datetime.date(1900, 3, 1)), datetimes=MILLISECONDS.filter(lambda t: t.year > 1900)))
def test_round_trip(tmp_path, frame):
    """Values come back exactly, all 17 digits of a double too; types as far as Excel has them."""
    expected = as_excel_has_it(frame)
    assume(expected.height)
    assert_same(as_numbers(round_trip(frame, tmp_path / "a.xlsx")[0]), expected)


@pytest.mark.parametrize(
    "cell", ["=1+1", '=HYPERLINK("http://x")', "+44 20", "-2+3", "@SUM(A1)", "{=1}", "http://x.org"]
)
def test_text_is_never_a_formula(tmp_path, cell):
    write_table(table(pl.DataFrame({cell: [cell, "x"]})), tmp_path / "a.xlsx")
    assert read_written(tmp_path / "a.xlsx").frame.to_dict(as_series=False) == {cell: [cell, "x"]}
    parts = zipfile.ZipFile(tmp_path / "a.xlsx")
    sheet = parts.read("xl/worksheets/sheet1.xml").decode()
    assert "<f" not in sheet
    assert "hyperlink" not in sheet
    assert not [name for name in parts.namelist() if "rels" in name and "sheet1" in name]


def test_types(tmp_path):
    frame = pl.DataFrame(
        {
            "whole": [1, 2**53, None],
            "half": [1.5, 2.0, None],
            "yes": [True, None, False],
            "day": [datetime.date(2020, 2, 29), None, None],
            "moment": [datetime.datetime(2020, 1, 1, 10, 0, 0, 123000), None, None],
            "time": [datetime.time(10, 30), None, datetime.time(0)],
        }
    )
    assert_same(round_trip(frame, tmp_path / "a.xlsx")[0], frame)


def test_early_dates_are_text_and_told(tmp_path):
    frame = pl.DataFrame(
        {"born": [datetime.date(1899, 5, 1), datetime.date(1990, 5, 1)], "x": [datetime.date(1900, 3, 1)] * 2}
    )
    back, notes = round_trip(frame, tmp_path / "a.xlsx")
    assert back["born"].to_list() == ["1899-05-01", "1990-05-01"]
    assert back["x"].dtype == pl.Date
    assert [note for note in notes if "1900" in note and "'born'" in note and "'x'" not in note]


def test_what_is_lost_is_told(tmp_path):
    variable = Variable(label="Age", missing=[-9], labels={-9: "refused"}, measure="scale", format="F8.0")
    frame = pl.DataFrame({"age": [1, None], "word": ["", None]})
    notes = write_table(table(frame, Codebook({"age": variable})), tmp_path / "a.xlsx")
    assert len([note for note in notes if "'age'" in note]) == 5
    assert any("'word'" in note for note in notes)
    assert any("rows" in note for note in notes)


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        (["x" * 32_768], FileError),
        (["😀" * 16_384], FileError),
        ([2**53 + 1], FileError),
        ([float("inf")], DataError),
        (["a\0"], FileError),
    ],
)
def test_what_excel_cannot_hold_is_refused(tmp_path, cells, fault):
    with pytest.raises(fault, match="'x'"):
        write_table(table(pl.DataFrame({"x": cells})), tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_the_longest_text_passes(tmp_path):
    frame = pl.DataFrame({"x": ["x" * 32_767, "😀" * 16_383]})
    assert_same(round_trip(frame, tmp_path / "a.xlsx")[0], frame)


def test_too_many_rows(tmp_path):
    with pytest.raises(FileError, match="1,048,575 rows"):
        write_table(table(pl.DataFrame({"x": pl.int_range(1_048_576, eager=True)})), tmp_path / "a.xlsx")


def workbook(path, *sheets):
    book = xlsxwriter.Workbook(path)
    for name, rows in sheets:
        sheet = book.add_worksheet(name)
        for i, row in enumerate(rows):
            sheet.write_row(i, 0, row)
    book.close()
    return path


def test_the_first_of_several_sheets_and_any_other(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ("one", [["a"], [1]]), ("two", [["b"], ["x"]]))
    assert read_table(path).frame.columns == ["a"]
    assert "'one'" in read_table(path).notes[0]
    assert "'two'" in read_table(path).notes[0]
    for sheet in ("two", 1, "1"):
        assert read_table(path, sheet=sheet).frame.columns == ["b"]
        assert read_table(path, sheet=sheet).notes == ()
    for sheet in ("three", 2, -1):
        with pytest.raises(FileError, match="'one', 'two'"):
            read_table(path, sheet=sheet)


@pytest.mark.parametrize(
    ("rows", "fault", "word"),
    [
        ([["a", "a"], [1, 2]], DataError, "Duplicated"),
        ([["a", ""], [1, 2]], DataError, "no name"),
        ([["a", "b"]], DataError, "no rows"),
        ([[]], FileError, "empty"),
    ],
)
def test_sheets_that_are_no_table(tmp_path, rows, fault, word):
    with pytest.raises(fault, match=word):
        read_table(workbook(tmp_path / "a.xlsx", ("one", rows)))


def test_mixed_cells_are_text_with_a_note_wherever_they_stand(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ("one", [["a", "b"], *([[i, "x"] for i in range(1500)]), ["five", "y"]]))
    found = read_table(path)
    assert found.frame.dtypes == [pl.String, pl.String]
    assert found.frame["a"][:2].to_list() == ["0", "1"]
    assert [note for note in found.notes if "numbers and text" in note] == [
        "Column 'a' holds numbers and text; it is read as text."
    ]


def laid_out(path, rows, top=0, left=0, merge=()):
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("one")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell is not None:
                sheet.write(top + i, left + j, cell)
    for first, start, last, end, cell in merge:
        sheet.merge_range(first, start, last, end, cell)
    book.close()
    return path


PEOPLE = [[1, "f", 30.5], [2, "m", 41.25], [3, "f", 28.0]]
NAMED = [["id", "sex", "age"], *PEOPLE]


@pytest.mark.parametrize(("top", "left"), [(0, 0), (4, 0), (0, 3), (7, 2)])
def test_a_table_anywhere_on_the_sheet(tmp_path, top, left):
    found = read_table(laid_out(tmp_path / "a.xlsx", NAMED, top, left))
    assert found.frame.columns == ["id", "sex", "age"]
    assert [list(row) for row in found.frame.rows()] == PEOPLE
    assert found.notes == ()


TITLES = {
    "a title": ([["People of 1984"], *NAMED], (), "row 2"),
    "a title and an empty row": ([["People of 1984"], [], *NAMED], (), "row 3"),
    "a merged title": ([[], *NAMED], ((0, 0, 0, 2, "People of 1984"),), "row 2"),
    "several lines": ([["People"], ["of", "1984"], [], *NAMED], (), "row 4"),
    "groups of names": ([[None, "who", None], *NAMED], (), "row 2"),
    "all text": ([["People"], [], ["name", "sex"], ["Ann", "f"], ["Bob", "m"]], (), "row 3"),
}


@pytest.mark.parametrize("case", TITLES)
def test_what_stands_above_the_names_is_left_out_and_told(tmp_path, case):
    rows, merge, row = TITLES[case]
    found = read_table(laid_out(tmp_path / "a.xlsx", rows, merge=merge))
    assert found.frame.columns[:2] in (["id", "sex"], ["name", "sex"])
    assert row in found.notes[0]
    assert "1984" not in found.notes[0]
    skipped = read_table(tmp_path / "a.xlsx", skip_rows=int(row[4:]) - 1)
    assert_same(skipped.frame, found.frame)
    assert skipped.notes == ()


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([["id", None, "age"], *PEOPLE], "Column B .in row 1. has no name.*--name-blank, which calls it c2 "),
        ([["name", None], ["PLANTED", "f"], ["Bob", "m"]], "Column B .in row 1. has no name"),
        ([["id", "age", "sex"], [1, 30, "f", "PLANTED"], [2, 31, "m"]], "Column D .in row 1. has no name"),
        ([["id", "x", "x"], *PEOPLE], "Duplicated column names: column B .in row 1., column C"),
        ([[4, "PLANTED", 30.5], *PEOPLE], "looks like a record"),
    ],
)
def test_names_that_are_none(tmp_path, rows, word):
    with pytest.raises(DataError, match=word) as caught:
        read_table(laid_out(tmp_path / "a.xlsx", rows))
    assert "PLANTED" not in str(caught.value)


def test_columns_with_a_blank_name_are_called_by_their_place_where_that_is_said(tmp_path):
    path = laid_out(tmp_path / "a.xlsx", [["id", None, "age"], *PEOPLE], top=3, left=25)
    assert read_table(path, name_blank=True).frame.columns == ["id", "c2", "age"]


def test_a_column_without_a_name_is_named_by_its_letter_on_the_sheet(tmp_path):
    with pytest.raises(DataError, match="Column AA .in row 4. has no name"):
        read_table(laid_out(tmp_path / "a.xlsx", [["id", None, "age"], *PEOPLE], top=3, left=25))


def test_a_sheet_without_names(tmp_path):
    found = read_table(laid_out(tmp_path / "a.xlsx", PEOPLE, 2, 1), header=False)
    assert found.frame.columns == ["c1", "c2", "c3"]
    assert [list(row) for row in found.frame.rows()] == PEOPLE
    years = laid_out(tmp_path / "b.xlsx", [[1991, 2004], *[[1990, 2003]] * 3])
    assert read_table(years, header=True).frame.columns == ["1991", "2004"]
    numbered = laid_out(tmp_path / "c.xlsx", [["c1", "c2", "c3"], *PEOPLE])
    assert read_table(numbered, header=False).frame.height == 3
    with pytest.raises(FileError, match="empty below the 9 rows"):
        read_table(numbered, skip_rows=9)


def test_merged_cells(tmp_path):
    rows = [["id", "town"], [1], [2], [3, "York"]]
    with pytest.raises(DataError, match="merged cells among the records, in column B") as caught:
        read_table(laid_out(tmp_path / "a.xlsx", rows, merge=((1, 1, 2, 1, "PLANTED"),)))
    assert "PLANTED" not in str(caught.value)
    heads = [["id"], [None, "low", "high"], [1, 70, 120], [2, 80, 130]]
    with pytest.raises(DataError, match="merged cells.* column C has none"):
        read_table(laid_out(tmp_path / "a.xlsx", heads, merge=((0, 1, 0, 2, "pressure"),)))


@pytest.mark.parametrize("mark", ["n/a", "NA", "-", "NULL", ".", "?"])
def test_marks_of_missing_are_so_in_excel_as_in_csv_and_told(tmp_path, mark):
    day = datetime.date(2020, 2, 29)
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet()
    style = book.add_format({"num_format": "yyyy-mm-dd"})
    for j, (name, cell) in enumerate({"age": 31.5, "whole": 7, "ill": True, "town": "York", "text": "12"}.items()):
        sheet.write_string(0, j, name)
        for i in (1, 2):
            (sheet.write_string if isinstance(cell, str) else sheet.write)(i, j, cell)
        sheet.write_string(3, j, mark)
    sheet.write_string(0, 5, "born")
    for i in (1, 2):
        sheet.write_datetime(i, 5, datetime.datetime(2020, 2, 29), style)
    sheet.write_string(3, 5, mark)
    book.close()
    found = read_table(tmp_path / "a.xlsx")
    assert found.frame.row(0) == (31.5, 7, True, "York", "12", day)
    assert found.frame.row(2) == (None, None, None, mark, mark, None)
    for name in ("age", "whole", "ill", "born"):
        assert [note for note in found.notes if f"{mark!r} is read as missing in column {name!r}." == note], name


@pytest.mark.slow
def test_a_far_cell_does_not_take_all_memory(tmp_path):
    path = tmp_path / "a.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("one")
    for i, row in enumerate(NAMED):
        sheet.write_row(i, 0, row)
    sheet.write("XFD1048576", "PLANTED")
    book.close()
    with pytest.raises(FileError, match="Sheet 'one' .* XFD1048576") as caught:
        read_table(path)
    assert "PLANTED" not in str(caught.value)


def test_formulas_are_read_by_their_results_and_errors_are_missing(tmp_path):
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet()
    sheet.write_string(0, 0, "a")
    sheet.write_formula(1, 0, "=1+1", None, 2)
    sheet.write_formula(2, 0, "=1/0", None, "#DIV/0!")
    book.close()
    assert read_table(tmp_path / "a.xlsx").frame["a"].to_list() == [2, None]


def test_nothing_is_logged_about_empty_columns(tmp_path, caplog):
    read_table(workbook(tmp_path / "a.xlsx", ("one", [["a", "b"], [1, None]])))
    assert caplog.records == []


def test_a_declared_size_that_is_too_large_is_refused(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ("one", [["a"], [1]]))
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")  # In the central directory, the unpacked size stands 24 bytes on.
    data[entry + 24 : entry + 28] = (2**32 - 2).to_bytes(4, "little")
    second = data.index(b"PK\x01\x02", entry + 4)
    data[second + 24 : second + 28] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(FileError, match="4 GiB"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"hello PLANTED", "Excel"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
        (b"PK\x03\x04PLANTED", "Excel"),
    ],
)
def test_what_is_no_workbook(tmp_path, content, word):
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(FileError, match=word) as caught:
        read_table(tmp_path / "a.xlsx")
    assert "PLANTED" not in str(caught.value)


def test_a_zip_that_is_no_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(FileError, match="Excel"):
        read_table(tmp_path / "a.xlsx")


def test_without_the_packages(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", ("one", [["a"], [1]]))
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match=r"sfumato\[files\]"):
        read_table(path)
    with pytest.raises(MissingExtra, match=r"sfumato\[files\]"):
        write_table(table(pl.DataFrame({"a": [1]})), tmp_path / "b.xlsx")
