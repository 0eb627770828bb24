"""Against closed forms and quadrature: what is unbiased for a true number is so to the digits of an integral."""

import itertools

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.corrected.noise import Noise, Powers

V = 0.7
LAWS = {
    "normal": (Noise(np.array([[V]])), stats.norm(scale=V**0.5)),
    "laplace": (Noise(np.zeros((1, 1)), ((0, "laplace", V),)), stats.laplace(scale=(V / 2) ** 0.5)),
    "uniform": (Noise(np.zeros((1, 1)), ((0, "uniform", V),)), stats.uniform(-((3 * V) ** 0.5), 2 * (3 * V) ** 0.5)),
}


def expected(law, f):
    """E f(u), by quadrature; the Laplace density has a corner at 0."""
    t, w = np.polynomial.legendre.leggauss(200)
    half = min(law.support()[1], 50.0) / 2
    u = np.concatenate([half * (t - 1), half * (t + 1)])
    return half * np.tile(w, 2) @ (f(u) * law.pdf(u))


@pytest.mark.parametrize("name", LAWS)
def test_powers_are_unbiased(name):
    noise, law = LAWS[name]
    for x, power in itertools.product((-1.3, 0.4), range(7)):
        mean = expected(law, lambda u, x=x, power=power: Powers((x + u)[:, None], noise)[(power,)])
        assert mean == pytest.approx(x**power, abs=1e-7)


def test_powers_of_normal_noise_have_the_closed_forms():
    z = np.array([[-2.0], [0.3], [5.0]])
    powers = Powers(z, LAWS["normal"][0])
    z = z[:, 0]
    np.testing.assert_allclose(powers[(2,)], z**2 - V)
    np.testing.assert_allclose(powers[(3,)], z**3 - 3 * V * z)
    np.testing.assert_allclose(powers[(4,)], z**4 - 6 * V * z**2 + 3 * V**2)


def test_the_fourth_power_brings_the_fourth_cumulant():
    """E (x + u)⁴ = x⁴ + 6 v x² + E u⁴, E u⁴ being 6 v² of Laplace noise and 9 v²/5 of uniform noise."""
    z = np.array([[1.5]])
    for name, fourth in (("laplace", 6.0), ("uniform", 9 / 5)):
        expected_ = 1.5**4 - 6 * V * (1.5**2 - V) - fourth * V**2
        assert Powers(z, LAWS[name][0])[(4,)][0] == pytest.approx(expected_)


def test_products_under_correlated_noise_are_unbiased():
    """Gauss and Hermite's rule in two dimensions is exact for polynomials."""
    covariance, x = np.array([[0.5, 0.3], [0.3, 0.9]]), np.array([1.2, -0.7])
    t, w = np.polynomial.hermite_e.hermegauss(12)
    u = np.array(list(itertools.product(t, t))) @ np.linalg.cholesky(covariance).T
    weight = np.outer(w, w).ravel() / (2 * np.pi)
    powers = Powers(x + u, Noise(covariance))
    for a, b in itertools.product(range(5), range(4)):
        assert weight @ powers[(a, b)] == pytest.approx(x[0] ** a * x[1] ** b, abs=1e-9)


def test_parts_add_up():
    """Normal, Laplace and uniform noise on one number: E z⁴ from the sums of cumulants."""
    noise = Noise(np.array([[0.4]]), ((0, "laplace", 0.3), (0, "uniform", 0.2)))
    variance, fourth = 0.9, 3 * 0.3**2 - 1.2 * 0.2**2
    assert noise.covariance.item() == pytest.approx(variance)
    assert noise.kurtosis.item() == pytest.approx(fourth / variance**2)
    z = 1.1
    assert Powers(np.array([[z]]), noise)[(4,)][0] == pytest.approx(
        z**4 - 6 * variance * z**2 + 3 * variance**2 - fourth
    )


@pytest.mark.parametrize("s", [1e-5, 0.004, 0.3, -1.1])
@pytest.mark.parametrize("name", LAWS)
def test_the_logarithm_of_the_generating_function(name, s):
    noise, law = LAWS[name]
    log_k = noise.tilt(np.array([[s]]))[0][0]
    assert log_k == pytest.approx(np.log1p(expected(law, lambda u: np.expm1(s * u))), rel=1e-6, abs=1e-13)


def test_closed_forms_of_laplace_and_uniform():
    s, half = 0.8, (3 * V) ** 0.5
    assert LAWS["laplace"][0].tilt(np.array([[s]]))[0][0] == pytest.approx(-np.log(1 - V * s**2 / 2))
    assert LAWS["uniform"][0].tilt(np.array([[s]]))[0][0] == pytest.approx(np.log(np.sinh(half * s) / (half * s)))
    assert np.isnan(LAWS["laplace"][0].tilt(np.array([[(2 / V) ** 0.5 + 0.01]]))[0][0])
    far = LAWS["uniform"][0].tilt(np.array([[2000.0]]))[0][0]  # where sinh overflows
    assert far == pytest.approx(half * 2000 - np.log(2 * half * 2000))


def test_derivatives_are_those_of_differences():
    """On both sides of where a series takes the place of the closed form."""
    noise = Noise(np.array([[0.4, 0.1], [0.1, 0.3]]), ((0, "laplace", 0.3), (1, "uniform", 0.2)))
    for s in np.array([[0.3, -0.5], [0.0, 0.0], [0.5, 0.0129], [0.5, 0.0128]]):
        _, gradient, second = noise.tilt(s[None, :])
        h = 1e-4
        for j, step in enumerate(np.eye(2) * h):
            up, down = noise.tilt((s + step)[None, :]), noise.tilt((s - step)[None, :])
            assert gradient[0, j] == pytest.approx((up[0][0] - down[0][0]) / (2 * h), abs=1e-7)
            np.testing.assert_allclose(second[0, j], (up[1][0] - down[1][0]) / (2 * h), atol=1e-6)


def test_some_of_the_numbers_and_a_share_of_the_noise():
    noise = Noise(np.array([[1.0, 0.2, 0.0], [0.2, 2.0, 0.0], [0.0, 0.0, 0.0]]), ((2, "laplace", 3.0),))
    picked = noise.of([2, 0])
    np.testing.assert_allclose(picked.covariance, [[3.0, 0.0], [0.0, 1.0]])
    assert picked.kurtosis.tolist() == [3.0, 0.0]
    np.testing.assert_allclose(noise.scaled(0.25).covariance, noise.covariance / 4)
