"""Closed forms of bounds: against all tables with the same sums, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.kernels.tabular.closed import collapsed, one_free, placed, tree_bounds
from sfumato.kernels.tabular.programme import Contradiction
from tests.tables.bounds.every_table import ends, sums_of


def margin(counts: np.ndarray, keep: tuple[int, ...]) -> np.ndarray:
    return np.asarray(counts.sum(axis=tuple(i for i in range(counts.ndim) if i not in keep)), dtype=float)


def brute(counts: np.ndarray, margins: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    told = [one for keep in margins for one in sums_of(counts.shape, keep, *[margin(counts, keep)] * 2)]
    found = ends(counts.shape, told)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(4))
def test_two_margins_that_share_a_variable(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 3, (2, 2, 2))
    ab, bc, b = (margin(counts, keep) for keep in ((0, 1), (1, 2), (1,)))
    low, high = tree_bounds([(0b011, (ab, ab)), (0b110, (bc, bc))], [(0b010, (b, b))], (2, 2, 2))
    least, most = brute(counts, [(0, 1), (1, 2)])
    assert np.array_equal(low, least)
    assert np.array_equal(high, most)


@pytest.mark.parametrize("seed", range(4))
def test_one_free_number(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 4, (2, 2, 2))
    margins = {0b011: margin(counts, (0, 1)), 0b101: margin(counts, (0, 2)), 0b110: margin(counts, (1, 2))}
    low, high = one_free(margins, 3)
    least, most = brute(counts, [(0, 1), (0, 2), (1, 2)])
    assert np.array_equal(low, least)
    assert np.array_equal(high, most)


def test_margins_that_no_table_has() -> None:
    alike = np.array([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(Contradiction):  # first like second, second like third, first unlike third
        one_free({0b011: alike, 0b110: alike, 0b101: alike[::-1]}, 3)


def test_margins_of_margins_have_their_places() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert collapsed(array, 0b101, 0b100).tolist() == [3, 5, 7]
    assert collapsed(array, 0b101, 0b101) is array
    assert placed(array, 0b101, 4).shape == (2, 1, 3, 1)
