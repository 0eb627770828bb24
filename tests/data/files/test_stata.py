import datetime

import polars as pl
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.extended import CODES
from sfumato.data.files import read_table, write_table
from sfumato.errors import FileError
from tests.late import late

from .tables import assert_same, changed, empty_text_is_missing, frames, round_trip, table

pd = late("pandas")

LARGEST = 2.0**1023


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(floats=st.floats(-8.9e307, 8.9e307)))
def test_round_trip(tmp_path, frame):
    """Types and values come back exactly; truth values as 0 and 1."""
    expected = empty_text_is_missing(changed(frame, pl.Boolean, lambda c: c.cast(pl.Int64)))
    assert_same(round_trip(frame, tmp_path / "a.dta")[0], expected)


@pytest.fixture
def foreign(tmp_path):
    """A file as Stata writes it: extended missing values with and without labels."""
    frame = pl.DataFrame(
        {
            "ill": pl.Series([0, 1, "a", "b", None], dtype=pl.Object),
            "income": pl.Series([100.5, 2.0, None, "z", 3.0], dtype=pl.Object),
            "age": pl.Series([31, 45, None, 1, 2], dtype=pl.Int32),
            "town": ["Leeds", "größer", "", "x", "y"],
            "born": pl.Series([0, -3652, None, 22000, 1], dtype=pl.Int32),
            "seen": [0.0, 1.0, 86_400_000.0, None, -1.0],
            "month": pl.Series([720, 721, None, 1, 2], dtype=pl.Int32),
        }
    )
    pyreadstat.write_dta(
        frame,
        tmp_path / "a.dta",
        version=14,
        column_labels={"ill": "Ill?", "town": "Größte Stadt"},
        variable_value_labels={"ill": {0: "no", 1: "yes", "a": "refused"}, "age": {31: "thirty-one"}},
        missing_user_values={"ill": ["a", "b"], "income": ["z"]},
        variable_format={"born": "%tdDD/NN/CCYY", "seen": "%tc", "month": "%tm", "income": "%9.2f", "age": "%8.0g"},
    )
    return tmp_path / "a.dta"


def test_reading_all_that_a_file_tells(foreign):
    found = read_table(foreign)
    frame, book = found.frame, found.codebook
    assert frame["ill"].to_list() == [0.0, 1.0, CODES["a"], CODES["b"], None]
    assert frame["income"].to_list() == [100.5, 2.0, None, CODES["z"], 3.0]
    assert frame["age"].to_list() == [31, 45, None, 1, 2]
    assert frame["town"].to_list() == ["Leeds", "größer", None, "x", "y"]
    assert frame["born"].to_list()[:2] == [datetime.date(1960, 1, 1), datetime.date(1950, 1, 1)]
    assert frame["seen"].to_list()[1:3] == [datetime.datetime(1960, 1, 1, 0, 0, 0, 1000), datetime.datetime(1960, 1, 2)]
    assert frame.dtypes == [pl.Float64, pl.Float64, pl.Int64, pl.String, pl.Date, pl.Datetime("us"), pl.Int64]
    assert book["ill"].labels == {0: "no", 1: "yes"}
    assert book["ill"].missing == (Missing(code=CODES["a"], label="refused"), Missing(code=CODES["b"], label=".b"))
    assert book["income"].missing == (Missing(code=CODES["z"], label=".z"),)
    assert book["age"].labels == {31: "thirty-one"}
    assert (book["ill"].label, book["town"].label, book["age"].label) == ("Ill?", "Größte Stadt", None)
    assert book["month"].format == "%tm"
    missing = frame.select(book.missing(n, frame.schema[n]).alias(n) for n in ("ill", "income"))
    assert missing.rows() == [(False, False), (False, False), (True, True), (True, True), (True, False)]


def test_a_table_that_was_read_is_written_as_it_was(foreign, tmp_path):
    found = read_table(foreign)
    assert write_table(found, tmp_path / "b.dta") == ()
    back = read_table(tmp_path / "b.dta")
    assert_same(back.frame, found.frame)
    assert back.codebook == found.codebook
    first, second = (pyreadstat.read_dta(tmp_path / f"{n}.dta", user_missing=True, output_format="dict") for n in "ab")
    assert first[0] == second[0]
    for fact in ("missing_user_values", "variable_value_labels", "original_variable_types", "column_labels"):
        assert getattr(first[1], fact) == getattr(second[1], fact)


def test_another_reader_sees_the_same(foreign, tmp_path):
    """pandas has its own reader of Stata files, and its own names of extended missing values."""
    write_table(read_table(foreign), tmp_path / "b.dta")
    with pd.read_stata(tmp_path / "b.dta", iterator=True, convert_missing=True, convert_categoricals=False) as reader:
        frame = reader.read(columns=["ill", "income"])
        labels = reader.variable_labels()
        values = reader.value_labels()
    assert [str(cell) for cell in frame["ill"]] == ["0.0", "1.0", ".a", ".b", "."]
    assert [str(cell) for cell in frame["income"]][2:4] == [".", ".z"]
    assert pd.read_stata(tmp_path / "b.dta")["born"][1] == pd.Timestamp(1950, 1, 1)
    assert labels["town"] == "Größte Stadt"
    assert {0: "no", 1: "yes"}.items() <= next(v for v in values.values() if 0 in v).items()


def test_dates_with_extended_missing_values_stay_numbers(tmp_path):
    pyreadstat.write_dta(
        pl.DataFrame({"born": pl.Series([0, "a", None], dtype=pl.Object)}),
        tmp_path / "a.dta",
        version=14,
        missing_user_values={"born": ["a"]},
        variable_format={"born": "%td"},
    )
    found = read_table(tmp_path / "a.dta")
    assert found.frame["born"].to_list() == [0.0, CODES["a"], None]
    assert any("'born'" in note for note in found.notes)
    write_table(found, tmp_path / "b.dta")
    assert_same(read_table(tmp_path / "b.dta").frame, found.frame)
    assert read_table(tmp_path / "b.dta").codebook == found.codebook


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=st.dictionaries(st.integers(-(2**31) + 1, 2**31 - 28), st.text("abcé1", min_size=1, max_size=40)),
    letters=st.sets(st.sampled_from("abcxyz")),
    label=st.text("abc é", min_size=1, max_size=80).filter(lambda text: text.strip() == text),
)
def test_labels_and_missing_codes_come_back(tmp_path, labels, letters, label):
    missing = tuple(Missing(code=CODES[letter], label=f"why {letter}") for letter in sorted(letters))
    book = Codebook({"x": Variable(label=label, labels=labels, missing=missing)})
    frame = pl.DataFrame({"x": [1.5, None, *(CODES[letter] for letter in letters)]})
    assert write_table(table(frame, book), tmp_path / "a.dta") == ()
    back = read_table(tmp_path / "a.dta")
    assert_same(back.frame, frame)
    assert (back.codebook["x"].label, back.codebook["x"].labels) == (label, labels)
    assert back.codebook["x"].missing == missing


@pytest.mark.parametrize("name", ["v" * 30, "v" * 31, "v" * 32])
def test_labels_of_columns_with_long_names(tmp_path, name):
    frame = pl.DataFrame({name: [1], "b": [2]})
    book = Codebook({name: Variable(labels={1: "one"}), "b": Variable(labels={2: "two"})})
    notes = write_table(table(frame, book), tmp_path / "a.dta")
    found = read_table(tmp_path / "a.dta").codebook
    assert found["b"].labels == {2: "two"}
    kept = found[name].labels == {1: "one"}
    assert kept == (len(name) < 32)
    assert kept != any(repr(name) in note for note in notes)


def test_whole_numbers_of_any_size_keep_their_type(tmp_path):
    frame = pl.DataFrame({"a": [2**31 - 28, -(2**31) + 1], "b": [2**31 - 27, 0], "c": [-(2**31), 0], "f": [1.0, 2.0]})
    for form in (None, "%8.0g", "%12.0f", "F8.0"):
        book = Codebook({name: Variable(format=form) for name in "abc"})
        write_table(table(frame, book), tmp_path / "a.dta")
        assert_same(read_table(tmp_path / "a.dta").frame, frame)


def test_long_text(tmp_path):
    frame = pl.DataFrame({"x": ["a" * 2044, "b" * 2045, "é" * 3000, None, "None"]})
    assert_same(round_trip(frame, tmp_path / "a.dta")[0], frame)


def test_names_that_stata_does_not_take(tmp_path):
    frame = pl.DataFrame({"body mass": [1], "1st": [2], "if": [3], "If": [4], "größe": [5], "x" * 40: [6], "str5": [7]})
    back, notes = round_trip(frame, tmp_path / "a.dta")
    assert back.columns == ["body_mass", "v1st", "if_", "If", "größe", "x" * 32, "str5_"]
    assert "'if' is written as 'if_'" in notes[0]


def test_names_that_would_be_one_are_refused(tmp_path):
    write_table(table(pl.DataFrame({"Age": [1], "age": [1]})), tmp_path / "a.dta")
    with pytest.raises(FileError, match="Rename"):
        write_table(table(pl.DataFrame({"x" * 32 + "a": [1], "x" * 32 + "b": [1]})), tmp_path / "b.dta")


def test_what_stata_cannot_hold_is_told(tmp_path):
    book = Codebook(
        {
            "code": Variable(missing=[-9], measure="scale"),
            "half": Variable(labels={0.5: "half"}),
            "text": Variable(labels={"x": "ex"}, format="A5"),
            "wordy": Variable(label="L" * 100),
            "form": Variable(format="COMMA8.2"),
        }
    )
    frame = pl.DataFrame({"code": [-9], "half": [0.5], "text": ["x"], "wordy": [1], "form": [1.5]})
    notes = write_table(table(frame, book), tmp_path / "a.dta")
    for name, word in (
        ("code", "missing"),
        ("code", "measure"),
        ("half", "labels"),
        ("text", "labels"),
        ("text", "formats"),
        ("wordy", "variable labels"),
        ("form", "formats"),
    ):
        assert any(repr(name) in note and word in note for note in notes), (name, word)
    assert read_table(tmp_path / "a.dta").frame.rows() == frame.rows()
    assert read_table(tmp_path / "a.dta").codebook["wordy"].label == "L" * 80


@pytest.mark.parametrize(
    "cells", [[LARGEST], [-1.7e308], [CODES["a"]], [CODES["_"]], [2**53 + 1], ["a\0"], [datetime.timedelta(1)]]
)
def test_what_stata_would_lose_is_refused(tmp_path, cells):
    """A code of an extended missing value that no codebook names is such a double too."""
    with pytest.raises(FileError, match="'x'"):
        write_table(table(pl.DataFrame({"x": cells})), tmp_path / "a.dta")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_versions(tmp_path, version):
    pyreadstat.write_dta(pl.DataFrame({"x": [1.5], "s": ["a"]}), tmp_path / "a.dta", version=version)
    assert read_table(tmp_path / "a.dta").frame.rows() == [(1.5, "a")]
