import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.files.tables import read_cells, write_cells
from sfumato.errors import DataError, FileError

FIGURES = ("contributors", "largest", "second", "status", "lower_level", "upper_level", "lower", "upper", "cell_key")
codes = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=8).filter(str.strip)


@pytest.mark.slow
@given(st.lists(st.tuples(codes, st.none() | st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=9))
def test_what_is_written_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    cells = pl.DataFrame(rows, schema={"a,b": pl.String, "count": pl.Float64}, orient="row")
    write_cells(cells, path)
    assert read_cells(path, "count", delimiter=",").rows() == [(code, x if x is None else x + 0.0) for code, x in rows]


def test_codes_are_text_as_it_stands(tmp_path):
    (tmp_path / "t.csv").write_text("code;count\n01;1\n007;2\n")
    assert read_cells(tmp_path / "t.csv", "count").rows() == [("01", 1.0), ("007", 2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex,count\nf,secret\n", "line 2: column 'count'"),
        ("sex,count\nf,1\nm,nan\n", "line 3: column 'count'"),
        ("sex,count\n,5\n", "line 2: column 'sex'"),
        ("sex,count,status\nf,1,secret\n", "line 2: column 'status'"),
        ("sex,count\nf,1,2,3\n", "line 2: there are more"),
        ("sex,sex\nf,1\n", "a name of its own"),
        ('sex,count\nf,"1\n', "quoted"),
        ("", "is empty"),
        ("sex,count\n", "no cell"),
    ],
)
def test_bad_files_are_refused_without_their_values(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_cells(tmp_path / "t.csv", "count", FIGURES, delimiter=",")
    assert "secret" not in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        read_cells(tmp_path / "t.csv", "count")


def test_a_table_of_tau_argus(shared_data):
    path = shared_data / "tables" / "tauargus_pp_table.csv"
    names = ["Size", "Region", "value", "freq", "shadow", "cost", "top1", "top2", "status", "lpl", "upl"]
    cells = read_cells(
        path, "value", names[3:8] + names[9:], delimiter=";", decimal_comma=True, columns=names, stripped=True
    )
    assert cells.height == 162
    assert cells["value"][0] == 16847646.84
    assert cells["status"].value_counts().sort("status").rows() == [("s", 110), ("u", 9), ("w", 43)]
    assert cells["Region"][2] == "1"
