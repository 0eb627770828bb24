import math

import numpy as np
import pytest
from scipy import stats

from sfumato.data.finding import Finding
from sfumato.tuning.averaging import Averaged, Point, averaged, single


def of(*values, interval=None):
    return [Finding("risk1", value=v, interval=interval and (v - interval[0], v + interval[1])) for v in values]


def test_the_interval_is_students():
    values = (0.12, 0.2, 0.18, 0.31, 0.22)
    got = averaged(of(*values))
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert (got.value, got.low, got.high) == pytest.approx((np.mean(values), low, high), rel=1e-12)


def test_a_sampling_interval_is_added_in_squares_and_does_not_average_out():
    values = (0.1, 0.2, 0.3)
    plain, sampled = averaged(of(*values)), averaged(of(*values, interval=(0.03, 0.04)))
    assert sampled.low == pytest.approx(0.2 - ((0.2 - plain.low) ** 2 + 0.03**2) ** 0.5)
    assert sampled.high == pytest.approx(0.2 + ((plain.high - 0.2) ** 2 + 0.04**2) ** 0.5)
    many = averaged(of(*[0.2] * 50, interval=(0.03, 0.04)))
    assert (many.low, many.high) == pytest.approx((0.17, 0.24))


def test_a_wider_level_widens_both_parts():
    values = (0.1, 0.2, 0.3)
    got = averaged(of(*values, interval=(0.03, 0.03)), 0.9999)
    t, z = stats.t.ppf(0.99995, 2), stats.norm.ppf(0.99995) / stats.norm.ppf(0.975)
    assert got.high == pytest.approx(0.2 + math.hypot(t * 0.1 / 3**0.5, z * 0.03))


def test_without_a_value_there_is_no_mean():
    assert averaged([*of(0.1), Finding("risk1")]) is None
    assert averaged([*of(0.1), None]) is None
    one = averaged(of(0.1))
    assert (one.low, one.value, one.high) == (0.1, 0.1, 0.1)


def test_a_point_reports_the_limit_that_is_nearest():
    point = Point(3, (True, False), (Averaged(1, 0, 2), Averaged(4, 3, 5)), 1, {}, 2, 0.5)
    assert (point.risk, point.interval, point.met) == (4, (3, 5), False)
    unknown = Point(3, (False,), (None,), 0, {}, 2, 0.5)
    assert (unknown.risk, unknown.interval) == (None, None)


@pytest.mark.slow
def test_a_single_run_lies_below_its_bound_as_often_as_is_asked():
    """Ten normal runs predict an eleventh: the bound holds with the probability itself, whatever mean and spread."""
    rng = np.random.default_rng(0)
    runs = rng.normal(0.3, 0.02, (4000, 11))
    below = [run[10] <= single([Finding("risk1", value=v) for v in run[:10]], 0.9).high for run in runs]
    assert np.mean(below) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 4000))
    above = [run[10] >= single([Finding("risk1", value=v) for v in run[:10]], 0.9).low for run in runs]
    assert np.mean(above) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 4000))


def test_a_single_run_of_nothing_has_no_bound():
    assert single([Finding("risk1"), Finding("risk1", value=0.1)], 0.9) is None
    assert single([Finding("risk1", value=0.1)], 0.9).high == 0.1
