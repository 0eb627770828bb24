import numpy as np
import pytest
from scipy.special import softmax

from sfumato.inference.estimators.coordinates import Coordinates
from sfumato.kernels.likelihood.maximisation import differences

NONE = np.zeros(0, dtype=np.int64)
# four patterns; two standard deviations, the diagonal of a root, with what lies under the first
BOTH = Coordinates(slice(1, 4), np.array([4, 6]), np.array([5]), np.array([4]))
POINT = np.array([0.3, 0.5, -1.2, 0.8, -0.7, 0.4, 1.5])


def test_standard_normal_coordinates_are_a_uniform_simplex():
    """Dirichlet(1, 1, 1, 1): each mean 1/4, variance 3/80, correlation −1/3; 40,000 draws, four standard errors."""
    rng = np.random.default_rng(1)
    theta = Coordinates(slice(0, 3), NONE, NONE, NONE).theta(rng.normal(size=(40_000, 3)))
    pi = softmax(np.column_stack([np.zeros(len(theta)), theta]), axis=1)
    np.testing.assert_allclose(pi.mean(axis=0), 0.25, atol=4 * np.sqrt(3 / 80 / 40_000))
    np.testing.assert_allclose(pi.var(axis=0), 3 / 80, rtol=0.04)
    np.testing.assert_allclose(np.corrcoef(pi.T)[np.triu_indices(4, 1)], -1 / 3, atol=0.02)


def test_places_lead_back():
    theta = BOTH.theta(POINT[None])[0]
    np.testing.assert_allclose(BOTH.theta(BOTH.place(theta)[None])[0], theta, rtol=1e-10)
    np.testing.assert_allclose(BOTH.place(theta), BOTH.folded(POINT[None])[0], rtol=1e-10)


def test_signs_change_no_covariance():
    def covariance(v):
        theta = BOTH.theta(v[None])[0]
        root = np.array([[np.exp(theta[4]), 0], [theta[5], np.exp(theta[6])]])
        return root @ root.T

    flipped = POINT * [1, 1, 1, 1, -1, -1, 1]
    np.testing.assert_allclose(covariance(POINT), covariance(flipped))


def smooth(theta):
    """Any smooth function of θ: value, gradient, information."""
    A = np.cos(np.outer(np.arange(7), np.arange(7)))
    A = A @ A.T
    return -0.5 * float(theta @ A @ theta) + float(theta.sum()), 1 - A @ theta, A


@pytest.mark.parametrize("v", [POINT, -POINT, 3 * POINT])
def test_derivatives_are_those_of_the_function(v):
    """Against central differences with steps of 1e-5: their error is of order 1e-8."""
    theta = BOTH.theta(v[None])[0]
    _, gradient, information = smooth(theta)
    steps = 1e-5 * np.eye(7)
    numeric = [
        (smooth(BOTH.theta((v + h)[None])[0])[0] - smooth(BOTH.theta((v - h)[None])[0])[0]) / 2e-5 for h in steps
    ]
    np.testing.assert_allclose(BOTH.gradient(v, gradient), numeric, rtol=1e-5, atol=1e-5)
    second = differences(lambda u: BOTH.gradient(u, smooth(BOTH.theta(u[None])[0])[1]), v, np.full(7, 0.01))
    np.testing.assert_allclose(BOTH.information(v, gradient, information), second, rtol=1e-4, atol=1e-4)


def test_the_far_ends_are_finite():
    theta = BOTH.theta(np.array([[0.0, 30.0, -30.0, 9.0, 0.0, 1.0, 1e-200]]))
    assert np.isfinite(theta).all()
