from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.moments import Sums, exact_sums, moments

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def plainly(values: list[float]) -> tuple[int, Fraction, Fraction]:
    """Number and sums by fractions."""
    parts = [Fraction(v) for v in values]
    return len(parts), sum(parts, Fraction(0)), sum((p * p for p in parts), Fraction(0))


def as_fractions(sums: Sums) -> tuple[int, Fraction, Fraction]:
    return sums.n, Fraction(sums.first, 1 << 1074), Fraction(sums.second, 1 << 2148)


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(FINITE, max_size=40))
def test_sums_of_any_floats_are_those_of_fractions(values):
    assert as_fractions(Sums.of(np.array(values, dtype=float))) == plainly(values)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=6), min_size=1, max_size=8))
def test_each_group_has_its_own_and_they_add_up_to_the_whole(groups):
    flat = np.array([v for group in groups for v in group], dtype=float)
    starts = np.cumsum([0, *map(len, groups[:-1])])
    found = exact_sums(flat, starts)
    assert [as_fractions(one) for one in found] == [plainly(group) for group in groups]
    assert sum(found, Sums()) == Sums.of(flat)


def test_more_values_than_are_cut_at_once_and_groups_across_the_cuts(monkeypatch):
    monkeypatch.setattr("sfumato.kernels.moments._AT_ONCE", 1 << 8)
    x = np.random.default_rng(1).normal(170, 10, 530).round(1)
    starts = np.array([0, 250, 256, 257, 520, 520])
    found = exact_sums(x, starts)
    ends = [*starts[1:], len(x)]
    assert [as_fractions(one) for one in found] == [
        plainly(x[start:end].tolist()) for start, end in zip(starts, ends, strict=True)
    ]


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=30))
def test_mean_and_variance_are_rounded_once(values):
    n, first, second = plainly(values)
    assert moments(np.array(values)) == (n, float(first / n), float((n * second - first**2) / (n * (n - 1))))


def test_nothing_cancels_near_1e9():
    assert moments(np.array([1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 1.5])) == (4, 1e9 + 2.125, 1.7291666666666667)


def test_values_many_times():
    x = np.array([1.5, 0.1])
    assert Sums.of(x[:1]) * 3 + Sums.of(x[1:]) * 2 == Sums.of(np.repeat(x, (3, 2)))


def test_empty_and_single():
    n, mean, variance = moments(np.array([]))
    assert n == 0
    assert np.isnan([mean, variance]).all()
    n, mean, variance = moments(np.array([3.0]))
    assert (n, mean) == (1, 3.0)
    assert np.isnan(variance)


def test_beyond_the_largest_float_is_infinite():
    sums = Sums.of(np.array([1.7e308, 1.7e308, -1.0]))
    assert sums.total == float("inf")
    assert sums.variance == float("inf")
    assert sums.mean == pytest.approx(1.7e308 / 3 * 2, rel=1e-15)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="finite"):
        Sums.of(np.array([1.0, value]))
