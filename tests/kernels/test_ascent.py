import numpy as np
import pytest
from scipy import optimize

from sfumato.kernels.ascent import Value, bfgs, differences, flat, inverse, newton


def banana(theta):
    """Minus Rosenbrock's function, with its top at (1, 1); its Hessian is indefinite in places."""
    return Value(
        -optimize.rosen(theta), -optimize.rosen_der(theta), np.asarray(optimize.rosen_hess(theta), dtype=float)
    )


@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 5.0), (3.0, -3.0)])
def test_both_climbers_find_the_top(start):
    top, value = newton(banana, np.array(start))
    assert top.converged
    np.testing.assert_allclose(top.theta, 1, atol=1e-6)
    np.testing.assert_allclose(value.gradient, 0, atol=1e-5)
    slow = bfgs(banana, np.array(start), tolerance=1e-7)
    assert slow.converged
    np.testing.assert_allclose(slow.theta, 1, atol=1e-4)


def test_a_climb_that_runs_out_of_steps_says_so():
    assert not newton(banana, np.array([-1.2, 1.0]), most=2)[0].converged
    assert not bfgs(banana, np.array([-1.2, 1.0]), most=2).converged


def test_flat_directions_get_no_variance():
    information = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
    found, complete = inverse(information)
    assert not complete
    np.testing.assert_allclose(found, [[0.125, 0.125, 0], [0.125, 0.125, 0], [0, 0, 0.25]], atol=1e-12)
    direction = flat(information)
    assert direction.shape == (3, 1)
    np.testing.assert_allclose(information @ direction, 0, atol=1e-12)


def test_scales_cost_no_digits():
    information = np.diag([1e-12, 1.0, 1e12])
    found, complete = inverse(information)
    assert complete
    np.testing.assert_allclose(np.diagonal(found), [1e12, 1, 1e-12], rtol=1e-10)


def test_differences_are_the_hessian():
    theta = np.array([0.7, 0.2])
    ours = differences(lambda t: -optimize.rosen_der(t), theta, np.full(2, 1e-2))
    np.testing.assert_allclose(ours, optimize.rosen_hess(theta), rtol=1e-6)
