import polars as pl
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.measures.risk.below_k import MEASURE, below_k
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, keyed, records, sizes, table


@given(records)
def test_as_counted_record_by_record(rows):
    size = sizes(rows)
    subject = Subject(table(rows), classes=(Classes("keys", BY),))
    assert {f.at: f.value for f in MEASURE.compute(subject)} == {
        k: sum(size[row[:2]] < k for row in keyed(rows)) for k in (2, 3, 5)
    }


def test_wildcards_in_part():
    """Each complete record of a = 1 has half of the one without b, which has both and itself."""
    rows = [(1, "x", None), (1, "y", None), (1, None, None), *[(2, "x", None)] * 2]
    assert below_k(table(rows), BY, 1.5, missing="wildcard:0.5") == 0
    assert below_k(table(rows), BY, 2, missing="wildcard:0.5") == 2


@pytest.mark.parametrize(
    ("file", "keys", "expected"),
    [
        ("francdat", ["Key1", "Key2", "Key3", "Key4"], [4, 8, 8]),
        ("testdata", ["urbrur", "roof", "walls", "water", "sex"], [12, 24, 79]),
        ("free1", ["SEX", "MARSTAT", "EDUC1", "ETNI"], [91, 145, 235]),
    ],
)
def test_published_counts(shared_data, file, keys, expected):
    """sdcMicro's data sets, with the counts that its R package gives."""
    data = sf.read(pl.read_csv(shared_data / "sdcmicro" / f"{file}.csv", columns=keys))
    assert [below_k(data, keys, k) for k in (2, 3, 5)] == expected
