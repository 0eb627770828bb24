"""The generalised shuttle: never narrower than the truth, sharp where that is proved, and it sees contradictions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sfumato.kernels.tabular.programme import Contradiction
from sfumato.kernels.tabular.shuttle import shuttle
from tests.tables.bounds.every_table import ends, sums_of

YES_NO = [(0, [1, 2])]


def told(counts: np.ndarray, margins: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Ends of all cells of all margins of a table of yes and no, as far as margins tell them."""
    n = counts.ndim
    low, high = np.zeros((3,) * n), np.full((3,) * n, np.inf)
    for keep in margins:
        gone = tuple(i for i in range(n) if i not in keep)
        values = counts.sum(axis=gone)
        for cell in itertools.product(range(2), repeat=len(keep)):
            place = [0] * n
            for i, c in zip(keep, cell, strict=True):
                place[i] = c + 1
            low[tuple(place)] = high[tuple(place)] = values[cell]
    return low, high


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("margins", "sharp"),
    [([(0, 1), (1, 2)], True), ([(0, 1), (0, 2), (1, 2)], True), ([(0,), (1,), (2,)], True), ([(0, 1), (2,)], True)],
)
def test_against_every_table(seed: int, margins: list[tuple[int, ...]], sharp: bool) -> None:
    counts = np.random.default_rng(seed).integers(0, 3, (2, 2, 2))
    low, high = shuttle(*told(counts, margins), [YES_NO] * 3)
    low, high = low[1:, 1:, 1:], high[1:, 1:, 1:]
    sums = []
    for keep in margins:
        value = counts.sum(axis=tuple(i for i in range(3) if i not in keep)).astype(float)
        sums += sums_of(counts.shape, keep, value, value)
    found = ends(counts.shape, sums)
    assert found is not None
    assert np.all(low <= found[0])
    assert np.all(high >= found[1])
    assert not sharp or (np.array_equal(low, found[0]) and np.array_equal(high, found[1]))


def test_bounds_hold_wherever_it_stops() -> None:
    counts = np.random.default_rng(9).integers(0, 6, (2, 2, 2))
    start = told(counts, [(0, 1), (0, 2), (1, 2)])
    for sweeps in (0, 1, 2):
        low, high = shuttle(*start, [YES_NO] * 3, sweeps)
        assert np.all(low[1:, 1:, 1:] <= counts)
        assert np.all(high[1:, 1:, 1:] >= counts)


def test_what_cannot_be_is_seen() -> None:
    low, high = np.zeros(3), np.array([5.0, 2.0, 2.0])
    low[0] = 5
    with pytest.raises(Contradiction):
        shuttle(low, high, [YES_NO])
