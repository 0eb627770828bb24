import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.moments import moments


def test_nothing_cancels_near_1e9():
    x = np.array([1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 1.5])
    n, mean, variance = moments(x)
    assert (n, mean) == (4, 1e9 + 2.125)
    assert abs(variance - statistics.variance([1, 2, 4, 1.5])) < 1e-6


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.randoms())
def test_order_changes_not_one_bit(values, random):
    shuffled = values.copy()
    random.shuffle(shuffled)
    assert moments(np.array(values)) == moments(np.array(shuffled))


def test_empty_and_single():
    assert moments(np.array([]))[0] == 0
    assert moments(np.array([3.0]))[:2] == (1, 3.0)
