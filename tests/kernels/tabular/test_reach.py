"""What cells can be, against all tables with the same sums."""

import numpy as np
import pytest
import scipy.sparse as sp

from sfumato.kernels.tabular.reach import Reachable


def tables(rows, right, possible, most):
    """All tables in whole numbers, by trying each."""
    every = np.indices([most + 1 if can else 1 for can in possible]).reshape(len(possible), -1)
    return every[:, (rows @ every == right[:, None]).all(axis=0)].T


@pytest.mark.parametrize("seed", range(25))
def test_ends_are_those_of_all_tables(seed):
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(3, 6))
    true = rng.integers(0, 3, cells)
    possible = (true > 0) | (rng.random(cells) < 0.7)
    rows = np.vstack([np.ones(cells), rng.integers(0, 2, (int(rng.integers(1, 4)), cells))])
    right = (rows @ true).astype(int)
    every = tables(rows, right, possible, int(true.sum()))
    low, high = every.min(axis=0), every.max(axis=0)

    def fresh():
        return Reachable(sp.csr_array(rows), right, true, possible)

    one = fresh()
    for cell in rng.permutation(cells).tolist():  # what was found for one cell serves the next
        assert one.ends(cell) == (low[cell], high[cell])
        for width in range(int(high[cell] - low[cell]) + 3):
            assert fresh().wide(cell, width) == (high[cell] - low[cell] >= width)
            assert one.wide(cell, width) == (high[cell] - low[cell] >= width)
        for count in range(int(high[cell]) + 3):
            assert fresh().reaches(cell, count) == (high[cell] >= count)


def test_whole_numbers_tell_more_than_fractions():
    """Three pairs that add up to 1 each: halves would do, whole numbers do not."""
    rows = sp.csr_array(np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 1]]))
    found = Reachable(rows, np.array([1, 1, 1]), np.array([0, 0, 0, 1]), np.ones(4, dtype=bool))
    assert [found.ends(cell) for cell in range(4)] == [(0, 0), (0, 0), (0, 0), (1, 1)]
