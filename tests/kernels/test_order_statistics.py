from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.order_statistics import from_ordered, ordered, quantile, ranks, reached, tallied, width

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, min_size=2, max_size=30))
def test_bits_stand_in_the_order_of_values_and_lead_back(values):
    x = np.array(values)
    words = ordered(x)
    assert np.array_equal(np.argsort(words, kind="stable"), np.argsort(x, kind="stable"))
    assert np.array_equal(from_ordered(words), x)


def test_both_zeros_are_one():
    assert len(set(ordered(np.array([0.0, -0.0])).tolist())) == 1


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values, prob):
    x = np.sort(values) + 0.0
    assert quantile(x, prob) == pytest.approx(np.quantile(x, prob), rel=1e-15, abs=1e-300)


def test_nothing_has_no_quantile():
    assert quantile(np.array([]), 0.5) is None


@given(st.lists(st.sampled_from([0, 1, 5, 2**20, 2**63, 2**64 - 1]), max_size=12))
def test_numbers_near_each_other_and_far_apart_are_counted(values):
    different, times = tallied(np.array(values, dtype=np.uint64))
    counted = Counter(values)
    assert dict(zip(different.tolist(), times.tolist(), strict=True)) == counted
    assert different.tolist() == sorted(counted)


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_ranks_fall_into_bars_of_their_own_place(places, data):
    times = np.array([n for bars in places for n in bars])
    starts = np.cumsum([0, *(len(bars) for bars in places[:-1])])
    at = data.draw(st.integers(0, len(places) - 1))
    rest = data.draw(st.integers(0, sum(places[at]) - 1))
    told = [(bar, i) for bar, n in enumerate(places[at]) for i in range(n)][rest]
    bars, left = reached(starts, times, np.array([at]), np.array([rest]))
    assert (bars[0] - starts[at], left[0]) == told


def test_a_digit_and_the_number_of_its_place_fit_into_a_number():
    for places in (1, 6, 2**30, 2**50):
        for values in (10, 10**12):
            assert 1 <= width(44, places, values) <= 63 - np.log2(places)


def test_ranks_are_those_that_a_quantile_lies_between():
    assert [ranks(5, p) for p in (0.0, 0.5, 1.0)] == [(0, 1, 0.0), (2, 3, 0.0), (4, 4, 0.0)]
