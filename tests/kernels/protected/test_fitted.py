"""What is told of a fit: digits, intervals, cost."""

import math

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.protected.fitted import ProtectedFit, mu_of, significant, tau_of


def fit(estimate, se, added, n=500, tau=1.0, kept=0.95):
    return ProtectedFit("linear", np.array(estimate), np.array(se), np.array(added), n, tau, kept, 4.0)


def test_strength_of_noise_has_one_digit_between_one_and_ten():
    """The notes: a model of n = 500 costs 1, one of 10^5 costs .01."""
    assert [tau_of(n, 0.1, 10.0) for n in (500, 20_000, 10**5, 10**7)] == [1.0, 5.0, 10.0, 10.0]
    assert tau_of(25 * 90, 0.1, 4.0) == 4.0  # √(2250 / 9) / 4 = 3.95
    assert tau_of(90, 0.5, 3.0) == 3.0  # √90 / 3 = 3.16
    assert mu_of([tau_of(500, 0.1, 10.0)]) ** 2 == 1
    assert mu_of([tau_of(10**5, 0.1, 10.0)]) ** 2 == pytest.approx(0.01)


def test_costs_add_up_in_squares():
    assert mu_of([]) == 0
    assert mu_of([1.0] * 9) == 3
    assert mu_of([2.0], [4.0]) == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize(
    ("estimate", "se", "told", "told_se"),
    [
        (1.23456, 0.0512, 1.235, 0.051),
        (-1234.56, 87.4, -1235.0, 87.0),
        (1234.56, 874.0, 1230.0, 870.0),
        (0.04, 0.996, 0.0, 1.0),
        (2.0, 0.0, 2.0, 0.0),
        (123456.0, 0.0, 123000.0, 0.0),
    ],
)
def test_estimates_end_where_their_standard_errors_do(estimate, se, told, told_se):
    found = fit([estimate], [se], [0.0]).rounded()
    assert found.estimate.tolist() == [told]
    assert found.se.tolist() == [told_se]


def test_numbers_of_records_are_multiples_of_ten():
    assert [fit([0.0], [1.0], [0.0], n=n).rounded().n for n in (471, 476, 30)] == [470, 480, 30]
    assert significant(0.0, 2) == 0.0


def test_intervals_and_p_values_are_normal():
    found = fit([1.0, 0.0, 2.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(found.low[:2], [1 - 1.959964 * 0.5, -1.959964], rtol=1e-6)
    np.testing.assert_allclose(found.high[:2], [1 + 1.959964 * 0.5, 1.959964], rtol=1e-6)
    np.testing.assert_allclose(found.p[:2], [2 * stats.norm.sf(2), 1.0], rtol=1e-9)


def test_widening_is_what_noise_and_subsample_cost():
    """Half the variance is noise: √2 times as wide, and 1 / √.95 more for the records left out."""
    found = fit([0.0, 0.0], [math.sqrt(2), 2 * math.sqrt(2)], [1.0, 2.0])
    assert found.widening == round(math.sqrt(2 / 0.95), 2)
    assert fit([0.0], [1.0], [0.0]).widening == 1.03
    assert fit([0.0], [1.0], [0.0], tau=None, kept=1.0).widening == 1.0
