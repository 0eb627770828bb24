import numpy as np

from sfumato.kernels.masking.near_ranks import near_ranks


def test_bounds_of_ties_and_ends():
    x = np.array([5.0, 1.0, 5.0, 9.0, 7.0])
    assert near_ranks(x, 0.2, np.zeros(5)).tolist() == [1, 1, 1, 7, 5]
    assert near_ranks(x, 0.2, np.full(5, 1.0)).tolist() == [7, 5, 7, 9, 9]


def test_nothing_and_one():
    assert near_ranks(np.array([]), 0.1, np.array([])).tolist() == []
    assert near_ranks(np.array([3.0]), 0.1, np.array([0.4])).tolist() == [3.0]
