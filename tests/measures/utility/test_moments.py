import math

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.utility.moments import findings, mean_and_sd


def of(values):
    """Mean and standard deviation of one column."""
    return mean_and_sd(sf.read(pl.DataFrame({"x": values})), ["x"])["x"]


def test_agrees_with_numpy():
    x = np.random.default_rng(0).lognormal(size=500)
    mean, sd = of(x)
    assert mean == pytest.approx(np.mean(x), rel=1e-13)
    assert sd == pytest.approx(np.std(x, ddof=1), rel=1e-13)


def test_offsets_do_not_cancel():
    """1e9 + (−1, 0, 1): sums of squares would give a variance of 0."""
    assert of(1e9 + np.array([-1.0, 0.0, 1.0])) == (1e9, 1.0)


def test_row_order_changes_nothing():
    rng = np.random.default_rng(1)
    x = rng.lognormal(sigma=3, size=5000)
    assert of(rng.permutation(x)) == of(x)


def test_few_values():
    assert mean_and_sd(sf.read(pl.DataFrame({"x": [1.0]})).map(lambda frame: frame.clear()), ["x"])["x"] == (None, None)
    assert of([float("nan"), 2.0]) == (2.0, None)


def test_findings():
    book = Codebook({"Age": Variable(missing=[-9])})
    before = sf.read(pl.DataFrame({"Age": [1.0, 2.0, 3.0, -9.0], "Fare": [2.0, 4.0, 6.0, 1.0]}), codebook=book)
    after = sf.read(pl.DataFrame({"Age": [2.0, 2.0, 5.0], "Fare": [3.0, 3.0, 0.0]}), codebook=book)
    found = findings(before, after, ("Age", "Fare"))
    assert [(f.measure, f.variable) for f in found] == [
        ("mean", "Age"),
        ("mean", "Fare"),
        ("sd", "Age"),
        ("sd", "Fare"),
    ]
    assert (found[0].value, found[0].baseline) == (3.0, 2.0)
    assert (found[2].value, found[2].baseline) == (pytest.approx(math.sqrt(3)), 1.0)


def test_what_cannot_be_had_is_said():
    before = sf.read(pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.0]}))
    found = findings(before, before.map(lambda frame: frame.clear()), ("a", "b"))
    assert found.of("mean", variable="a").value is None
    assert found.of("mean", variable="a").baseline == 1.5
    assert len(found.notes) == 2
