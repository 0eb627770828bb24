import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.out_of_range import findings, out_of_range

VALUES = np.array([-1.0, 0.0, 60.0, 120.0, 121.0, np.nan])


@pytest.mark.parametrize(
    ("low", "high", "share"), [(0, 120, 0.4), (0, None, 0.2), (None, 120, 0.2), (None, None, 0.0), (200, 300, 1.0)]
)
def test_bounds_belong_to_the_range(low, high, share):
    assert out_of_range(VALUES, low, high) == share


def test_no_value():
    assert out_of_range(np.array([]), 0, 1) is None
    assert out_of_range(np.array([np.nan]), 0, 1) is None


BOOK = Codebook(
    {
        "age": Variable(kind="integer", range=(0, 120), missing=[-9]),
        "fare": Variable(kind="continuous"),
        "sex": Variable(kind="categorical", range=(0, 1)),
        "gone": Variable(kind="integer", range=(0, 1)),
    }
)


def test_one_line_for_each_variable_with_a_range():
    frame = pl.DataFrame({"age": [-3, 5, -9, 130], "fare": [1.0, 2.0, 3.0, 4.0], "sex": ["f", "m", "f", "m"]})
    before = frame.with_columns(age=pl.Series([3, 5, -9, 130]))
    found = findings(sf.read(frame, codebook=BOOK), given=sf.read(before, codebook=BOOK))
    assert [(f.measure, f.variable, f.value) for f in found] == [("out_of_range", "age", pytest.approx(2 / 3))]
    assert found[0].baseline == pytest.approx(1 / 3)
    assert "'sex'" in found.notes[0]
    assert findings(sf.read(frame, codebook=BOOK))[0].baseline is None


def test_a_column_without_values():
    found = findings(sf.read(pl.DataFrame({"age": [-9, -9]}), codebook=BOOK))
    assert found[0].value is None
    assert "'age'" in found.notes[0]


def test_counts_add_up_over_any_batches():
    frame = pl.DataFrame({"age": [-3, 5, -9, 130, 7, -1, None], "sex": list("fmfmfmf")})
    engines = (DuckDBDataset.of(frame, BOOK), PolarsDataset(frame, BOOK, batch_rows=2))
    whole = findings(PolarsDataset(frame, BOOK))
    assert whole[0].value == 3 / 5
    for data in engines:
        assert findings(data, given=data) == findings(PolarsDataset(frame, BOOK), given=PolarsDataset(frame, BOOK))
