"""The search alone, on figures that are functions of the value."""

import math

import pytest

from sfumato.plan.conditions import parse_condition
from sfumato.tuning.averaging import Averaged, Point
from sfumato.tuning.halving import Halving


class Known:
    """Stands for the replications: figures are given by functions, with intervals of a given half-width."""

    def __init__(self, half, **limits):
        self.conditions = [parse_condition(text) for text, _ in limits.values()]
        self.functions = [f for _, f in limits.values()]
        self.half, self.points = half, {}

    def at(self, value):
        figures = [
            None if (v := f(value)) is None else Averaged(v, v - self.half, v + self.half) for f in self.functions
        ]
        held = [
            f is not None and c.holds(f.low if c.lower else f.high)
            for c, f in zip(self.conditions, figures, strict=True)
        ]
        self.points[value] = Point(value, tuple(held), tuple(figures), 0, {}, 1, 1.0)
        return self.points[value]


def search(low, high, *, whole=False, tolerance=0.01, half=0.0, **limits):
    known = Known(half, **limits)
    halving = Halving(known.at, known.conditions, name="steps.0.s", whole=whole, tolerance=tolerance)
    value, notes = halving.run(low, high)
    return value, notes, known


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("threshold", [0.0123, 0.4, 3.1, 9.99])
def test_the_threshold_is_found_to_the_tolerance(threshold, tolerance):
    """Risk 1/s is at most 1/threshold from s = threshold on."""
    value, _, known = search(0.01, 10, tolerance=tolerance, a=(f"risk1 <= {1 / threshold}", lambda s: 1 / s))
    assert threshold * (1 - 1e-9) <= value <= threshold * (1 + tolerance)
    assert len(known.points) <= 3 + math.ceil(math.log2(math.log(1000) / tolerance))


def test_the_far_end_of_the_interval_must_meet_the_limit():
    value, *_ = search(0.01, 10, half=0.05, a=("risk1 < 0.25", lambda s: 1 / s))
    assert 5 <= value <= 5.05
    value, *_ = search(0.01, 10, half=0.5, a=("k_anonymity >= 3", lambda s: s))
    assert 3.5 <= value <= 3.535


def test_less_of_a_parameter_may_protect_more():
    """Risk s is at most 0.3 up to s = 0.3: the least protection is the largest such value."""
    value, *_ = search(0.01, 1, a=("risk1 <= 0.3", lambda s: s))
    assert 0.3 * 0.99 <= value <= 0.3


@pytest.mark.parametrize("threshold", range(3, 21))
@pytest.mark.parametrize("down", [False, True])
def test_whole_numbers_equal_the_exhaustive_search(threshold, down):
    def risk(k):
        assert isinstance(k, int)
        return float(k) if down else float(-k)

    limit = f"risk1 <= {threshold if down else -threshold}"
    value, *_ = search(3, 20, whole=True, a=(limit, risk))
    every = [k for k in range(3, 21) if (k <= threshold if down else k >= threshold)]
    assert value == (max(every) if down else min(every))


def test_a_range_from_zero_is_halved_evenly():
    value, *_ = search(0, 1, a=("risk1 <= 0.6", lambda s: 1 - s))
    assert 0.4 <= value <= 0.4 * 1.01
    value, _, known = search(-1, 1, a=("risk1 <= 0", lambda s: -s))
    assert 0 <= value <= 2e-4
    assert len(known.points) < 30


def test_ends_that_settle_it():
    value, _, known = search(1, 9, a=("risk1 < 5", lambda s: 1 / s))
    assert (value, sorted(known.points)) == (1, [1, 9])
    value, notes, known = search(1, 9, a=("risk1 < 0.01", lambda s: 1 / s))
    assert (value, sorted(known.points)) == (9, [1, 9])
    assert "Not even steps.0.s = 9" in notes[0]


def test_a_parameter_that_moves_nothing_is_told():
    value, notes, _ = search(1, 9, a=("risk1 < 5", lambda s: 2.0))
    assert value == 1
    assert "does not move them" in notes[0]


def test_limits_that_pull_opposite_ways():
    """Noise between 0.2 and 0.5 meets both limits; the least of it is wanted."""
    risk, loss = ("risk1 <= 0.8", lambda s: 1 - s), ("delta <= 0.5", lambda s: s)
    value, notes, known = search(0.01, 1, a=risk, b=loss)
    assert 0.2 <= value <= 0.202
    assert known.points[value].met
    assert not notes
    value, notes, known = search(0.01, 1, a=risk, b=("delta <= 0.1", lambda s: s))
    assert 0.2 <= value <= 0.202
    assert not known.points[value].met
    assert "opposite ways" in notes[0]


def test_figures_that_cannot_be_had_are_not_met():
    """Up to s = 0.5 there is no figure, from there on it is low enough."""
    value, *_ = search(0.01, 1, a=("risk1 <= 0.5", lambda s: None if s < 0.5 else 0.1))
    assert 0.5 <= value <= 0.505
