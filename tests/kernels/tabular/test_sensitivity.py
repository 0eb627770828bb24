import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.tabular.sensitivity import (
    SAFE,
    UNKNOWN,
    UNSAFE,
    Contributors,
    dominance,
    few,
    prior_posterior,
)

sizes = st.lists(st.integers(1, 100), min_size=1, max_size=6)


def cells(x, told=None, count=True, asked=None):
    x = sorted(x, reverse=True)
    top = [float(v) for v in (*x, 0, 0, 0)[:3]]
    top = [v if told is None or i < told else np.nan for i, v in enumerate(top)]
    return Contributors(
        np.array([float(sum(x))]),
        np.array([float(len(x)) if count else np.nan]),
        np.array([top]),
        None if asked is None else np.array([float(asked)]),
    )


@given(sizes, st.sampled_from([5, 10, 50]))
def test_the_p_rule_is_that_of_the_handbook(x, p):
    """X - x1 - x2 < p/100 x1, level p/100 x1 - (X - x1 - x2): Handbook 4.2."""
    first, second = (*sorted(x, reverse=True), 0)[:2]
    rest = sum(x) - first - second
    said = prior_posterior(cells(x), p / 100)
    assert (said.truth[0] == UNSAFE) == (100 * rest < p * first)
    if said.truth[0] == UNSAFE:
        assert said.level[0] == pytest.approx(p / 100 * first - rest)


@given(sizes, st.integers(1, 3), st.sampled_from([60, 75, 85]))
def test_the_nk_rule_is_that_of_the_handbook(x, n, k):
    """x1 + ... + xn > k/100 X, level (100/k)(x1 + ... + xn) - X: Handbook 4.2."""
    top = sum(sorted(x, reverse=True)[:n])
    said = dominance(cells(x), n, k / 100)
    assert (said.truth[0] == UNSAFE) == (100 * top > k * sum(x))
    if said.truth[0] == UNSAFE:
        assert said.level[0] == pytest.approx(100 / k * top - sum(x))


@given(sizes, st.integers(0, 2), st.booleans(), st.sampled_from(["p", "nk"]))
def test_knowing_less_never_contradicts_knowing_all(x, told, count, rule):
    def said(of):
        return prior_posterior(of, 0.3) if rule == "p" else dominance(of, 2, 0.75)

    whole, less = said(cells(x)), said(cells(x, told, count))
    assert less.truth[0] in (UNKNOWN, whole.truth[0])
    if whole.truth[0] == UNSAFE:
        assert less.level[0] >= whole.level[0] - 1e-9


def test_bounds_hold_what_is_true():
    low, high = cells([50, 30, 20], told=1).bounds(3)
    assert low[0].tolist() == [50, 25, 0]
    assert high[0].tolist() == [50, 50, 25]


def test_who_gave_up_protection_is_not_protected():
    # largest 90 waived, next 10 asks: X - xs - xr = 101 - 10 - 90 = 1, not below 10% of 10
    assert prior_posterior(cells([90, 10, 1], asked=10), 0.10).truth[0] == SAFE
    assert prior_posterior(cells([90, 10, 1], asked=10), 0.11).truth[0] == UNSAFE
    assert prior_posterior(cells([90, 10, 1], asked=0), 0.5).truth[0] == SAFE
    assert dominance(cells([90, 5, 5], asked=0), 1, 0.5).truth[0] == SAFE
    assert dominance(cells([90, 10, 1], asked=10), 1, 0.5).truth[0] == SAFE


def test_few():
    said = few(np.array([0.0, 1.0, 2.0, 3.0, np.nan]), 3, 0.5, np.array([0.0, 8.0, 4.0, 9.0, 2.0]))
    assert said.truth.tolist() == [SAFE, UNSAFE, UNSAFE, SAFE, UNKNOWN]
    assert said.level.tolist() == [0, 4, 2, 4.5, 1]
