import errno
import os
import re
import resource
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files import SUFFIXES, Table, read_table, read_written, write_table, written_names
from sfumato.errors import DataError, FileError, SfumatoError

from .tables import assert_same, table

WRITTEN = list(dict.fromkeys(SUFFIXES.values()))
PLANTED = "PLANTED-7f3a"
NUMBER = 918273645.125


@pytest.mark.parametrize("suffix", WRITTEN)
def test_every_format_is_written_read_and_told(tmp_path, suffix):
    frame = pl.DataFrame({"a": [1, 2], "x": [1.5, None], "s": ["é", None]})
    assert isinstance(write_table(table(frame), tmp_path / f"a{suffix.upper()}"), tuple)
    found = read_table(str(tmp_path / f"a{suffix.upper()}"))
    assert_same(found.frame, frame)
    assert found.suffix == suffix
    assert list(found.codebook) == frame.columns


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=8)
ODD_NAMES = st.one_of(
    NAMES, st.sampled_from(['a"b', "x,y", "two\nlines", "a;b", "a\tb", "=1", "1", "true", " lead", "inf"])
)


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(ODD_NAMES.filter(str.strip), min_size=1, max_size=4, unique=True))
def test_any_name_comes_back_where_names_are_free_and_a_fitted_one_elsewhere(tmp_path, names):
    frame = pl.DataFrame({name: [i, None, 2] for i, name in enumerate(names)})
    for suffix in WRITTEN:
        try:
            notes = write_table(table(frame), tmp_path / f"a{suffix}")
        except FileError as error:
            assert "Rename" in str(error)  # noqa: PT017 - two names that fit to one
            assert suffix in (".sav", ".dta", ".xpt")
            continue
        found = read_written(tmp_path / f"a{suffix}").frame
        assert found.rows() == frame.rows()
        assert (found.columns == names) or (suffix in (".sav", ".dta", ".xpt") and "other names" in notes[0])


def test_unknown_suffixes_list_what_is_known(tmp_path):
    for name in ("a.docx", "a", "a.csv.gz", ".csv"):
        path = tmp_path / name
        path.write_text("x")
        with pytest.raises(FileError) as caught:
            read_table(path)
        assert all(suffix in str(caught.value) for suffix in SUFFIXES)
        with pytest.raises(FileError) as caught:
            write_table(table(pl.DataFrame({"a": [1]})), path)
        assert all(suffix in str(caught.value) for suffix in WRITTEN)
        assert path.read_text() == "x"
    with pytest.raises(FileError):
        write_table(table(pl.DataFrame({"a": [1]})), tmp_path / "a.sas7bdat")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_file(tmp_path, suffix):
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"empty{suffix}").touch()
    os.mkfifo(tmp_path / f"pipe{suffix}")
    for name, word in (
        ("none", "There is no"),
        ("folder", "is a folder"),
        ("empty", "is empty"),
        ("pipe", "not an ordinary"),
    ):
        with pytest.raises(FileError, match=word):
            read_table(tmp_path / f"{name}{suffix}")


def contents(tmp_path: Path) -> dict[str, bytes]:
    """A file of every format, with a planted text and number, and some that are cut off or nonsense."""
    frame = pl.DataFrame({"x": [NUMBER, 2.5] * 50, "s": [PLANTED, "x"] * 50})
    found = {"text": f"{PLANTED} {NUMBER}\n".encode() * 20, "zeros": bytes(500)}
    for suffix in WRITTEN:
        write_table(table(frame), tmp_path / f"source{suffix}")
        data = (tmp_path / f"source{suffix}").read_bytes()
        found |= {
            suffix: data,
            f"half {suffix}": data[: len(data) // 2],
            f"damaged {suffix}": data[:64] + b"\xff" * 900,
        }
        found[f"spoilt {suffix}"] = data[: len(data) // 3] + b"\xfe\x01\x80" + data[len(data) // 3 + 3 :]
        (tmp_path / f"source{suffix}").unlink()
    return found


ALIKE = {".csv": {".csv", ".tsv", ".txt"}, ".sav": {".sav", ".zsav"}}


@pytest.mark.slow
def test_a_wrong_or_damaged_file_is_refused_without_a_word_of_its_content(tmp_path):
    refused = 0
    for suffix in SUFFIXES:
        for name, data in contents(tmp_path).items():
            path = tmp_path / f"a{suffix}"
            path.write_bytes(data)
            kind = ".csv" if name == "text" else name.split()[-1]
            error = None
            try:
                found = read_table(path)
            except SfumatoError as caught:
                error = caught
            told = repr(error) if error else " ".join(found.notes)
            assert error or suffix in ALIKE.get(kind, {kind})
            assert error is None or error.__suppress_context__ or error.__context__ is None
            if name != "text":  # There the first line stands where the names should be.
                assert PLANTED not in told
                assert "918273645" not in told
            refused += error is not None
    assert refused > 150


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_disk_that_is_full(tmp_path, suffix):
    """Every library meets a file that may not grow; the old file stands and nothing else is left."""
    frame = pl.DataFrame(
        {"x": [NUMBER / (i + 1) for i in range(5000)], "s": [f"{PLANTED}{i * 7919}" for i in range(5000)]}
    )
    target = tmp_path / f"a{suffix}"
    target.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (0, 1, 5000, 40_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(FileError) as caught:
                write_table(table(frame), target)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert PLANTED not in repr(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        assert target.read_text() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == [target.name]


WRITES = {
    ".csv": (pl.DataFrame, "write_csv"),
    ".parquet": (pl.DataFrame, "write_parquet"),
    ".xlsx": (xlsxwriter.Workbook, "close"),
    ".sav": (pyreadstat, "write_sav"),
    ".dta": (pyreadstat, "write_dta"),
    ".xpt": (pyreadstat, "write_xport"),
}


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), FileError),
        (RuntimeError(f"{PLANTED} {NUMBER}"), FileError),
    ],
    ids=["interrupted", "full", "failed"],
)
def test_a_write_that_ends_half_way(tmp_path, monkeypatch, suffix, fault, expected):
    def half(self, *args, **kwargs):
        for path in tmp_path.glob(".sfumato-*.tmp"):
            path.write_text("half")
        raise fault

    target = tmp_path / f"a{suffix}"
    target.write_text("old")
    owner, name = WRITES[suffix]
    monkeypatch.setattr(owner, name, half)
    with pytest.raises(expected) as caught:
        write_table(table(pl.DataFrame({"x": [NUMBER], "s": [PLANTED]})), target)
    assert PLANTED not in str(caught.value)
    if isinstance(fault, OSError):
        assert "disk is full" in str(caught.value)
    assert target.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_no_file_tells_when_it_was_written(tmp_path, suffix):
    label = "<timestamp>\x1124 Nov 2026 00:01</timestamp>"[: 40 if suffix == ".xpt" else 60]
    frame = pl.DataFrame({"x": [1.5], "s": ["24 Nov 26"]})
    book = Codebook({"x": Variable(label="01:02:03")}).only(["x", "s"])
    write_table(Table(frame, book, suffix, label=label), tmp_path / f"a{suffix}")
    reads = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}
    read, meta = reads[suffix](tmp_path / f"a{suffix}", output_format="polars")
    assert (meta.creation_time, meta.modification_time) == (datetime(1980, 1, 1),) * 2
    assert (read.rows(), meta.column_labels[0]) == ([(1.5, "24 Nov 26")], "01:02:03")


def test_a_workbook_tells_no_hour(tmp_path):
    write_table(table(pl.DataFrame({"x": [1]})), tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        hours = re.findall(r"\d{4}-\d\d-\d\dT[^<]*", book.read("docProps/core.xml").decode())
        assert set(hours) == {"1980-01-01T00:00:00Z"}
        assert {one.date_time for one in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_folder_that_is_not_there(tmp_path, suffix):
    with pytest.raises(FileError, match="does not exist"):
        write_table(table(pl.DataFrame({"x": [1]})), tmp_path / "none" / f"a{suffix}")
    with pytest.raises(FileError, match="is a folder"):
        (tmp_path / f"b{suffix}").mkdir()
        write_table(table(pl.DataFrame({"x": [1]})), tmp_path / f"b{suffix}")


@pytest.mark.parametrize("suffix", WRITTEN)
def test_infinite_values_are_never_written(tmp_path, suffix):
    with pytest.raises(DataError, match="'x'") as caught:
        write_table(table(pl.DataFrame({"x": [NUMBER, float("inf")]})), tmp_path / f"a{suffix}")
    assert "918273645" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", WRITTEN)
def test_nan_is_written_as_missing(tmp_path, suffix):
    write_table(table(pl.DataFrame({"x": [1.5, float("nan"), 2.5]})), tmp_path / f"a{suffix}")
    assert read_table(tmp_path / f"a{suffix}").frame["x"].to_list() == [1.5, None, 2.5]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_no_note_holds_a_value(tmp_path, suffix):
    codes = {NUMBER: PLANTED}
    variable = Variable(
        labels=codes, missing=[{"code": NUMBER, "label": PLANTED}], order=(NUMBER,), format="JUNK", unit="m"
    )
    frame = pl.DataFrame({"x": [NUMBER, 1.5], "s": [PLANTED, " "], "code": ["007", "008"], "mix": ["5", PLANTED]})
    notes = write_table(table(frame, Codebook(dict.fromkeys(frame.columns, variable))), tmp_path / f"a{suffix}")
    notes += read_table(tmp_path / f"a{suffix}").notes
    assert notes or suffix == ".parquet"
    assert not any(PLANTED in note or "918273645" in note or "007" in note for note in notes)


def test_options_without_meaning_are_told(tmp_path):
    write_table(table(pl.DataFrame({"x": [1.5]})), tmp_path / "a.parquet")
    found = read_table(tmp_path / "a.parquet", delimiter=";", encoding="utf-8", decimal=",", sheet=1)
    assert sum("no meaning" in note for note in found.notes) == 4


def test_a_frame_of_any_kind():
    assert isinstance(read_table(pl.DataFrame({"a": [1]})), Table)


IMPORTS = """
import sys
import sfumato.data.files as files
heavy = {"pandas", "pyarrow", "pyreadstat", "fastexcel", "xlsxwriter", "narwhals", "charset_normalizer"}
print(sorted(heavy & set(sys.modules)))
import polars as pl
for suffix in dict.fromkeys(files.SUFFIXES.values()):
    table = files.read_table(pl.DataFrame({"a": [1], "s": ["x"], "t": [1.5]}))
    files.write_table(table, sys.argv[1] + "/a" + suffix)
    files.read_table(sys.argv[1] + "/a" + suffix)
print("pandas" in sys.modules)
"""


@pytest.mark.slow
def test_no_library_is_loaded_before_its_time_and_pandas_never(tmp_path):
    done = subprocess.run([sys.executable, "-c", IMPORTS, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "False"]
    assert done.stderr == ""


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt", ".csv", ".parquet", ".xlsx"])
def test_written_names_are_those_in_the_file(tmp_path, suffix):
    frame = pl.DataFrame({"id": [1.5, 2.5], "edu=1": [0.5, 1.5], "body mass": [2.5, 3.5], "using": [1.5, 1.25]})
    write_table(Table(frame, Codebook(), suffix), tmp_path / f"a{suffix}")
    names = written_names(frame.columns, suffix)
    assert list(names) == frame.columns
    assert read_table(tmp_path / f"a{suffix}").frame.columns == list(names.values())


def test_names_that_fall_together_are_refused():
    with pytest.raises(FileError, match="one name for"):
        written_names(["a b", "a_b"], ".sav")


@pytest.mark.parametrize("suffix", [".parquet", ".sav", ".dta", ".xpt"])
def test_the_label_of_the_file_comes_back(tmp_path, suffix):
    frame = pl.DataFrame({"a": [1, 2]})
    for label in ("Households of 1984", None):
        assert write_table(Table(frame, Codebook(), suffix, label=label), tmp_path / f"a{suffix}") == ()
        assert read_table(tmp_path / f"a{suffix}").label == label
    if suffix != ".parquet":
        notes = write_table(Table(frame, Codebook(), suffix, label="é" * 200), tmp_path / f"a{suffix}")
        assert any("shorter label of the file" in note for note in notes)
