"""Which numbers averages hide."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.data.codebook import Variable
from sfumato.kernels.neighbours.mdav import group_means, mdav
from sfumato.plan.averaging import hardly_masked, patterns_of


def unchanged(frame):
    """Share of each column's values that microaggregation in fives leaves."""
    x = frame.to_numpy().astype(float)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    made = group_means(z, mdav(z, 5))
    return dict(zip(frame.columns, np.isclose(made, z).mean(axis=0), strict=True))


def test_a_number_that_averages_would_leave_is_found():
    rng = np.random.default_rng(3)
    n = 3000
    frame = pl.DataFrame({"age": rng.integers(18, 90, n), "pay": rng.lognormal(10, 1, n)})
    alone = frame.select("age")
    assert unchanged(alone)["age"] > 0.5
    assert hardly_masked(alone, {"age": Variable()}, 5) == ("age",)
    pay = frame.select("pay")
    assert unchanged(pay)["pay"] < 0.5
    assert hardly_masked(pay, {"pay": Variable()}, 5) == ()


def test_more_columns_widen_the_groups():
    rng = np.random.default_rng(4)
    n = 2000
    frame = pl.DataFrame({"age": rng.integers(18, 90, n), **{f"v{j}": rng.normal(size=n) for j in range(4)}})
    assert unchanged(frame)["age"] < 0.5
    assert hardly_masked(frame, {c: Variable() for c in frame.columns}, 5) == ()


def test_a_column_of_zeros_is_found():
    rng = np.random.default_rng(6)
    gain = np.where(rng.random(1000) < 0.9, 0.0, rng.lognormal(8, 1, 1000))
    assert hardly_masked(pl.DataFrame({"gain": gain}), {"gain": Variable()}, 5) == ("gain",)


def test_patterns_of_missing_values():
    frame = pl.DataFrame({"a": [1.0, None, float("nan"), 4.0], "b": [1, 2, 3, -9]})
    first, second, third, fourth = patterns_of(frame, {"a": Variable(), "b": Variable(missing=[-9])})
    assert second == third
    assert len({first, second, fourth}) == 3
    assert not patterns_of(frame.select("b"), {"b": Variable()}).any()
