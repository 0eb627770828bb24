import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.grid import NO_GRID, decimals, round_half_up, round_to_multiple


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=50), st.integers(0, 6))
def test_decimals_are_those_that_the_values_were_written_with(whole, place):
    text = [f"{w / 10**place:.{place}f}" for w in whole]
    needed = max(len(t.partition(".")[2].rstrip("0")) for t in text)
    assert decimals(np.array([float(t) for t in text])) == needed


def test_no_grid():
    assert decimals(np.random.default_rng(1).normal(size=100)) == NO_GRID
    assert decimals(np.array([])) == 0


@pytest.mark.parametrize(
    ("x", "place", "rounded"), [(2.5, 0, 3), (-2.5, 0, -2), (0.125, 2, 0.13), (1.005, 2, 1.01), (7.2500001, 2, 7.25)]
)
def test_halves_go_up(x, place, rounded):
    assert round_half_up(np.array([x]), place)[0] == rounded


def test_full_precision_is_left_alone():
    x = np.array([1 / 3])
    assert round_half_up(x, NO_GRID)[0] == 1 / 3


def test_multiples():
    assert round_to_multiple(np.array([12.4, 12.5, -2.6]), 5).tolist() == [10, 15, -5]
    assert round_to_multiple(np.array([0.33]), 0.1)[0] == 0.3
