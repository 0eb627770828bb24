from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.grid import (
    NO_GRID,
    decimals,
    drawn_step,
    ends_on_grid,
    noise_step,
    on_grid,
    own_step,
    round_half_up,
    round_to_multiple,
    round_within,
)


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


@pytest.mark.parametrize("digits", [1, 2, 5, 25, 333_333_333])
@pytest.mark.parametrize("power", [-25, -23, -22, -10, -1, 0, 3, 22, 23, 30])
def test_a_multiple_is_the_double_nearest_to_its_decimal(digits, power):
    """By exact decimals, for steps from 10⁻²⁵ to 10³⁰, and so far from 0 that quotients are known to a tenth."""
    step, exact = float(f"{digits}e{power}"), Decimal(f"{digits}e{power}")
    rng = np.random.default_rng(3)
    whole = np.concatenate([rng.integers(-(10**6), 10**6, 50), 2**48 + rng.integers(0, 10**6, 5)])
    aside = np.where(np.abs(whole) < 10**7, rng.uniform(-0.49, 0.49, len(whole)), 0.0)
    expected = [float(int(k) * exact) for k in whole]
    assert round_to_multiple((whole + aside) * step, step).tolist() == expected


def test_a_multiple_of_what_is_none_and_of_what_has_no_end():
    assert np.isnan(round_to_multiple(np.array([np.nan]), 1e-25)).all()
    assert round_to_multiple(np.array([np.inf, -np.inf]), 0.1).tolist() == [np.inf, -np.inf]


@given(st.floats(1e-290, 1e290))
def test_the_step_is_the_largest_1_2_or_5_that_is_not_above_a_twentieth(sd):
    step = Decimal(repr(noise_step(sd)))
    _, digits, power = step.normalize().as_tuple()
    assert digits in ((1,), (2,), (5,))
    following = {1: 2, 2: 5, 5: 10}[digits[0]] * Decimal(10) ** power
    # a billionth for the last bits of a square root
    assert step <= Decimal(sd) / 20 * (1 + Decimal("1e-8")) < following * (1 + Decimal("1e-8"))


def test_last_bits_of_a_root_do_not_make_the_step_smaller():
    assert noise_step(np.nextafter(2.0, 0)) == noise_step(2.0) == 0.1


@pytest.mark.parametrize(("sd", "step"), [(12.4, 0.01), (19.9, 0.02), (14.9, 0.01), (0.96, 0.001), (1e6, 1000.0)])
def test_without_a_disclosed_sd_the_columns_own_to_one_digit_gives_the_step(sd, step):
    assert drawn_step(sd) == step


def test_a_columns_own_decimals_are_enough_if_they_are_coarse():
    assert own_step(0, 1e8) == 1
    assert own_step(0, 1e10) is None
    assert own_step(10, 0.09) == 1e-10
    assert own_step(10, 1.0) is None
    assert own_step(NO_GRID, 1.0) is None


def test_values_at_a_bound_stay_there_and_none_lies_beyond():
    x = np.array([-3.0, 0.24, 0.26, 0.6, 9.44, 9.46, 12.0, np.nan])
    z = round_within(x, 1.0, 0.25, 9.45)
    np.testing.assert_array_equal(z, [0.25, 0.25, 0.25, 1.0, 9.0, 9.45, 9.45, np.nan])
    np.testing.assert_array_equal(round_within(x, None, -np.inf, np.inf), x)


def test_sums_lose_the_last_bits_that_adding_up_left():
    rng = np.random.default_rng(3)
    parts = rng.integers(-(10**6), 10**6, (200, 7)) / 10**3
    exact = np.round(parts * 10**3).sum(axis=1)  # whole numbers
    assert np.array_equal(on_grid(parts.cumsum(axis=1)[:, -1], 3), exact / 10**3)


def test_without_a_grid_each_sum_has_twelve_digits():
    rng = np.random.default_rng(4)
    x = rng.normal(size=300) * 10.0 ** rng.integers(-40, 40, 300)
    assert on_grid(x, NO_GRID).tolist() == [float(f"{one:.12g}") for one in x]
    odd = np.array([0.0, np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(on_grid(odd, NO_GRID), odd)


def test_ends_of_intervals_are_never_closer_than_they_were():
    rng = np.random.default_rng(5)
    low = rng.normal(size=200) * 100
    high = low + rng.exponential(size=200)
    for place in (0, 1, 3):
        down, up = ends_on_grid(low, high, place)
        assert np.all((down <= low) & (up >= high))
        assert np.all((low - down < 10.0**-place) & (up - high < 10.0**-place))
        assert decimals(np.concatenate([down, up])) <= place
    down, up = ends_on_grid(np.array([-np.inf, np.nan]), np.array([np.inf, np.nan]), 1)
    assert (down[0], up[0], np.isnan(down[1]), np.isnan(up[1])) == (-np.inf, np.inf, True, True)
