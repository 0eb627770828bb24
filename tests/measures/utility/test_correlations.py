import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.utility.correlations import correlation, findings


def test_agrees_with_numpy():
    rng = np.random.default_rng(0)
    x, y = rng.lognormal(size=(2, 500))
    assert correlation(x, x + y) == pytest.approx(np.corrcoef(x, x + y)[0, 1], rel=1e-12)


def test_offsets_do_not_cancel():
    x = 1e9 + np.array([-1.0, 0.0, 1.0])
    assert correlation(x, x**1) == pytest.approx(1)


def test_row_order_changes_nothing():
    rng = np.random.default_rng(1)
    x, y = rng.lognormal(sigma=3, size=(2, 5000))
    order = rng.permutation(5000)
    assert correlation(x[order], y[order]) == pytest.approx(correlation(x, y), rel=1e-12)


def test_few_values():
    assert correlation(np.array([1.0, 1.0]), np.array([1.0, 2.0])) is None
    assert correlation(np.array([1.0, np.nan]), np.array([1.0, 2.0])) is None
    assert correlation(np.array([]), np.array([])) is None


def test_only_rows_with_both_values_count():
    """Without the third row the two go exactly apart."""
    x, y = np.array([1.0, 2.0, 100.0, 3.0]), np.array([6.0, 4.0, np.nan, 2.0])
    assert correlation(x, y) == pytest.approx(-1, abs=1e-15)


def test_findings_of_every_two_columns():
    before = pl.DataFrame({"Age": [1.0, 2.0, 3.0, -9.0], "Fare": [2.0, 4.0, 6.0, 1.0]})
    after = pl.DataFrame({"Age": [2.0, 2.0, 5.0], "Fare": [3.0, 3.0, 0.0]})
    (found,) = findings(Pair(before, after, Codebook({"Age": Variable(missing=[-9])}), ("Age", "Fare")))
    assert (found.measure, found.variable) == ("correlation", "Age × Fare")
    assert (found.value, found.baseline) == (pytest.approx(-1), pytest.approx(1))
    three = findings(
        Pair(*(t.with_columns(Third=pl.col("Fare") * 2) for t in (before, after)), Codebook(), ("Age", "Fare", "Third"))
    )
    assert [f.variable for f in three] == ["Age × Fare", "Age × Third", "Fare × Third"]


def test_what_cannot_be_had_is_said():
    before = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.0]})
    found = findings(Pair(before, before.clear(), Codebook(), ("a", "b")))
    assert found.of("correlation").baseline is None
    assert len(found.notes) == 1
