"""Which levels occur where, against a plain loop."""

import numpy as np

from sfumato.kernels.tabular.possible_levels import levels_told


def test_levels_that_occur():
    rng = np.random.default_rng(0)
    cell, level = rng.integers(0, 9, 30), rng.integers(0, 4, 30)
    told = levels_told(cell, level, 10, 5)
    pairs = set(zip(cell.tolist(), level.tolist(), strict=True))
    assert told.shape == (10, 5)
    assert {(i, j) for i in range(10) for j in range(5) if told[i, j]} == pairs
