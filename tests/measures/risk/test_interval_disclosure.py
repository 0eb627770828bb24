import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.risk.interval_disclosure import findings, interval_disclosure, relative_disclosure

X = np.array([[0.0, 10.0], [1.0, 20.0], [2.0, 30.0], [3.0, 40.0]])
# released columns (0, 1, 2, 7) and (10, 22, 30, 40): sd 3.109 and 12.689, so ± 0.05 sd is 0.155 and 0.634
Z = np.array([[0.0, 10.0], [1.0, 22.0], [2.0, 30.0], [7.0, 40.0]])


def test_all_or_any_variable():
    assert interval_disclosure(X, Z) == 0.5
    assert interval_disclosure(X, Z, inside="any") == 1.0
    assert interval_disclosure(X, Z, k=0.16) == 0.75  # 0.16 × 12.689 = 2.03 takes in the 22
    assert interval_disclosure(X, Z, k=0.15) == 0.5


def test_the_sd_is_that_of_the_released_column():
    """sd of the original first column is 1.29: its 0.05 would be 0.065, not 0.155."""
    z = Z.copy()
    z[0, 0] = 0.1
    assert interval_disclosure(X, z) == 0.5


def test_rows_with_a_missing_value_do_not_count():
    z = Z.copy()
    z[3] = np.nan
    x = X.copy()
    x[1, 0] = np.nan
    assert interval_disclosure(x, z) == 1.0


@pytest.mark.parametrize("x", [np.empty((0, 2)), np.empty((3, 0)), np.full((2, 1), np.nan)])
def test_nothing_to_measure(x):
    assert interval_disclosure(x, x) is None


def test_one_record_and_a_constant_column_are_disclosed():
    assert interval_disclosure(np.array([[3.0]]), np.array([[3.0]])) == 1.0
    assert interval_disclosure(np.ones((5, 1)), np.ones((5, 1))) == 1.0


def pair(aligned=True):
    book = Codebook({"a": Variable(kind="continuous", missing=[-9])})
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0, -9.0]})
    return Pair(before, before.with_columns(pl.col("a") + 0.005), book, ("a",), aligned=aligned)


def test_finding():
    found = findings(pair(), k=0.1)
    assert [(f.group, f.at, f.value, f.baseline) for f in found] == [
        (None, 0.1, 1.0, 1.0),
        ("relative", 0.01, 1.0, 1.0),
        ("relative", 0.05, 1.0, 1.0),
    ]
    assert "missing" in found.notes[0]


def test_small_values_are_told_by_their_own_size():
    """Within a tenth of a standard deviation all lie; within 1% of themselves only the largest."""
    x = np.array([[1.0], [2.0], [100.0]])
    z = x + 0.2
    assert interval_disclosure(x, z, k=0.1) == 1.0
    assert relative_disclosure(x, z, 0.01) == pytest.approx(1 / 3)
    assert relative_disclosure(x, z, 0.15) == pytest.approx(2 / 3)
    assert relative_disclosure(np.zeros((2, 1)), np.array([[0.0], [1e-9]]), 0.05) == 0.5


def test_what_is_read_off_after_undoing_the_scale_is_a_group_of_its_own():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 9.0]})
    apart = Pair(frame, frame.with_columns(pl.col("a") * 2), Codebook(), ("a",), aligned=True)
    found = findings(apart, unscaled=frame.select("a").to_numpy())
    assert {f.group: f.value for f in found if f.at == 0.05} == {
        None: 0.0,
        "relative": 0.0,
        "unscaled": 1.0,
        "relative unscaled": 1.0,
    }


def test_tables_that_are_not_joined():
    found = findings(pair(aligned=False))
    assert not len(found)
    assert "not joined" in found.notes[0]


def test_no_records():
    empty = pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)})
    found = findings(Pair(empty, empty, Codebook(), ("a",), aligned=True))
    assert found[0].value is None
    assert found.notes
