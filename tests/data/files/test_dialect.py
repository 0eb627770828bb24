import itertools

import polars as pl
import pytest

from sfumato.data.files import read_table, read_written, write_table
from sfumato.data.files.dialect import Dialect, registered
from sfumato.data.files.table import Table

from .tables import assert_same, table

FRAME = pl.DataFrame(
    {
        "größe": [1.5, None, 1e-7, 1e300, -3.0],
        "n": [1, 2, None, 4, 1000],
        "ort": ["Köln; Süd", "1,5 | 2", None, 'say "x"', "a\tb"],
        "ja": [True, False, None, True, True],
    }
)


def written(frame: pl.DataFrame, path, dialect: Dialect) -> tuple[str, ...]:
    made = table(frame)
    return write_table(Table(made.frame, made.codebook, ".csv", dialect=dialect), path)


CASES = [
    (columns, dialect)
    for columns in (FRAME.columns, ["größe"], ["ort"])
    for dialect in itertools.starmap(
        Dialect, itertools.product(",;\t|", ".,", ["utf-8", "utf-16", "windows-1252", "iso-8859-1"])
    )
    # A file of one column is never read with a comma for both.
    if columns != ["größe"] or dialect.delimiter != dialect.decimal
]


@pytest.mark.parametrize(("columns", "dialect"), CASES)
def test_a_file_reads_back_as_it_was_written(tmp_path, columns, dialect):
    frame = FRAME.select(columns)
    assert written(frame, tmp_path / "a.csv", dialect) == ()
    back = read_written(tmp_path / "a.csv", dialect)
    assert_same(back.frame, frame)
    if frame.width > 1:
        assert back.dialect == dialect


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "windows-1252"])
def test_a_file_leaves_as_it_came(tmp_path, encoding):
    text = "größe;ort\n1,5;Köln\n2,25;Jülich\n" + "3,125;Bonn\n" * 9
    (tmp_path / "a.csv").write_text(text, encoding=encoding, newline="")
    read = read_table(tmp_path / "a.csv")
    assert read.dialect == Dialect(";", ",", encoding)
    write_table(read, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_many_rows_have_one_header_and_one_mark(tmp_path):
    frame = pl.DataFrame({"a": range(70_000), "b": ["ü"] * 70_000})
    written(frame, tmp_path / "a.csv", Dialect(";", ".", "utf-16"))
    lines = (tmp_path / "a.csv").read_bytes().decode("utf-16").splitlines()
    assert "\ufeff" not in "".join(lines)
    assert lines[0] == "a;b"
    assert lines[65_537] == "65536;ü"
    assert len(lines) == 70_001


def test_letters_that_the_encoding_lacks_are_written_in_utf_8_and_told(tmp_path):
    frame = pl.DataFrame({"age": ["≥ 65", "18-64"], "n": [1.5, 2.5]})
    (note,) = written(frame, tmp_path / "a.csv", Dialect(";", ",", "windows-1252"))
    assert "UTF-8" in note
    assert "windows-1252" in note
    assert "≥" not in note
    assert (tmp_path / "a.csv").read_bytes().decode("utf-8") == "age;n\n≥ 65;1,5\n18-64;2,5\n"


@pytest.mark.parametrize("letters", [pl.Categorical(), pl.Enum(["≥ 65", "x"])])
def test_names_and_categories_count_among_letters(letters):
    german = Dialect(";", ",", "iso-8859-1")
    assert german.holding(pl.DataFrame({"a": pl.Series(["≥ 65"], dtype=letters)})) == Dialect(";", ",", "utf-8")
    assert german.holding(pl.DataFrame({"≥": [1]})) == Dialect(";", ",", "utf-8")
    assert german.holding(pl.DataFrame({"ü": [1]})) == german


def test_one_column_with_decimal_commas_has_no_comma_for_a_delimiter(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1,5\n2,5\n")
    assert read_table(tmp_path / "a.csv", decimal=",").dialect.delimiter == ";"


@pytest.mark.parametrize(
    "name", ["cp1252", "latin-1", "iso8859_15", "mac_roman", "koi8_r", "euc_kr", "utf_8", "cp1251"]
)
def test_registered_names_are_known_to_python_as_the_same(name):
    assert "é".encode(registered(name), "replace") == "é".encode(name, "replace")
    assert "_" not in registered(name)
