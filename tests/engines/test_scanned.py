"""What is scanned is answered as what is read."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset, rows
from sfumato.data.query import Counts, Largest, Moments, Quantiles
from sfumato.engines.scanned import ScannedDataset
from sfumato.errors import DataError, FileError

FRAME = pl.DataFrame(
    {
        "g": ["a", None, "b", "a"],
        "h": [1.5, float("nan"), None, 1.5],
        "w": [2.0, -9.0, 3.5, None],
        "n": [None, None, None, None],
        "list": [[1], [2], [3], [4]],
    }
)
BOOK = Codebook({"w": Variable(kind="continuous", missing=[-9])})


@pytest.fixture
def scanned(tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    found = ScannedDataset.open(tmp_path / "a.parquet")
    return ScannedDataset(found.rows, BOOK.only(found.schema), found.path)


@pytest.mark.parametrize(
    "query",
    [
        Counts(("g",)),
        Counts(("h", "g"), "w"),
        Counts(()),
        Counts((), "w"),
        Counts(("n",)),
        Moments(("w",), ("g",)),
        Quantiles("w", (0.5,)),
        Largest("w", ("g",), 1),
    ],
)
def test_answers_are_those_of_the_table_in_memory(scanned, query):
    assert isinstance(scanned, Dataset)
    assert_frame_equal(scanned.ask(query), sf.read(FRAME.drop("list"), codebook=BOOK).ask(query))


def test_rows_are_read_where_they_are_needed(scanned):
    assert rows(scanned, ["g"])["g"].to_list() == ["a", None, "b", "a"]
    fewer = scanned.map(lambda frame: frame.select("g").head(2))
    assert fewer.ask(Counts(())).item() == 2
    assert list(fewer.codebook) == ["g"]


def test_what_the_codebook_of_the_file_says(tmp_path):
    sf.read(FRAME.drop("list"), codebook=BOOK)
    from sfumato.data.files import Table, write_table

    write_table(Table(FRAME.select("w"), BOOK, ".parquet"), tmp_path / "b.parquet")
    assert ScannedDataset.open(tmp_path / "b.parquet").codebook["w"].missing[0].code == -9


def test_unfit_columns_are_refused(scanned, tmp_path):
    scanned.check(["g", "h", "n"])
    with pytest.raises(DataError, match="'list'"):
        scanned.check(["g", "list"])
    with pytest.raises(DataError, match="no column 'z'"):
        scanned.ask(Counts(("z",)))
    with pytest.raises(DataError, match="numeric"):
        scanned.ask(Counts((), "g"))
    FRAME.select("g", h=pl.lit(float("inf"))).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(DataError, match="Infinite values in column 'h'"):
        ScannedDataset.open(tmp_path / "c.parquet").check(["g", "h"])
    FRAME.clear().write_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataError, match="no rows"):
        ScannedDataset.open(tmp_path / "d.parquet").check(["g"])


def test_files_that_are_none(tmp_path):
    (tmp_path / "a.parquet").write_text("g;h")
    for path in (tmp_path / "a.parquet", tmp_path / "none.parquet"):
        with pytest.raises(FileError):
            ScannedDataset.open(path)
