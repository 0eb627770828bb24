"""Fleishman's cubics and the correlations of Vale and Maurelli, against closed forms and exact moments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.kernels.sampling.vale_maurelli import fleishman, intermediate_correlation, vale_maurelli

# Gauss-Hermite quadrature with 20 nodes is exact for polynomials up to degree 39; the fourth moment has degree 12.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
WEIGHTS = WEIGHTS / math.sqrt(2 * math.pi)


def cubic(z, coefficients):
    b, c, d = coefficients
    return -c + b * z + c * z**2 + d * z**3


def exact_moments(coefficients):
    y = cubic(NODES, coefficients)
    return [float(WEIGHTS @ y**k) for k in (1, 2, 3, 4)]


def exact_correlation(rho, first, second):
    """E[Y₁Y₂] where the two normals have correlation rho, by quadrature in two dimensions."""
    z1, z2 = np.meshgrid(NODES, NODES, indexing="ij")
    w = np.outer(WEIGHTS, WEIGHTS)
    return float((w * cubic(z1, first) * cubic(rho * z1 + math.sqrt(1 - rho**2) * z2, second)).sum())


def test_check_value_of_the_male_glucose():
    # shared notes on seed 001, section 5
    assert fleishman(2.0, 8.0) == pytest.approx((0.71044, 0.23336, 0.07226), abs=5e-6)


@pytest.mark.parametrize(
    ("skewness", "kurtosis", "expected"),
    [
        (0.0, 0.0, (1, 0, 0)),  # the normal itself
        # Z³/√15 has E[Y⁴] = 11!!/225 = 10395/225
        (0.0, 10395 / 225 - 3, (0, 0, 1 / math.sqrt(15))),
    ],
)
def test_closed_forms(skewness, kurtosis, expected):
    assert fleishman(skewness, kurtosis) == pytest.approx(expected, abs=1e-9)


def test_a_mirrored_shape_has_a_mirrored_cubic():
    b, c, d = fleishman(2.0, 8.0)
    assert fleishman(-2.0, 8.0) == pytest.approx((b, -c, d), abs=1e-12)


@given(skewness=st.floats(-3, 3), above=st.floats(0.3, 15))
@settings(max_examples=60, deadline=None)
def test_moments_are_exact(skewness, above):
    kurtosis = -1.0 + 1.66 * skewness**2 + above
    coefficients = fleishman(skewness, kurtosis)
    # solved to 1e-10; the quadrature rounds at about 1e-12
    assert exact_moments(coefficients) == pytest.approx([0, 1, skewness, kurtosis + 3], abs=1e-8)


@pytest.mark.parametrize(("skewness", "kurtosis"), [(1.0, -1.0), (0.0, -1.3), (3.0, 12.0), (2.0, 4.0)])
def test_impossible_shapes_are_refused(skewness, kurtosis):
    with pytest.raises(DataError, match=r"at least about -1.226 \+ 1.641 skewness"):
        fleishman(skewness, kurtosis)


@given(
    rho=st.floats(-0.95, 0.95),
    first=st.sampled_from([(2.0, 8.0), (0.7, 0.9), (0.0, 0.0)]),
    second=st.sampled_from([(2.2, 10.0), (0.02, 0.05), (1.0, 1.6)]),
)
@settings(max_examples=60, deadline=None)
def test_intermediate_correlation_gives_the_wanted_one(rho, first, second):
    one, two = fleishman(*first), fleishman(*second)
    wanted = exact_correlation(rho, one, two)
    assume(abs(wanted) < 1)
    found = intermediate_correlation(wanted, one, two)
    assert exact_correlation(found, one, two) == pytest.approx(wanted, abs=1e-9)


def test_equal_variables_need_equal_normals():
    shape = fleishman(2.0, 8.0)
    assert intermediate_correlation(1.0, shape, shape) == pytest.approx(1.0, abs=1e-9)
    assert intermediate_correlation(0.0, shape, shape) == pytest.approx(0.0, abs=1e-12)


def test_impossible_correlations_are_refused():
    glucose, mirrored = fleishman(2.0, 8.0), fleishman(-2.0, 8.0)
    with pytest.raises(DataError, match="cannot have the correlation"):
        intermediate_correlation(0.99, glucose, mirrored)
    contradiction = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    zero, one = np.zeros(3), np.ones(3)
    with pytest.raises(DataError, match="together"):
        vale_maurelli(np.zeros((2, 3)), zero, one, zero, zero, contradiction)


def test_mean_and_sd_shift_and_stretch():
    z = np.array([[0.0], [1.0]])
    b, c, d = fleishman(2.0, 8.0)
    y = vale_maurelli(z, np.array([5.0]), np.array([2.0]), np.array([2.0]), np.array([8.0]), np.eye(1))
    assert y[:, 0] == pytest.approx([5 - 2 * c, 5 + 2 * (b + d)], abs=1e-12)


def test_normal_shapes_leave_normals_with_the_correlation():
    z = np.random.default_rng(1).standard_normal((1000, 2))
    r = np.array([[1, 0.6], [0.6, 1]])
    y = vale_maurelli(z, np.zeros(2), np.ones(2), np.zeros(2), np.zeros(2), r)
    assert y[:, 0] == pytest.approx(z[:, 0], abs=1e-9)
    assert y[:, 1] == pytest.approx(0.6 * z[:, 0] + 0.8 * z[:, 1], abs=1e-9)
