"""Multiples beside values, and those that add up: by hand, and all of them tried."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from sfumato.kernels.tabular.rounding import additive, parted, to_nearest


def test_noise_of_sums_is_no_rest():
    number, rest = parted(np.array([0.1 + 0.2, 0.3 - 1e-17, 0.29]), 0.1)
    assert number.tolist() == [3, 3, 2]
    assert rest[:2].tolist() == [0, 0]
    assert rest[2] == pytest.approx(0.09)


def test_half_way_values_go_up():
    assert to_nearest(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0]), 4).tolist() == [0, 0, 4, 4, 4, 8]


def test_additive_is_the_cheapest_of_all_neighbours():
    rng = np.random.default_rng(11)
    # two rows of two and their totals: a b ab, c d cd, ac bd all
    matrix = np.array(
        [
            [1, 1, -1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 1, -1, 0, 0, 0],
            [1, 0, 0, 1, 0, 0, -1, 0, 0],
            [0, 1, 0, 0, 1, 0, 0, -1, 0],
            [0, 0, 1, 0, 0, 1, 0, 0, -1],
        ]
    )
    for _ in range(10):
        a, b, c, d = rng.integers(0, 15, 4)
        value = np.array([a, b, a + b, c, d, c + d, a + c, b + d, a + b + c + d], dtype=float)
        beside = [{v // 5 * 5, -(-v // 5) * 5} for v in value]
        tried = (np.array(x) for x in itertools.product(*beside))
        best = min(np.abs(x - value).sum() for x in tried if not (matrix @ x).any())
        found = additive(sp.csr_array(matrix), value, 5, 0, None)
        assert (found.cost, found.optimal) == (best, True)
        assert not (matrix @ found.values).any()
