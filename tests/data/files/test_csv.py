import datetime
import itertools

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files import read_table, write_table
from sfumato.data.files.csv import read_csv, write_csv
from sfumato.errors import DataError, FileError

from .tables import INTEGER, MICROSECONDS, assert_same, empty_text_is_missing, frames, round_trip, table


def read(tmp_path, content, **options):
    path = tmp_path / "a.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_csv(path, **options)


def untyped_where_empty(frame: pl.DataFrame) -> pl.DataFrame:
    """A column without any value has no type in CSV; it reads as text."""
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    return frame.with_columns(pl.col(empty).cast(pl.String))


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(integers=INTEGER, datetimes=MICROSECONDS))
def test_round_trip(tmp_path, frame):
    """Numbers, dates and truth values come back exactly, and so does text that does not look like them.

    Not told apart: empty text and missing; a column without values has no type.
    """
    back, notes = round_trip(frame, tmp_path / "a.csv")
    alike = [n for n in frame.columns if any("looks like" in note and repr(n) in note for note in notes)]
    assert back.columns == frame.columns
    assert all(frame.schema[n] == pl.String for n in alike)
    assert_same(back.drop(alike), untyped_where_empty(empty_text_is_missing(frame)).drop(alike))


def test_a_column_alone_whose_texts_hold_another_delimiter_comes_back(tmp_path):
    frame = pl.DataFrame({"q": ["0\t", "0\t", None, "a;b", "a|b", 'say "x;"']})
    assert_same(round_trip(frame, tmp_path / "a.csv")[0], frame)
    plain = pl.DataFrame({"q": ["a", None, "b c"]})
    write_table(table(plain), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == 'q\na\n""\nb c\n'


LATIN = ["Müller", "Jäger", "Größe, die", "Königs; Weg", "Straße | Süd"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"]


@pytest.mark.parametrize(("sign", "encoding", "decimal"), list(itertools.product(",;\t|", ENCODINGS, ".,")))
def test_what_a_file_is_written_in_is_found(tmp_path, sign, encoding, decimal):
    numbers = ["1.5", "22.25", "-3.125", "4.0", "5.5"]
    rows = [
        sign.join([str(i), f'"{name}"', f'"{x.replace(".", decimal)}"' if sign == decimal else x.replace(".", decimal)])
        for i, (name, x) in enumerate(zip(LATIN, numbers, strict=True))
    ]
    content = "\n".join([sign.join(["id", "Name", "Größe"]), *rows]).encode(encoding)
    # With commas between fields, a comma within a number could be a thousands separator: it must be told.
    stated = {"decimal": ","} if sign == decimal == "," else {}
    found = read(tmp_path, content, **stated)
    expected = {"id": range(5), "Name": LATIN, "Größe": [1.5, 22.25, -3.125, 4.0, 5.5]}
    assert_same(found.frame, pl.DataFrame(expected))
    words = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
    assert f"delimiter {words[sign]} (found)" in found.notes[0]
    assert f"decimal {'comma' if decimal == ',' else 'point'}" in found.notes[0]
    assert encoding.removesuffix("-sig") in found.notes[0]


def test_a_guessed_encoding_is_said_to_be_one(tmp_path):
    """Few letters do not tell Central Europe from the West."""
    content = "id;town\n1;Łódź\n2;York\n".encode("cp1250")
    found = read(tmp_path, content)
    assert "(guessed)" in found.notes[0]
    assert "--encoding" in found.notes[1]
    assert "cp1250" in found.notes[1]
    certain = read(tmp_path, content, encoding="cp1250")
    assert certain.frame["town"][0] == "Łódź"
    assert len(certain.notes) == 1
    assert len(read(tmp_path, content.decode("cp1250")).notes) == 1


def test_numbers_with_separators_of_thousands(tmp_path):
    found = read(tmp_path, "id;income;rent\n1;1.234,50;1.100\n2;20.000,00;900\n")
    assert found.frame.rows() == [(1, 1234.5, 1100), (2, 20000.0, 900)]
    assert [n for n in found.notes if "separators of thousands" in n and "'rent'" in n]


def test_an_uncertain_decimal_sign_is_said(tmp_path):
    content = "id;income\n1;1,234\n2;20,500\n"
    found = read(tmp_path, content)
    assert "decimal comma (guessed)" in found.notes[0]
    assert [n for n in found.notes if "'income'" in n and "--decimal" in n]
    assert read(tmp_path, content, decimal=".").frame["income"].to_list() == [1234, 20500]
    assert read(tmp_path, content, decimal=",").frame["income"].to_list() == [1.234, 20.5]
    assert len(read(tmp_path, content, decimal=",").notes) == 1


def test_numbers_in_quotes_between_commas(tmp_path):
    assert read(tmp_path, 'id,x,y\n1,"1,234",0.5\n2,"20,500",1.5\n').frame["x"].to_list() == [1234, 20500]
    found = read(tmp_path, 'id,x\n1,"1.234,50"\n2,"7,25"\n')
    assert found.frame["x"].dtype == pl.String
    assert [n for n in found.notes if "'x'" in n and '--decimal ","' in n]


def test_what_is_given_wins(tmp_path):
    content = "a;b|c;d\n1,5;2|3;4\n"
    found = read(tmp_path, content, delimiter="|", decimal=".", encoding="latin-1")
    assert found.frame.columns == ["a;b", "c;d"]
    assert "encoding latin-1 (given), delimiter vertical bar (given), decimal point (given)" in found.notes[0]
    assert read(tmp_path, "a\tb\n1\t2\n", delimiter="tab").frame.columns == ["a", "b"]
    assert read(tmp_path, "a;b\n1,5;2\n", decimal=".").frame["a"].to_list() == ["1,5"]


def test_types_of_a_file(tmp_path):
    found = read(tmp_path, "id,x,b,d,code,mix\n1,1.5,true,2020-01-31,007,5\n2,,false,,010,five\n")
    frame = found.frame
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.String, pl.String]
    assert frame["d"].to_list() == [datetime.date(2020, 1, 31), None]
    assert frame["code"].to_list() == ["007", "010"]
    assert any("'mix'" in note for note in found.notes)
    assert list(found.codebook) == frame.columns
    assert all(variable == Variable() for variable in found.codebook.values())


def test_an_empty_field_is_missing_quoted_or_not(tmp_path):
    assert read(tmp_path, 'a,b\n"",\nx,1\n').frame.rows() == [(None, None), ("x", 1)]


def test_an_empty_line_is_a_missing_value_in_a_single_column_only(tmp_path):
    assert read(tmp_path, "a\n1\n\n3\n\n").frame["a"].to_list() == [1, None, 3]
    assert read(tmp_path, "\n\na,b\n1,2\n\n3,4\n\n").frame.rows() == [(1, 2), (3, 4)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(tmp_path, end):
    found = read(tmp_path, end.join(["a,b", '1,"two' + end + 'lines"', "2,x", ""]))
    assert found.frame.rows() == [(1, "two" + end + "lines"), (2, "x")]


REFUSED = {
    "short line": (b"a,b\n1,2\n3\n4,5\n", FileError, "line 3 has another number"),
    "long line": (b"a,b\n1,2\n3,4,5\n", FileError, "line 3 has another number"),
    "after text of two lines": (b'a,b\n1,"x\ny"\nPLANTED\n', FileError, "line 4 has another number"),
    "after empty lines": (b"\n\na,b\n\n1,2\nPLANTED\n", FileError, "line 6 has another number"),
    "unclosed quote at the end": (b'a,b\n1,"PLANTED\n2,y\n', FileError, "line 2 is badly quoted"),
    "unclosed quote": (b'a,b\n1,2\n"PLANTED,3\n4,5\n', FileError, "line 3"),
    "duplicated names": (b"a,b,a\n1,2,3\n", DataError, "Duplicated column names: column 1, column 3"),
    "duplicated words that may be data": (b"PLANTED,PLANTED\nx,y\n", DataError, "column 1, column 2"),
    "empty name": (b"a,,c\n1,2,3\n", DataError, "Column 2 has no name.*--name-blank, which calls it c2 "),
    "empty names": (b"a,,c, \n1,2,3,4\n", DataError, "Column 2, column 4 have no name.*calls them c2, c4 "),
    "patterns": (
        b"*,^PLANTED$,c\n1,2,3\n",
        DataError,
        "Column 1, column 2 have a name that would.*Rename.*them c1, c2 ",
    ),
    "blank name": (b"a, ,c\n1,2,3\n", DataError, "Column 2 has no name"),
    "record in place of names": (b"7,PLANTED\n8,x\n", DataError, "--no-header.*--header.*--skip-rows"),
    "lines above": (b"PLANTED\n\na,b,c\n1,2,3\n4,5,6\n", FileError, "first line is not divided.*--skip-rows"),
    "divided lines above": (b"PLANTED,x\n\na,b,c\n1,2,3\n4,5,6\n", FileError, "--skip-rows"),
    "empty": (b"", FileError, "is empty"),
    "empty lines": (b"\r\n\r\n \n", FileError, "is empty"),
    "mark only": (b"\xef\xbb\xbf", FileError, "is empty"),
    "header only": (b"a,b\n", FileError, "header only"),
    "header without end": (b"a,b", FileError, "header only"),
    "single name": (b"a\n", FileError, "header only"),
    "binary": (bytes(range(256)), FileError, "is binary|bytes that are no text"),
    "zero bytes": (b"a,b\n1,PLANTED\0\n", FileError, "is binary|bytes that are no text"),
    "infinite": (b"a,b\n1,inf\n2,3.5\n", DataError, "'b'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(tmp_path, case):
    content, fault, words = REFUSED[case]
    with pytest.raises(fault, match=words) as caught:
        read(tmp_path, content)
    assert "PLANTED" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"encoding": "utf-8"}, "no text in utf-8"),
        ({"encoding": "klingon"}, "klingon"),
        ({"delimiter": "::"}, "delimiter"),
        ({"decimal": "'"}, "decimal sign"),
    ],
)
def test_options_that_do_not_fit(tmp_path, options, words):
    with pytest.raises(FileError, match=words):
        read(tmp_path, "a;b\nMüller;1\n".encode("cp1252"), **options)


def test_a_line_longer_than_a_block_is_refused(tmp_path):
    with pytest.raises(FileError, match="16 MB"):
        read(tmp_path, b"a,b\n1," + b"x" * (40 << 20) + b"\n2,y\n")


def test_a_record_is_not_taken_for_names(tmp_path):
    for content in ("1,2.5,PLANTED\n2,3.5,Bob\n", "inf,2\n2,3.5\n", "PLANTED@x.org,f\nb@x.org,m\n"):
        with pytest.raises(DataError, match="looks like a record") as caught:
            read(tmp_path, content)
        assert "PLANTED" not in str(caught.value)
    assert read(tmp_path, "id,2020,name\n2,3.5,Bob\n").frame.columns == ["id", "2020", "name"]


def test_without_names_columns_are_numbered(tmp_path):
    found = read(tmp_path, "1,2.5,Ann\n2,,Bob\n", header=False)
    assert found.frame.to_dict(as_series=False) == {"c1": [1, 2], "c2": [2.5, None], "c3": ["Ann", "Bob"]}
    assert read(tmp_path, "7\n", header=False).frame.rows() == [(7,)]


def test_the_first_line_is_what_it_is_said_to_be(tmp_path):
    assert read(tmp_path, "2019,2020\n1991,1992\n", header=True).frame.columns == ["2019", "2020"]
    found = read(tmp_path, "id,age\n1,31\n", header=False)
    assert found.frame["c2"].to_list() == ["age", "31"]
    assert any("looks like names" in note for note in found.notes)


def test_a_table_of_numbered_columns_has_names(tmp_path):
    """Whoever reads two files without names need not know which of them sfumato wrote."""
    for header in (None, True, False):
        assert read(tmp_path, "c1,c2\n1,x\n", header=header).frame.rows() == [(1, "x")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_above_the_table_are_skipped(tmp_path, end):
    content = end.join(["Report; of, all", "", "id,age", "1,31", "2"])
    with pytest.raises(FileError, match="line 5 has another"):
        read(tmp_path, content, skip_rows=2)
    assert read(tmp_path, content + ",45", skip_rows=2).frame.rows() == [(1, 31), (2, 45)]
    assert read(tmp_path, content + ",45", skip_rows=3, header=False).frame.columns == ["c1", "c2"]
    for lines in (5, 99, -1):
        with pytest.raises(FileError, match="skip"):
            read(tmp_path, content, skip_rows=lines)


def test_as_written(tmp_path):
    frame = pl.DataFrame(
        {
            "b": [True, False, None],
            "x": [0.1 + 0.2, 1e16, None],
            "t": ['say "hi"', "two\nlines", "a,b"],
            "d": [datetime.date(2020, 1, 31), None, None],
        }
    )
    write_csv(table(frame), tmp_path / "a.csv")
    lines = ["b,x,t,d", 'true,0.30000000000000004,"say ""hi""",2020-01-31', 'false,1e+16,"two\nlines",', ',,"a,b",', ""]
    assert (tmp_path / "a.csv").read_bytes().decode() == "\n".join(lines)


def test_what_is_lost_is_told(tmp_path):
    frame = pl.DataFrame({"code": ["7", "8"], "word": ["x", ""], "time": [datetime.time(1), None], "age": [31, -9]})
    variable = Variable(label="Age", missing=[-9], labels={-9: "refused"}, measure="scale", format="F8.0")
    notes = write_csv(table(frame, Codebook({"age": variable})), tmp_path / "a.csv")
    assert len([note for note in notes if "'age'" in note]) == 5
    for name in ("code", "word", "time"):
        assert len([note for note in notes if repr(name) in note]) == 1


def test_a_text_of_one_column_that_looks_like_decimal_commas_is_told(tmp_path):
    assert "'x'" in write_csv(table(pl.DataFrame({"x": ["1,5", "2,5"]})), tmp_path / "a.csv")[0]


@pytest.mark.parametrize(("bad", "fault"), [(["PLANTED\0"], FileError), ([float("inf")], DataError)])
def test_writing_refuses_what_could_not_be_read(tmp_path, bad, fault):
    with pytest.raises(fault, match="'x'") as caught:
        write_csv(table(pl.DataFrame({"x": bad})), tmp_path / "a.csv")
    assert "PLANTED" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".CSV"])
def test_other_suffixes(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_text("a\tb\n1\t2\n")
    assert read_table(path).frame.rows() == [(1, 2)]
    assert read_table(path).suffix == ".csv"


def test_categories_are_written_as_text(tmp_path):
    frame = pl.DataFrame(
        {"c": pl.Series(["x", None], dtype=pl.Categorical), "e": pl.Series(["y", "y"], dtype=pl.Enum(["y"]))}
    )
    assert round_trip(frame, tmp_path / "a.csv")[0].rows() == [("x", "y"), (None, "y")]


def test_titanic(shared_data):
    """Rows, columns and missing values as the file's description in R's package titanic 0.1.0 has them."""
    found = read_table(shared_data / "titanic.csv")
    assert found.frame.shape == (891, 12)
    missing = found.frame.null_count().row(0, named=True)
    assert {k: v for k, v in missing.items() if v} == {"Age": 177, "Cabin": 687, "Embarked": 2}
    assert found.frame["Survived"].sum() == 342
    types = found.frame.schema
    assert types["Age"] == types["Fare"] == pl.Float64
    assert types["PassengerId"] == types["Pclass"] == pl.Int64
    assert types["Ticket"] == pl.String


def test_titanic_in_every_format(shared_data, tmp_path):
    found = read_table(shared_data / "titanic.csv")
    stripped = found.frame.with_columns(pl.col(pl.String).str.strip_chars_end(" "))
    for suffix in (".csv", ".parquet", ".xlsx", ".dta", ".sav", ".xpt"):
        write_table(found, tmp_path / f"a{suffix}")
        back = read_table(tmp_path / f"a{suffix}")
        assert_same(back.frame, stripped if suffix in (".sav", ".xpt") else found.frame)
        assert back.suffix == suffix


def test_columns_with_a_blank_name_are_called_by_their_place_where_that_is_said(tmp_path):
    back = read(tmp_path, "a,, ,c3\n1,2,3,4\n5,6,7,8\n", name_blank=True).frame
    assert back.columns == ["a", "c2", "c3_2", "c3"]
    assert back.row(1) == (5, 6, 7, 8)
    assert read(tmp_path, "a,b\n1,2\n", name_blank=True).frame.columns == ["a", "b"]


def test_a_record_is_no_line_of_names_though_blank_ones_may_be_named(tmp_path):
    with pytest.raises(DataError, match="--no-header"):
        read(tmp_path, "7,,PLANTED\n8,1,x\n9,2,x\n", name_blank=True)


def test_a_line_that_ends_with_a_delimiter_has_a_column_without_a_name(tmp_path):
    back = read(tmp_path, "a,b,\n1,2,\n3,4,\n", name_blank=True).frame
    assert back.columns == ["a", "b", "c3"]
    assert back["c3"].null_count() == 2


def test_names_that_would_be_patterns_are_called_by_their_place_where_that_is_said(tmp_path):
    back = read(tmp_path, "*,^b$,c*,^d\n1,2,3,4\n5,6,7,8\n", name_blank=True).frame
    assert back.columns == ["c1", "c2", "c*", "^d"]
    assert back.row(0) == (1, 2, 3, 4)
