"""Log-densities against scipy's distributions and adaptive integration; derivatives against central differences."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from sfumato.kernels.likelihood.response import Binary, Linear, Ordered, Poisson

M = np.linspace(-2.0, 2.5, 8).reshape(4, 2)
V = np.linspace(0.1, 0.8, 8).reshape(4, 2)
Q = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 1.0], [1.0, 0.0]])
NAN = np.full(4, np.nan)
INTERVALS = (np.array([np.nan, 0.0, -np.inf, 1.0]), np.array([np.nan, 1.0, 0.5, np.inf]))
CATEGORIES = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.5, 0.3]])


def binary(logit):
    with np.errstate(divide="ignore"):
        return Binary(np.log(Q), logit)


CASES = {
    "probit": (binary(False), np.zeros(0)),
    "logit": (binary(True), np.zeros(0)),
    "poisson": (Poisson(np.array([0.0, 1, 4, 2])), np.zeros(0)),
    "linear": (Linear(np.array([0.5, -1, 2, 0.1]), np.full(4, 0.2), NAN, NAN), np.array([0.3])),
    "intervals": (Linear(np.array([0.5, -1, 2, 0.1]), np.full(4, 0.2), *INTERVALS), np.array([0.3])),
    "ordered": (Ordered(CATEGORIES), np.array([-0.4, 0.9])),
}


def given_eta(name, row, eta):
    """The density of response `row` at a known linear predictor, by scipy."""
    if name == "probit":
        return Q[row] @ [stats.norm.sf(eta), stats.norm.cdf(eta)]
    if name == "logit":
        return Q[row] @ [expit(-eta), expit(eta)]
    if name == "poisson":
        return stats.poisson.pmf([0, 1, 4, 2][row], np.exp(eta))
    if name == "ordered":
        return CATEGORIES[row] @ np.diff(stats.norm.cdf([-np.inf, -0.4, 0.9, np.inf], loc=eta))
    sd = np.sqrt(np.exp(0.6) + 0.2)
    if name == "intervals" and row:
        return np.diff(stats.norm.cdf([INTERVALS[0][row], INTERVALS[1][row]], loc=eta, scale=sd))[0]
    return stats.norm.pdf([0.5, -1, 2, 0.1][row], loc=eta, scale=sd)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spread", [False, True])
def test_densities_are_scipys(name, spread):
    """With a spread predictor, the reference is adaptive integration; 31 nodes are good to 1e-7 at v up to 0.8."""
    response, extra = CASES[name]
    ours = np.exp(response.slope(M, V if spread else 0.0, extra).log_f)
    for (row, k), value in np.ndenumerate(ours):
        wanted = given_eta(name, row, M[row, k])
        if spread:
            normal = stats.norm(M[row, k], np.sqrt(V[row, k]))
            ends = normal.ppf([1e-14, 1 - 1e-14])
            wanted, _ = integrate.quad(lambda x, r=row, d=normal: given_eta(name, r, x) * d.pdf(x), *ends, epsabs=1e-12)
        assert value == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("spread", [False, True])
def test_derivatives_are_those_of_the_density(name, spread):
    """Central differences with step 1e-5 err by about 1e-9; the heat equation holds up to the quadrature's 1e-6."""
    response, extra = CASES[name]
    v, h = (V, 1e-5) if spread else (0.0, 1e-5)
    here = response.slope(M, v, extra)
    up, down = response.slope(M + h, v, extra), response.slope(M - h, v, extra)
    np.testing.assert_allclose(here.m, (up.log_f - down.log_f) / (2 * h), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(here.mm, (up.m - down.m) / (2 * h), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(here.m_extra, (up.extra - down.extra) / (2 * h), rtol=1e-5, atol=1e-6)
    if spread:
        wider, narrower = response.slope(M, V + h, extra), response.slope(M, V - h, extra)
        np.testing.assert_allclose(here.v, (wider.log_f - narrower.log_f) / (2 * h), rtol=1e-4, atol=1e-5)
    for j in range(len(extra)):
        step = h * np.eye(len(extra))[j]
        up, down = response.slope(M, v, extra + step), response.slope(M, v, extra - step)
        np.testing.assert_allclose(here.extra[j], (up.log_f - down.log_f) / (2 * h), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(here.extra_extra[j], (up.extra - down.extra) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_variance_derivative_without_variance_is_its_limit(name):
    response, extra = CASES[name]
    at_zero = response.slope(M, 0.0, extra)
    nearly = response.slope(M, np.full(M.shape, 1e-6), extra)
    np.testing.assert_allclose(at_zero.v, nearly.v, rtol=1e-4, atol=1e-5)


def test_far_tails_keep_their_digits():
    m = np.array([[-30.0], [-200.0]])
    with np.errstate(divide="ignore"):
        ones = np.log(np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert Binary(ones).slope(m, 0.0, np.zeros(0)).log_f == pytest.approx(stats.norm.logcdf(m), rel=1e-12)
    assert Binary(ones, True).slope(m, 0.0, np.zeros(0)).m == pytest.approx(np.ones((2, 1)))
    far = Linear(np.zeros(1), np.zeros(1), np.array([20.0]), np.array([np.inf]))
    assert far.slope(np.zeros((1, 1)), 0.0, np.zeros(1)).log_f[0, 0] == pytest.approx(stats.norm.logsf(20.0), rel=1e-9)


def test_units_can_be_taken():
    for response, extra in CASES.values():
        part = response.take(np.array([2, 0])).slope(M[[2, 0]], 0.0, extra)
        np.testing.assert_array_equal(part.log_f, response.slope(M, 0.0, extra).log_f[[2, 0]])


def test_thresholds_out_of_order_are_impossible():
    response, extra = CASES["ordered"]
    assert np.isneginf(response.slope(M, 0.0, extra[::-1]).log_f).all()
