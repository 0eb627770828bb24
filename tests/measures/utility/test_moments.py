import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.utility.moments import correlation, findings, mean_and_sd


def test_agrees_with_numpy():
    rng = np.random.default_rng(0)
    x, y = rng.lognormal(size=(2, 500))
    mean, sd = mean_and_sd(x)
    assert mean == pytest.approx(np.mean(x), rel=1e-13)
    assert sd == pytest.approx(np.std(x, ddof=1), rel=1e-13)
    assert correlation(x, x + y) == pytest.approx(np.corrcoef(x, x + y)[0, 1], rel=1e-12)


def test_offsets_do_not_cancel():
    """1e9 + (−1, 0, 1): sums of squares would give a variance of 0."""
    x = 1e9 + np.array([-1.0, 0.0, 1.0])
    assert mean_and_sd(x) == (1e9, 1.0)
    assert correlation(x, x**1) == pytest.approx(1)


def test_row_order_changes_nothing():
    rng = np.random.default_rng(1)
    x, y = rng.lognormal(sigma=3, size=(2, 5000))
    order = rng.permutation(5000)
    assert mean_and_sd(x[order]) == mean_and_sd(x)
    assert correlation(x[order], y[order]) == pytest.approx(correlation(x, y), rel=1e-12)


def test_few_values():
    assert mean_and_sd(np.array([])) == (None, None)
    assert mean_and_sd(np.array([np.nan, 2.0])) == (2.0, None)
    assert correlation(np.array([1.0, 1.0]), np.array([1.0, 2.0])) is None
    assert correlation(np.array([1.0, np.nan]), np.array([1.0, 2.0])) is None


def test_findings():
    before = pl.DataFrame({"Age": [1.0, 2.0, 3.0, -9.0], "Fare": [2.0, 4.0, 6.0, 1.0]})
    after = pl.DataFrame({"Age": [2.0, 2.0, 5.0], "Fare": [3.0, 3.0, 0.0]})
    found = findings(Pair(before, after, Codebook({"Age": Variable(missing=[-9])}), ("Age", "Fare")))
    assert [(f.measure, f.variable) for f in found] == [
        ("mean", "Age"),
        ("mean", "Fare"),
        ("sd", "Age"),
        ("sd", "Fare"),
        ("correlation", "Age × Fare"),
    ]
    assert (found[0].value, found[0].baseline) == (3.0, 2.0)
    assert (found[2].value, found[2].baseline) == (pytest.approx(np.sqrt(3)), 1.0)
    assert (found[4].value, found[4].baseline) == (pytest.approx(-1), pytest.approx(1))


def test_what_cannot_be_had_is_said():
    before = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.0]})
    found = findings(Pair(before, before.clear(), Codebook(), ("a", "b")))
    assert found.of("mean", variable="a").value is None
    assert found.of("mean", variable="a").baseline == 1.5
    assert found.of("correlation").baseline is None
    assert len(found.notes) == 3
