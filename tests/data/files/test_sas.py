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

from . import sas7bdat
from .tables import as_numbers, assert_same, changed, empty_text_is_missing, frames, round_trip, table

pd = late("pandas")

IBM = st.floats(-9e74, 9e74).filter(lambda x: x == 0 or abs(x) >= 2.0**-260)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(floats=IBM))
def test_round_trip(tmp_path, frame):
    """Values come back exactly; one type of numbers, truth values as 0 and 1, text without blanks at its end."""
    frame = changed(
        changed(frame, pl.Boolean, lambda c: c.cast(pl.Int64)), pl.String, lambda c: c.str.strip_chars_end(" ")
    )
    assert_same(as_numbers(round_trip(frame, tmp_path / "a.xpt")[0]), as_numbers(empty_text_is_missing(frame)))


def test_whole_numbers_and_others(tmp_path):
    frame = pl.DataFrame({"i": [1, None, -(2**53)], "f": [1.5, 2.0, None], "d": [1.0, 2.0, None]})
    book = Codebook({"d": Variable(format="F8.2"), "i": Variable(format="F8.2")})
    notes = write_table(table(frame, book), tmp_path / "a.xpt")
    assert_same(read_table(tmp_path / "a.xpt").frame, frame)
    assert any("formats" in note and "'i'" in note for note in notes)


SPECIAL = [31.0, CODES["a"], None, CODES["z"], CODES["_"], 0.5]


def test_special_missing_values_come_back(tmp_path):
    letters = {"a": ".A", "z": ".Z", "_": "._"}
    missing = tuple(Missing(code=CODES[letter], label=shown) for letter, shown in letters.items())
    book = Codebook({"x": Variable(label="X", missing=missing), "born": Variable(format="DATE9")})
    frame = pl.DataFrame(
        {"text": ["é", "bb", None, "d", "e", "A"], "x": SPECIAL, "born": [datetime.date(1950, 1, 1)] * 6}
    )
    assert write_table(table(frame, book), tmp_path / "a.xpt") == ()
    found = read_table(tmp_path / "a.xpt")
    assert_same(found.frame, frame)
    assert found.codebook == book.only(frame.columns)
    assert found.frame.select(found.codebook.missing("x", pl.Float64())).to_series().to_list() == [
        *(False, True, True, True, True, False)
    ]


def test_another_reader_sees_the_same(tmp_path):
    """pandas has its own reader of transport files (version 5 only): numbers, text, and every missing value as NaN."""
    frame = pl.DataFrame({"x": [31.0, None, 0.1, -1e-70], "s": ["a", "bb", "", "d"]})
    pyreadstat.write_xport(frame.with_columns(pl.col("s").fill_null("")), tmp_path / "a.xpt", file_format_version=5)
    mine, other = read_table(tmp_path / "a.xpt").frame, pd.read_sas(tmp_path / "a.xpt", encoding="utf-8")
    assert mine["x"].to_list() == [None if pd.isna(x) else x for x in other["x"]]
    assert mine["s"].to_list() == [x or None for x in other["s"].fillna("")]


def test_what_a_transport_file_does_not_hold_is_told(tmp_path):
    book = Codebook(
        {
            "sex": Variable(labels={1: "male"}, missing=[-9], measure="nominal"),
            "why": Variable(missing=[{"code": CODES["a"], "label": "refused"}]),
            "text": Variable(format="A5"),
            "long": Variable(label="é" * 200),
        }
    )
    frame = pl.DataFrame({"sex": [1], "why": [CODES["a"]], "text": ["x "], "long": [1]})
    notes = write_table(table(frame, book), tmp_path / "a.xpt")
    for name, word in (
        ("sex", "value labels"),
        ("sex", "missing codes"),
        ("sex", "measure"),
        ("why", "names of missing"),
        ("text", "formats"),
        ("text", "blanks"),
        ("long", "variable labels"),
    ):
        assert any(repr(name) in note and word in note for note in notes), (name, word)
    found = read_table(tmp_path / "a.xpt")
    assert found.frame["why"].to_list() == [CODES["a"]]
    assert found.codebook["long"].label == "é" * 128


@pytest.mark.parametrize(
    "cells",
    [
        [5e-324],
        [2.0**-261],
        [2.0**249],
        [-1e80],
        [CODES["a"]],
        [2**53 + 1],
        ["x" * 32_768],
        ["a\0"],
        [datetime.timedelta(1)],
    ],
)
def test_what_sas_would_lose_is_refused(tmp_path, cells):
    with pytest.raises(FileError, match="'x'"):
        write_table(table(pl.DataFrame({"x": cells})), tmp_path / "a.xpt")
    assert list(tmp_path.iterdir()) == []


def test_names(tmp_path):
    frame = pl.DataFrame({"body mass": [1], "größe": [2], "1st": [3], "y" * 32: [4]})
    back, notes = round_trip(frame, tmp_path / "a.xpt")
    assert back.columns == ["body_mass", "gr__e", "v1st", "y" * 32]
    assert "'größe' is written as 'gr__e'" in notes[0]
    with pytest.raises(FileError, match="Rename"):
        write_table(table(pl.DataFrame({"Age": [1], "age": [1]})), tmp_path / "b.xpt")


def test_several_data_sets_in_one_file_are_refused(tmp_path):
    write_table(table(pl.DataFrame({"a": [1.5]})), tmp_path / "a.xpt")
    data = (tmp_path / "a.xpt").read_bytes()
    (tmp_path / "b.xpt").write_bytes(data + data[240:])  # Behind three header records, the data set begins.
    with pytest.raises(FileError, match="several data sets"):
        read_table(tmp_path / "b.xpt")


def test_text_in_another_encoding(tmp_path):
    write_table(table(pl.DataFrame({"a": ["xPLANTEDx"]})), tmp_path / "a.xpt")
    data = (tmp_path / "a.xpt").read_bytes()
    (tmp_path / "a.xpt").write_bytes(data.replace(b"xPLANTEDx", b"\xe9PLANTED\xfc"))
    for stated in (None, "utf-8", "ascii"):
        with pytest.raises(FileError, match="State the encoding") as caught:
            read_table(tmp_path / "a.xpt", encoding=stated)
        assert "PLANTED" not in str(caught.value)
    assert read_table(tmp_path / "a.xpt", encoding="cp1252").frame["a"].to_list() == ["éPLANTEDü"]


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("DATE9", pl.Date),
        ("MMDDYY10", pl.Date),
        ("YYMMDDN8", pl.Date),
        ("E8601DA10", pl.Date),
        ("WEEKDATE29", pl.Date),
        ("DATETIME20", pl.Datetime),
        ("E8601DT19", pl.Datetime),
        ("TIME8", pl.Time),
        ("HHMM5", pl.Time),
        ("BEST12", pl.Int64),
        ("DATEX9", pl.Int64),
        ("F8.2", pl.Float64),
    ],
)
def test_formats(tmp_path, form, dtype):
    pyreadstat.write_xport(pl.DataFrame({"x": [22000.0]}), tmp_path / "a.xpt", variable_format={"x": f"{form}"})
    found = read_table(tmp_path / "a.xpt")
    assert found.frame["x"].dtype == dtype
    if dtype == pl.Date:
        assert found.frame["x"].item() == datetime.date(1960, 1, 1) + datetime.timedelta(days=22000)
    write_table(found, tmp_path / "b.xpt")
    assert_same(read_table(tmp_path / "b.xpt").frame, found.frame)
    assert read_table(tmp_path / "b.xpt").codebook == found.codebook


def test_a_sas_data_set(tmp_path):
    sas7bdat.write(
        tmp_path / "a.sas7bdat",
        [
            sas7bdat.Column("age", [31.0, None, 45.0, 1.0], label="Age at interview"),
            sas7bdat.Column("why", [0.5, "A", "_", None]),
            sas7bdat.Column("name", ["Ann", "", None, "Åsa"], width=12, label="Größe"),
            sas7bdat.Column("born", [0.0, -3652.0, None, 22000.0], format="DATE", format_width=9),
        ],
    )
    found = read_table(tmp_path / "a.sas7bdat")
    assert found.frame["age"].to_list() == [31, None, 45, 1]
    assert found.frame["why"].to_list() == [0.5, CODES["a"], CODES["_"], None]
    assert found.frame["name"].to_list() == ["Ann", None, None, "Åsa"]
    assert found.frame["born"].to_list()[:3] == [datetime.date(1960, 1, 1), datetime.date(1950, 1, 1), None]
    assert found.frame.dtypes == [pl.Int64, pl.Float64, pl.String, pl.Date]
    assert found.codebook["why"].missing == (Missing(code=CODES["a"], label=".A"), Missing(code=CODES["_"], label="._"))
    assert [v.label for v in found.codebook.values()] == ["Age at interview", None, "Größe", None]
    assert found.suffix == ".xpt"
    assert write_table(found, tmp_path / "b.xpt") == ()
    back = read_table(tmp_path / "b.xpt")
    assert_same(back.frame, found.frame)
    assert back.codebook == found.codebook


def test_a_sas_data_set_of_many_pages(tmp_path):
    cells = [float(i) for i in range(2000)]
    sas7bdat.write(tmp_path / "a.sas7bdat", [sas7bdat.Column("x", cells), sas7bdat.Column("y", ["t"] * 2000, width=3)])
    assert read_table(tmp_path / "a.sas7bdat").frame["x"].to_list() == list(range(2000))
