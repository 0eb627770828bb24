import datetime
import math
import sys

import polars as pl
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.files import read_table, write_table
from sfumato.errors import FileError, MissingExtra

from .tables import FLOAT, assert_same, changed, empty_text_is_missing, frames, round_trip, table

LARGEST = sys.float_info.max


def as_spss_has_it(frame: pl.DataFrame) -> pl.DataFrame:
    frame = changed(frame, pl.String, lambda c: c.str.strip_chars_end(" "))
    return empty_text_is_missing(changed(frame, pl.Boolean, lambda c: c.cast(pl.Int64)))


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(floats=FLOAT.filter(lambda x: abs(x) < math.nextafter(LARGEST, 0))))
def test_round_trip(tmp_path, frame):
    """Types and values come back exactly; truth values as 0 and 1, text without blanks at its end."""
    assert_same(round_trip(frame, tmp_path / "a.sav")[0], as_spss_has_it(frame))


def seconds(*day: int) -> float:
    """A date as SPSS has it."""
    return (datetime.date(*day) - datetime.date(1582, 10, 14)).days * 86_400.0


@pytest.fixture
def foreign(tmp_path):
    """A file as another program writes it: doubles only, labels keyed by doubles."""
    frame = pl.DataFrame(
        {
            "sex": [1.0, 2.0, -9.0, None],
            "income": [100.5, -99.0, -98.0, 2.0],
            "age": [31.0, 998.0, 999.0, -1.0],
            "town": ["Leeds", "DK", "", "REF"],
            "born": [seconds(1950, 1, 1), seconds(9999, 9, 9), None, seconds(1600, 1, 1)],
            "seen": [datetime.datetime(2020, 1, 1, 10, 0, 0, 123000), None, None, None],
            "half": [0.5, 1.0, None, 2.0],
        }
    )
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        file_label="Study",
        column_labels={"sex": "Sex of the person", "town": "Größte Stadt"},
        variable_value_labels={
            "sex": {1.0: "male", 2.0: "female", -9.0: "refused"},
            "income": {-99.0: "refused"},
            "town": {"DK": "does not know"},
            "half": {0.5: "half"},
            "born": {seconds(9999, 9, 9): "not told"},
        },
        missing_ranges={
            "sex": [-9],
            "income": [{"lo": -99, "hi": -90}],
            "age": [{"lo": 998, "hi": 999}, -1],
            "town": ["DK", "REF"],
        },
        variable_measure={"sex": "nominal", "income": "scale", "age": "scale", "half": "ordinal"},
        variable_format={"sex": "F1.0", "age": "F3.0", "income": "COMMA12.2", "half": "F4.1", "born": "EDATE10"},
    )
    return tmp_path / "a.sav"


def test_reading_all_that_a_file_tells(foreign):
    found = read_table(foreign)
    book = found.codebook
    assert found.frame["sex"].to_list() == [1, 2, -9, None]
    assert found.frame["town"].to_list() == ["Leeds", "DK", None, "REF"]
    assert found.frame["born"].to_list()[0] == datetime.date(1950, 1, 1)
    assert found.frame["seen"].to_list()[0] == datetime.datetime(2020, 1, 1, 10, 0, 0, 123000)
    expected = [pl.Int64, pl.Float64, pl.Int64, pl.String, pl.Date, pl.Datetime("us"), pl.Float64]
    assert found.frame.dtypes == expected
    assert book["sex"].labels == {1: "male", 2: "female", -9: "refused"}
    assert {type(key) for key in book["sex"].labels} == {int}
    assert book["sex"].missing == (Missing(code=-9, label="refused"),)
    assert book["income"].missing == (Missing(low=-99, high=-90),)
    assert book["age"].missing == (Missing(low=998, high=999), Missing(code=-1))
    assert book["town"].missing == (Missing(code="DK", label="does not know"), Missing(code="REF"))
    assert book["town"].label == "Größte Stadt"
    assert book["half"].labels == {0.5: "half"}
    assert book["born"].labels == {"9999-09-09": "not told"}
    assert [v.measure for v in book.values()] == ["nominal", "scale", "scale", None, None, None, "ordinal"]
    assert [v.kind for v in book.values()] == ["categorical", "continuous", "integer", None, None, None, "ordinal"]
    assert [book[n].format for n in ("sex", "income", "born")] == ["F1.0", "COMMA12.2", "EDATE10"]
    assert found.suffix == ".sav"
    assert found.label == "Study"


def test_user_missing_codes_are_no_values_but_stay(foreign):
    found = read_table(foreign)
    missing = found.frame.select(
        found.codebook.missing(name, found.frame.schema[name]).alias(name) for name in ("sex", "income", "age", "town")
    )
    assert missing.to_dict(as_series=False) == {
        "sex": [False, False, True, True],
        "income": [False, True, True, False],
        "age": [False, True, True, True],
        "town": [False, True, True, True],
    }


def test_a_table_that_was_read_is_written_as_it_was(foreign, tmp_path):
    found = read_table(foreign)
    assert write_table(found, tmp_path / "b.sav") == ()
    back = read_table(tmp_path / "b.sav")
    assert_same(back.frame, found.frame)
    assert back.codebook == found.codebook
    first, second = (
        pyreadstat.read_sav(tmp_path / f"{n}.sav", user_missing=True, output_format="dict")[1] for n in "ab"
    )
    for fact in (
        "missing_ranges",
        "variable_value_labels",
        "variable_measure",
        "original_variable_types",
        "column_labels",
    ):
        assert getattr(first, fact) == getattr(second, fact)


codes = st.integers(-99, -1)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=st.dictionaries(
        st.integers(-99, 99), st.text("abcé 1", min_size=1, max_size=20).map(str.strip).filter(bool)
    ),
    missing=st.one_of(
        st.lists(codes, max_size=3, unique=True).map(lambda cs: tuple(Missing(code=c) for c in cs)),
        st.tuples(codes, st.integers(0, 50)).map(lambda r: (Missing(low=r[0], high=r[0] + r[1] + 1),)),
    ),
    measure=st.sampled_from(["nominal", "ordinal", "scale"]),
    label=st.text("abc é", min_size=1, max_size=40).map(str.strip).filter(bool),
)
def test_labels_missing_codes_and_measures_come_back(tmp_path, labels, missing, measure, label):
    book = Codebook({"x": Variable(label=label, labels=labels, missing=missing, measure=measure, format="F8.0")})
    write_table(table(pl.DataFrame({"x": [1, 2, None]}), book), tmp_path / "a.sav")
    back = read_table(tmp_path / "a.sav").codebook["x"]
    assert back.model_copy(update={"kind": None, "missing": ()}) == book["x"].model_copy(update={"missing": ()})
    assert [(m.code, m.low, m.high) for m in back.missing] == [(m.code, m.low, m.high) for m in missing]
    assert [m.label for m in back.missing] == [labels.get(m.code) if m.code is not None else None for m in missing]


def test_open_ranges(tmp_path):
    pyreadstat.write_sav(
        pl.DataFrame({"x": [1.0, -5.0], "y": [1.0, 900.0]}),
        tmp_path / "a.sav",
        missing_ranges={"x": [{"lo": -math.inf, "hi": -1}], "y": [{"lo": 900, "hi": math.inf}]},
    )
    found = read_table(tmp_path / "a.sav")
    assert found.codebook["x"].missing[0].matches(-1e308)
    assert found.codebook["y"].missing[0].matches(1e308)
    assert all(math.isfinite(b) for v in found.codebook.values() for b in (v.missing[0].low, v.missing[0].high))
    write_table(found, tmp_path / "b.sav")
    assert read_table(tmp_path / "b.sav").codebook == found.codebook


def test_dates_with_a_range_of_missing_stay_numbers(tmp_path):
    born = [datetime.date(1950, 1, 1), None]
    pyreadstat.write_sav(
        pl.DataFrame({"born": born}), tmp_path / "a.sav", missing_ranges={"born": [{"lo": 1, "hi": 99}]}
    )
    found = read_table(tmp_path / "a.sav")
    assert found.frame["born"].to_list() == [seconds(1950, 1, 1), None]
    assert any("'born'" in note for note in found.notes)
    write_table(found, tmp_path / "b.sav")
    assert read_table(tmp_path / "b.sav").codebook == found.codebook


def test_missing_codes_among_dates(tmp_path):
    book = Codebook({"born": Variable(missing=["9999-09-09"], labels={"9999-09-09": "refused", "odd": "lost"})})
    frame = pl.DataFrame({"born": [datetime.date(9999, 9, 9), datetime.date(1950, 1, 1)]})
    notes = write_table(table(frame, book), tmp_path / "a.sav")
    assert any("'born'" in note and "value labels" in note for note in notes)
    found = read_table(tmp_path / "a.sav")
    assert_same(found.frame, frame)
    assert found.codebook["born"].missing == (Missing(code="9999-09-09", label="refused"),)
    assert frame.select(found.codebook.missing("born", pl.Date())).to_series().to_list() == [True, False]


def test_whole_numbers_keep_their_type_and_floats_theirs(tmp_path):
    frame = pl.DataFrame({"i": [1, 2], "f": [1.0, 2.0], "g": [1.5, 2.0]})
    for formats in ({}, {"i": "F8.2", "f": "F8.2"}, {"i": "EDATE10", "f": "%9.0g"}):
        book = Codebook({name: Variable(format=form) for name, form in formats.items()})
        notes = write_table(table(frame, book), tmp_path / "a.sav")
        assert_same(read_table(tmp_path / "a.sav").frame, frame)
        assert ("'i'" in "".join(notes)) == bool(formats)


def test_kinds_give_a_measure_where_there_is_none(tmp_path):
    kinds = {"a": "categorical", "b": "ordinal", "c": "continuous", "d": "integer"}
    book = Codebook({n: Variable(kind=k) for n, k in kinds.items()})
    write_table(table(pl.DataFrame({n: [1] for n in [*kinds, "e"]}), book), tmp_path / "a.sav")
    found = read_table(tmp_path / "a.sav").codebook
    assert [v.measure for v in found.values()] == ["nominal", "ordinal", "scale", "scale", None]


def test_names_that_spss_does_not_take(tmp_path):
    frame = pl.DataFrame({"body mass": [1], "1st": [2], "WITH": [3], "größe": [4], "é" * 40: [5], "¼": [6]})
    back, notes = round_trip(frame, tmp_path / "a.sav")
    assert back.columns == ["body_mass", "v1st", "WITH_", "größe", "é" * 32, "v¼"]
    assert "'body mass' is written as 'body_mass'" in notes[0]
    assert "größe" not in notes[0]


@pytest.mark.parametrize("names", [["Age", "age"], ["a b", "a-b"], ["x" * 64 + "a", "x" * 64 + "b"]])
def test_names_that_would_be_one_are_refused(tmp_path, names):
    with pytest.raises(FileError, match="Rename"):
        write_table(table(pl.DataFrame({name: [1] for name in names})), tmp_path / "a.sav")
    assert list(tmp_path.iterdir()) == []


def test_what_spss_cannot_mark_is_told(tmp_path):
    book = Codebook(
        {
            "many": Variable(missing=[-1, -2, -3, -4]),
            "ranges": Variable(missing=[{"low": -9, "high": -5}, {"low": 90, "high": 99}]),
            "town": Variable(missing=["does not know"], labels={"x" * 200: "y"}),
            "long": Variable(label="L" * 300, labels={1: "V" * 200}, unit="cm"),
            "fine": Variable(missing=[-1, -2, -3], label="fine", labels={1: "one"}),
        }
    )
    frame = pl.DataFrame({"many": [-4], "ranges": [95], "town": ["does not know "], "long": [1], "fine": [1]})
    notes = write_table(table(frame, book), tmp_path / "a.sav")
    found = read_table(tmp_path / "a.sav")
    assert found.frame["many"].to_list() == [-4]
    assert not any("'fine'" in note for note in notes)
    for name, word in (
        ("many", "missing codes"),
        ("ranges", "missing codes"),
        ("town", "missing codes"),
        ("town", "blanks"),
        ("long", "variable labels"),
        ("long", "value labels"),
        ("long", "units"),
    ):
        assert any(repr(name) in note and word in note for note in notes), (name, word)
    assert found.codebook["long"].label == "L" * 256


@pytest.mark.parametrize(
    "cells", [[LARGEST], [-LARGEST], [2**53 + 1], ["x" * 32_768], ["a\0b"], [datetime.timedelta(1)]]
)
def test_what_spss_would_lose_is_refused(tmp_path, cells):
    with pytest.raises(FileError, match="'x'"):
        write_table(table(pl.DataFrame({"x": cells})), tmp_path / "a.sav")
    assert list(tmp_path.iterdir()) == []


def test_times_of_day(tmp_path):
    frame = pl.DataFrame({"t": [datetime.time(23, 59, 59, 999000), None, datetime.time(0)]})
    assert_same(round_trip(frame, tmp_path / "a.sav")[0], frame)


def test_compressed_files_are_read(tmp_path):
    pyreadstat.write_sav(pl.DataFrame({"x": [1.5, 2.5]}), tmp_path / "a.zsav", compress=True)
    assert read_table(tmp_path / "a.zsav").frame["x"].to_list() == [1.5, 2.5]
    assert read_table(tmp_path / "a.zsav").suffix == ".sav"


def test_without_the_package(tmp_path, monkeypatch):
    write_table(table(pl.DataFrame({"a": [1]})), tmp_path / "a.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for suffix in (".sav", ".dta", ".xpt", ".sas7bdat"):
        with pytest.raises(MissingExtra, match=r"sfumato\[files\]"):
            read_table(tmp_path / f"a{suffix}")
    for suffix in (".sav", ".dta", ".xpt"):
        with pytest.raises(MissingExtra, match=r"sfumato\[files\]"):
            write_table(table(pl.DataFrame({"a": [1]})), tmp_path / f"b{suffix}")
