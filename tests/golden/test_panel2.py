"""Panel 2 of Avraam, Boyd, Goldstein and Burton (2018), doi:10.14301/llcs.v9i4.478: six records, before and after."""

import numpy as np
import pytest

from sfumato.kernels.neighbours.h_rank import hidden_ranks

TRUE = np.array([[9.63, 3.84, 0], [10.39, 3.69, 0], [9.76, 3.95, 1], [9.77, 4.21, 0], [9.5, 3.61, 0], [9.93, 3.35, 1]])
NOISY = np.array(
    [
        [9.58, 3.88, 0.28],
        [10.37, 3.57, 0.08],
        [9.91, 3.89, 0.61],
        [9.78, 4.17, 1],
        [9.51, 3.72, 0.35],
        [10.1, 3.38, 0],
    ]
)
TRUE_TO_NOISY = [
    [0.2872, 0.7918, 0.6731, 1.0637, 0.3890, 0.6576],
    [0.8778, 0.1456, 0.8016, 1.2659, 0.9475, 0.4245],
    [0.7455, 1.1674, 0.4221, 0.2209, 0.7334, 1.2002],
    [0.4727, 0.8809, 0.7029, 1.0008, 0.6559, 0.8932],
    [0.3971, 0.8746, 0.7865, 1.1798, 0.3670, 0.6426],
    [0.9601, 1.0433, 0.6664, 0.8336, 0.8578, 1.0148],
]
TRUE_TO_TRUE = [
    [0, 0.7747, 1.0144, 0.3956, 0.2642, 1.1533],
    [0.7747, 0, 1.2102, 0.8092, 0.8936, 1.1520],
    [1.0144, 1.2102, 0, 1.0333, 1.0877, 0.6236],
    [0.3956, 0.8092, 1.0333, 0, 0.6580, 1.3286],
    [0.2642, 0.8936, 1.0877, 0.6580, 0, 1.1192],
    [1.1533, 1.1520, 0.6236, 1.3286, 1.1192, 0],
]


@pytest.mark.parametrize(("to", "printed"), [(NOISY, TRUE_TO_NOISY), (TRUE, TRUE_TO_TRUE)])
def test_distances(to, printed):
    """As printed, to four decimals: half a unit of the last, and the rounding of a number that ends in 5."""
    distance = np.sqrt(np.square(TRUE[:, None, :] - to[None, :, :]).sum(axis=2))
    assert distance == pytest.approx(np.array(printed), abs=5e-5 + 1e-9)


def test_h():
    found = hidden_ranks(NOISY, TRUE)
    assert found.h.tolist() == [0, 0, 3, 1, 0, 1]
    assert [found.probability(t).mean() for t in (0, 1, 3)] == pytest.approx([3 / 6, 5 / 6, 1])
