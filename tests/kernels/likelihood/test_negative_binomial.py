"""The negative binomial against scipy's, adaptive integration, Poisson's limit, and statsmodels' fit."""

import numpy as np
import pytest
from scipy import integrate, stats

from sfumato.kernels.likelihood.maximisation import Value, newton
from sfumato.kernels.likelihood.mixture import Mixture, Patterns
from sfumato.kernels.likelihood.negative_binomial import MOST, NegativeBinomial, log_size
from sfumato.kernels.likelihood.response import Poisson

Y = np.array([0.0, 1, 4, 200])
M = np.array([[-2.0, -1.0], [-0.5, 1.0], [1.5, 2.5], [4.5, 6.0]])
V = np.linspace(0.05, 0.8, 8).reshape(4, 2)
SIZES = [0.3, 4.0, 300.0, 5e4]


def given(y, eta, size):
    return stats.nbinom.pmf(y, size, size / (size + np.exp(eta)))


@pytest.mark.parametrize("size", [0.3, 4.0, 300.0])
def test_probabilities_are_scipys(size):
    ours = NegativeBinomial(Y).slope(M, 0.0, np.log([size])).log_f
    np.testing.assert_allclose(np.exp(ours), given(Y[:, None], M, size), rtol=1e-9)


@pytest.mark.parametrize("size", [0.3, 4.0, 300.0])
def test_with_a_spread_predictor_they_are_integrals(size):
    """Adaptive integration; 31 nodes are good to 1e-6 at variances up to 0.8."""
    ours = np.exp(NegativeBinomial(Y).slope(M, V, np.log([size])).log_f)
    for (row, k), value in np.ndenumerate(ours):
        normal = stats.norm(M[row, k], np.sqrt(V[row, k]))
        wanted, _ = integrate.quad(
            lambda x, y=Y[row], d=normal: given(y, x, size) * d.pdf(x), *normal.ppf([1e-14, 1 - 1e-14]), epsabs=1e-13
        )
        assert value == pytest.approx(wanted, rel=3e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("spread", [False, True])
def test_derivatives_are_those_of_the_density(size, spread):
    """Central differences with step 1e-4 err by about 1e-8 of what the third derivatives are."""
    response, extra, v, h = NegativeBinomial(Y), np.log([size]), V if spread else 0.0, 1e-4
    here = response.slope(M, v, extra)
    close = {"rtol": 2e-5, "atol": 2e-6}
    up, down = response.slope(M + h, v, extra), response.slope(M - h, v, extra)
    np.testing.assert_allclose(here.m, (up.log_f - down.log_f) / (2 * h), **close)
    np.testing.assert_allclose(here.mm, (up.m - down.m) / (2 * h), **close)
    np.testing.assert_allclose(here.m_extra[0], (up.extra[0] - down.extra[0]) / (2 * h), **close)
    up, down = response.slope(M, v, extra + h), response.slope(M, v, extra - h)
    np.testing.assert_allclose(here.extra[0], (up.log_f - down.log_f) / (2 * h), **close)
    np.testing.assert_allclose(here.extra_extra[0, 0], (up.extra[0] - down.extra[0]) / (2 * h), **close)
    if spread:
        wider, narrower = response.slope(M, V + h, extra), response.slope(M, V - h, extra)
        np.testing.assert_allclose(here.v, (wider.log_f - narrower.log_f) / (2 * h), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("v", [0.0, V])
def test_its_limit_is_poisson(v):
    """At θ = 10⁶ the difference is of the order y²/θ; beyond, nothing hangs on θ."""
    few = NegativeBinomial(Y[:3]), Poisson(Y[:3])
    ours, poisson = (r.slope(M[:3], v if np.ndim(v) == 0 else v[:3], np.log([MOST])) for r in few)
    for name in ("log_f", "m", "v", "mm"):
        np.testing.assert_allclose(getattr(ours, name), getattr(poisson, name), rtol=1e-3, atol=2e-4)
    beyond = few[0].slope(M[:3], 0.0, np.log([10 * MOST]))
    assert not any(part.any() for part in (beyond.extra, beyond.m_extra, beyond.extra_extra))


def test_large_sizes_keep_their_digits():
    """The formula changes at 10⁴: Σ log(1 + j/θ) over j < y is the same on both sides, and at 10⁶."""
    for size in (9_999.0, 10_001.0, 1e6):
        ours = NegativeBinomial(Y).slope(M, 0.0, np.log([size])).log_f
        rising = np.array([np.log1p(np.arange(y) / size).sum() for y in Y])
        lost = np.array([np.log(np.arange(1, y + 1)).sum() for y in Y])
        wanted = Y[:, None] * M - (Y[:, None] + size) * np.log1p(np.exp(M) / size) + (rising - lost)[:, None]
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-9)


def test_units_can_be_taken():
    part = NegativeBinomial(Y).take(np.array([2, 0])).slope(M[[2, 0]], 0.0, np.zeros(1))
    np.testing.assert_array_equal(part.log_f, NegativeBinomial(Y).slope(M, 0.0, np.zeros(1)).log_f[[2, 0]])


def test_a_fit_is_statsmodels():
    """`NegativeBinomial` there has α = 1/θ as its last parameter."""
    import statsmodels.api as sm

    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(400), rng.normal(size=400)])
    y = rng.poisson(np.exp(X @ [0.5, 0.4]) * rng.gamma(2, 0.5, 400)).astype(float)
    nothing = Patterns(np.zeros((1, 0)), np.zeros((400, 0)))
    model = Mixture(X, np.ones((1, 2)), NegativeBinomial(y), nothing, None, np.arange(401), np.ones(400))

    def look(theta):
        found = model.look(theta)
        return Value(found.log_likelihood, found.gradient, found.information)

    top, value = newton(look, np.array([0.5, 0.0, log_size(y, np.full(400, y.mean()), np.ones(400))]))
    theirs = sm.NegativeBinomial(y, X).fit(disp=0, maxiter=200, gtol=1e-8)
    np.testing.assert_allclose(top.theta[:2], theirs.params[:2], rtol=1e-4)
    assert np.exp(-top.theta[2]) == pytest.approx(theirs.params[2], rel=1e-4)
    assert top.log_likelihood == pytest.approx(theirs.llf, rel=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diagonal(np.linalg.inv(value.information)))[:2], theirs.bse[:2], rtol=1e-3)
