import numpy as np
import pytest
from scipy.optimize import approx_fprime

from sfumato.kernels.classes.grid_loops import adjust, look


def test_a_margin_is_reached_in_one_step():
    rng = np.random.default_rng(1)
    means, wanted = rng.uniform(1, 2, (2, 3, 4, 2, 5)), rng.uniform(1, 2, (3, 2))
    wanted[1, 1] = 0
    was = means.copy()
    gap = adjust(means, wanted)
    assert means.sum(axis=(0, 2, 4)) == pytest.approx(wanted)
    assert gap == pytest.approx(np.abs(was.sum(axis=(0, 2, 4)) - wanted).max())
    assert adjust(means, wanted) == pytest.approx(0, abs=1e-12)
    scaled = np.divide(wanted, was.sum(axis=(0, 2, 4)))
    assert means == pytest.approx(was * scaled[None, :, None, :, None])


def test_what_is_nowhere_stays_so():
    means, wanted = np.zeros((1, 1, 1, 2, 1)), np.zeros((1, 2))
    means[0, 0, 0, 1, 0] = 3
    wanted[0, 1] = 6
    adjust(means, wanted)
    assert means.reshape(-1).tolist() == [0, 6]


FRACTION = 0.3
SUMMANDS = (
    lambda x: np.exp(-(1 - FRACTION) * x),
    lambda x: -np.expm1(-(1 - FRACTION) * x) / ((1 - FRACTION) * x),
)


def derivatives(h, x):
    """First and second, by differences with steps at which their errors are about 1e-7."""
    first = approx_fprime(np.array([x]), lambda v: h(v[0]), 1e-6 * max(1, x))[0]
    step = 2e-4 * max(0.2, x)
    return first, (h(x + step) - 2 * h(x) + h(x - step)) / step**2


@pytest.mark.parametrize("mean", [0.004, 0.03, 0.05, 0.4, 3.0])
def test_bias_and_variance_by_their_definition(mean):
    """Equations of Skinner & Shlomo (2008) with derivatives taken numerically."""
    x = mean / FRACTION
    for i, h in enumerate(SUMMANDS):
        first, second = derivatives(h, x)
        g = FRACTION * x * np.exp(-FRACTION * x)
        for f in (0, 1, 4):
            found = look(np.array([mean]), np.array([f], dtype=np.int32), FRACTION)
            off = f - mean
            bias = g * (-first * off / FRACTION + second * (off**2 - f) / (2 * FRACTION**2))
            variance = g**2 * (first**2 * x / FRACTION + second**2 * x**2 / (2 * FRACTION**2))
            assert found[i] == pytest.approx(h(x) if f == 1 else 0, rel=1e-12)
            assert found[2 + 2 * i] == pytest.approx(bias, rel=2e-4, abs=1e-5)
            assert found[3 + 2 * i] == pytest.approx(variance, rel=2e-4)


def test_the_series_meets_the_closed_form():
    """Where the one takes over from the other nothing jumps."""
    edge = 0.1 * FRACTION / (1 - FRACTION)
    below, above = (look(np.array([edge * (1 + e)]), np.ones(1, dtype=np.int32), FRACTION) for e in (-1e-9, 1e-9))
    assert below == pytest.approx(above, rel=1e-7)


def test_cells_that_cannot_be_are_passed_over():
    assert look(np.zeros(3), np.zeros(3, dtype=np.int32), 0.5) == (0, 0, 0, 0, 0, 0)
