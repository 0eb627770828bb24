import duckdb
import polars as pl
import pyarrow as pa
import pytest

from sfumato.data.codebook import Variable
from sfumato.data.files import read_table
from sfumato.errors import DataError
from tests.late import late

pd = late("pandas")

DATA = {"age": [31, 45], "name": ["Ann", None], "x": [1.5, 2.5]}


@pytest.mark.parametrize(
    "source",
    [
        lambda: pl.DataFrame(DATA),
        lambda: pl.LazyFrame(DATA),
        lambda: pd.DataFrame(DATA),
        lambda: pa.table(DATA),
        lambda: duckdb.from_arrow(pa.table(DATA)),
    ],
    ids=["polars", "lazy", "pandas", "pyarrow", "duckdb"],
)
def test_any_frame(source):
    found = read_table(source())
    assert found.frame.equals(pl.DataFrame(DATA))
    assert found.suffix == ".parquet"
    assert dict(found.codebook) == dict.fromkeys(DATA, Variable())
    assert found.notes == ()


def test_nan_of_any_library_is_missing():
    values = [1.0, float("nan"), None]
    for source in (pl.DataFrame({"a": values}), pd.DataFrame({"a": values}), pa.table({"a": values})):
        assert read_table(source).frame["a"].to_list() == [1.0, None, None]


@pytest.mark.parametrize(
    "source",
    [
        lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
        lambda: pa.table([[1], [2]], names=["a", "a"]),
        lambda: duckdb.sql("select 1 as a, 2 as a"),
    ],
    ids=["pandas", "pyarrow", "duckdb"],
)
def test_duplicated_names(source):
    with pytest.raises(DataError, match="Duplicated"):
        read_table(source())


@pytest.mark.parametrize(
    "source",
    [
        lambda: pd.DataFrame([[1, 2]]),
        lambda: pd.DataFrame({"": [1]}),
        lambda: pd.DataFrame({"a": []}),
        lambda: pl.DataFrame(),
        lambda: pl.DataFrame({"a": [float("-inf")]}),
        lambda: pl.DataFrame({"a": [[1]]}),
        lambda: pl.DataFrame({"a": [object()]}),
        lambda: pd.DataFrame({"a": ["PLANTED", 1, 2.5]}),
        lambda: pd.DataFrame({"a": [object()]}),
        lambda: pl.Series("a", [1]),
        lambda: {"a": [1]},
        lambda: None,
        lambda: 5,
    ],
)
def test_what_is_refused(source):
    with pytest.raises(DataError) as caught:
        read_table(source())
    assert "PLANTED" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_row_index_is_told():
    assert "index" in read_table(pd.DataFrame(DATA, index=["i", "j"])).notes[0]
    assert read_table(pd.DataFrame(DATA).iloc[::-1].reset_index(drop=True)).notes == ()


def test_categories_are_kept():
    found = read_table(pd.DataFrame({"a": pd.Categorical(["x", "y", "x"])}))
    assert found.frame["a"].cast(pl.String).to_list() == ["x", "y", "x"]


@pytest.mark.parametrize("name", ["*", "^x$", "^$"])
def test_a_name_that_would_be_a_pattern_of_names_is_refused(name):
    for source in (pl.DataFrame({"a": [1], name: [2]}), pa.table({"a": [1], name: [2]})):
        with pytest.raises(DataError, match="Column 2 has a name that would stand for several columns.*Rename"):
            read_table(source)
    assert read_table(pl.DataFrame({"^x": [1], "x$": [2], "**": [3]})).frame.columns == ["^x", "x$", "**"]
