"""All decomposable sets of margins: their number, and their bounds against the ones worked out for each."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.tables.bounds.bound import bounds
from sfumato.tables.releases import releases
from tests.tables.bounds.every_table import table_of

KNOWN = {1: 1, 2: 2, 3: 8, 4: 61, 5: 822}
"""Labelled chordal graphs (OEIS A058862); the complete one is left out."""


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_there_are_as_many_as_chordal_graphs(n: int) -> None:
    found = [r.margins for r in releases(np.ones((2,) * n))]
    assert len(found) == len(set(found)) == KNOWN[n] - 1


@pytest.mark.slow
def test_each_has_the_bounds_of_its_margins() -> None:
    counts = np.random.default_rng(2).poisson(3, (2, 3, 2, 2)).astype(float)
    for release in releases(counts):
        tables = []
        for margin in release.margins:
            gone = tuple(i for i in range(4) if "ABCD"[i] not in margin)
            tables.append(table_of(counts.sum(axis=gone), "".join(margin)))
        found = bounds(tables, "decomposable")
        order = np.argsort([axis.name for axis in found.axes])
        assert np.array_equal(np.transpose(found.low, order).ravel(), release.low)
        assert np.array_equal(np.transpose(found.high, order).ravel(), release.high)


def test_released_tables_are_counted_with_their_margins() -> None:
    named = {r.margins: r.tables for r in releases([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])}
    assert named[("A",), ("B",), ("C",)] == 3
    assert named[("A", "C"), ("B", "C")] == 5


def test_too_many_are_refused() -> None:
    with pytest.raises(DataError, match="7 variables"):
        releases(np.ones((2,) * 8))
    with pytest.raises(DataError, match="Name each"):
        releases(np.ones((2, 2)), ["a"])
