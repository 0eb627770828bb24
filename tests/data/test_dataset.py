"""What is known of a table can be replaced without going through its rows."""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import with_codebook
from sfumato.data.query import Counts
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.scanned import ScannedDataset
from tests.release.scattered import Scattered

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def scanned(folder):
    FRAME.write_parquet(folder / "a.parquet")
    return ScannedDataset.open(folder / "a.parquet")


@pytest.mark.parametrize(
    "make",
    [
        lambda _: PolarsDataset(FRAME, Codebook()),
        scanned,
        lambda _: DuckDBDataset.of(FRAME, Codebook()),
        lambda _: Scattered.of(FRAME),
    ],
    ids=["memory", "scanned", "duckdb", "another"],
)
def test_a_codebook_is_replaced_alone(tmp_path, make):
    data = make(tmp_path)
    told = with_codebook(data, Codebook({"b": Variable(unit="cm"), "gone": Variable()}))
    assert list(told.codebook) == ["a", "b"]
    assert told.codebook["b"].unit == "cm"
    assert data.codebook["b"].unit is None
    assert told.ask(Counts(("b",)))["b"].to_list() == ["x", "y"]
    assert not getattr(told, "waiting", ())
    getattr(data, "close", lambda: None)()
