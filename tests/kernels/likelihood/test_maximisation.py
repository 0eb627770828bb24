import numpy as np
import pytest
from scipy import optimize

from sfumato.kernels.likelihood.maximisation import Value, bfgs, differences, flat, inverse, newton, roots


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


def test_a_bend_that_is_only_rounding_leads_nowhere_far():
    """−log cosh x, with its bend lost beyond 1.4: Newton's step leads from 1.2 to −1.5, and from there to 1e15."""
    seen = []

    def look(theta):
        x = float(theta[0])
        seen.append(abs(x))
        bend = 1e-15 if abs(x) > 1.4 else np.cosh(x) ** -2
        return Value(-np.logaddexp(x, -x), -np.tanh(theta), np.array([[bend]]))

    top, _ = newton(look, np.array([1.2]))
    assert top.converged
    assert top.theta[0] == pytest.approx(0, abs=1e-6)
    assert max(seen) < 1e3


@pytest.mark.parametrize("which", ["log_likelihood", "gradient", "information"])
def test_a_place_that_is_not_finite_is_not_stepped_on(which):
    """−(x − 1)² with a wall at x > 1.5, which the first steps from −3 would pass with this bend."""

    def look(theta):
        x = float(theta[0])
        value = Value(-((x - 1) ** 2), np.array([-2 * (x - 1)]), np.array([[0.5]]))
        return value if x <= 1.5 else value._replace(**{which: getattr(value, which) * np.nan})

    for climbed in (newton(look, np.array([-3.0]))[0], bfgs(look, np.array([-3.0]), tolerance=1e-7)):
        assert climbed.theta[0] == pytest.approx(1, abs=1e-3)
        assert np.isfinite(climbed.log_likelihood)


def test_a_start_that_is_not_finite_is_refused():
    with pytest.raises(ArithmeticError, match="starts"):
        newton(lambda t: Value(np.nan, t, np.eye(1)), np.zeros(1))


def test_a_plateau_is_climbed_the_same_way_with_any_rounding():
    """A rise of 1e-3 over a length of 1e3, on a base of −94,000, with noise of 1e-11 on the value: the top is found."""
    rng = np.random.default_rng(3)

    def look(theta):
        u = (theta - np.array([1e3, 0.0])) * np.array([1e-3, 1.0])
        value = -94_000 - 1e-3 * float(np.log(np.cosh(u[0]))) - 0.5 * u[1] ** 2 + 1e-11 * rng.normal()
        gradient = np.array([-1e-6 * np.tanh(u[0]), -u[1]])
        return Value(value, gradient, np.diag([1e-9 / np.cosh(u[0]) ** 2, 1.0]))

    found = [newton(look, np.array([0.0, 5.0]))[0] for _ in range(5)]
    assert all(top.converged for top in found)
    np.testing.assert_allclose([top.theta for top in found], [[1e3, 0.0]] * 5, atol=0.1)


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


def test_differences_keep_their_digits_where_parameters_are_correlated_and_of_unlike_size():
    """A log-likelihood with fourth powers; correlations of up to 1 − 1e-6, sizes from 1e-8 to 1e5; Hessian by hand."""
    mix = np.array([[1.0, 0.0, 0.0], [1.0, 1e-3, 0.0], [0.3, 0.7, 1.0]]) * np.array([[1e5], [1e5], [1e-8]])
    centre = np.array([2e-6, -3e-6, 1e7])

    def gradient(theta):
        u = mix.T @ (theta - centre) * 0.1
        return -0.1 * mix @ (u + u**3)

    theta = centre + np.linalg.solve(mix.T, [1.0, -2.0, 0.5])
    u = mix.T @ (theta - centre) * 0.1
    wanted = 0.01 * mix @ np.diag(1 + 3 * u**2) @ mix.T
    guess = 0.01 * mix @ mix.T
    ours = differences(gradient, theta, roots(guess))
    size = np.sqrt(np.diagonal(wanted))
    np.testing.assert_allclose(ours / np.outer(size, size), wanted / np.outer(size, size), atol=1e-6)
    np.testing.assert_allclose(np.diagonal(np.linalg.inv(ours)), np.diagonal(np.linalg.inv(wanted)), rtol=1e-4)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_differences_know_no_unit(unit):
    """Steps are parts of the standard errors given, however small: the Hessian of −cosh(θ/unit) at θ = unit."""
    ours = differences(lambda t: -np.sinh(t / unit) / unit, np.array([unit]), np.array([unit]))
    assert ours[0, 0] * unit**2 == pytest.approx(np.cosh(1.0), rel=1e-5)


def test_roots_turn_an_information_into_the_identity():
    size = np.array([1e-3, 1.0, 1e6])
    information = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]]) * np.outer(size, size)
    half = roots(information)
    np.testing.assert_allclose(half.T @ information @ half, np.eye(3), atol=1e-9)
