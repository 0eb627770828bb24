"""Quantiles from digits, however many passes they take, are those of sorted values, to the last bit."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.query import Quantiles
from sfumato.engines.folding import Folding
from sfumato.kernels import order_statistics

PROBS = (0.0, 0.25, 0.5, 1.0)


def folding(frame, size, seen):
    """An engine that has nothing but batches."""

    def fold(query):
        seen.append(query)
        return query.merge(pl.concat([query.f(part) for part in frame.select(query.columns).iter_slices(size)]))

    return Folding(fold, Codebook().only(frame.columns), frame.schema)


def numbers(n):
    rng = np.random.default_rng(5)
    near = 7 + rng.random(n) * 1e-9  # these begin with the same 40 bits
    return pl.DataFrame({"g": rng.integers(0, 50, n), "near": near, "far": rng.normal(size=n) ** 9})


@pytest.mark.parametrize(("few", "passes"), [(1 << 20, 2), (0, 4)])
def test_passes_are_as_many_as_values_ask_for(monkeypatch, few, passes):
    monkeypatch.setattr(order_statistics, "_FEW", few)
    frame = numbers(2000)
    for column in ("near", "far"):
        seen = []
        found = folding(frame, 300, seen).quantiles(Quantiles(column, PROBS))
        assert found["value"].to_list() == np.quantile(frame[column].to_numpy(), PROBS).tolist()
        assert len(seen) == passes


@pytest.mark.slow
@pytest.mark.parametrize("few", [1 << 20, 0])
def test_groups_that_no_batch_has_all_of(monkeypatch, few):
    monkeypatch.setattr(order_statistics, "_FEW", few)
    frame = numbers(600)
    found = folding(frame, 7, []).quantiles(Quantiles("near", PROBS, ("g",)))
    for (g,), rows in frame.group_by("g"):
        expected = np.quantile(rows["near"].to_numpy(), PROBS).tolist()
        assert found.filter(pl.col("g") == g)["value"].to_list() == expected


def test_a_few_places_are_kept_apart_whatever_values_begin_alike():
    frame = pl.DataFrame({"g": ["a", "b", "a", "b", "a"], "x": [1.0, 1.0, 1.0 + 2**-52, 3.0, 1.0 + 2**-51]})
    found = folding(frame, 2, []).quantiles(Quantiles("x", (0.5,), ("g",)))
    assert found.rows() == [("a", 0.5, 1.0 + 2**-52), ("b", 0.5, 2.0)]
