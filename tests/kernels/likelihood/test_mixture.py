"""Log-likelihood against a plain double sum; gradient and Louis's information against central differences."""

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.likelihood.mixture import Factors, Mixture, Patterns
from sfumato.kernels.likelihood.response import Binary, Linear, Ordered, Poisson


def model(response, units, rows_each=3, seed=1):
    """Two hidden binaries (four patterns), an exact w; columns 1, w, d, e, d:e, d:w."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(units, 1))
    d, e = np.array([0.0, 1, 0, 1]), np.array([0.0, 0, 1, 1])
    E = np.column_stack([np.ones(units), w, np.ones((units, 3)), w])
    Q = np.column_stack([np.ones((4, 2)), d, e, d * e, d])
    counts = rng.integers(0, 4, units).astype(float)
    y = (counts > 1).astype(float)
    with np.errstate(divide="ignore"):
        log_q = np.log(np.column_stack([1 - y, y]))
    given = {
        "probit": Binary(log_q),
        "logit": Binary(log_q, True),
        "misclassified": Binary(np.log(0.1 + 0.8 * np.exp(log_q))),
        "poisson": Poisson(counts),
        "linear": Linear(rng.normal(size=units), np.full(units, 0.2), np.full(units, np.nan), np.full(units, np.nan)),
        "ordered": Ordered(np.eye(4)[counts.astype(int)]),
    }[response]
    N = units * rows_each
    tables = [rng.uniform(0.05, 1.0, size=(N, 2)) for _ in range(2)]
    factors = Factors(tables, [d.astype(int), e.astype(int)], rng.normal(size=N))
    first = np.arange(units + 1) * rows_each
    built = Mixture(E, Q, given, Patterns(np.column_stack([d, e]), w), factors, first, rng.uniform(0.5, 2, N))
    theta = 0.4 * rng.normal(size=built.size)
    _, extra, _ = built.split(theta)
    extra[:] = np.sort(extra)
    return built, theta


RESPONSES = ["probit", "logit", "misclassified", "poisson", "linear", "ordered"]


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize(("units", "rows_each"), [(7, 3), (2, 200), (5, 1)])
def test_derivatives_are_those_of_the_likelihood(response, units, rows_each):
    """The three shapes take the three ways of summing products: by row, by unit, one row a unit."""
    built, theta = model(response, units, rows_each)
    look = built.look(theta)
    h = 1e-5
    for j in range(built.size):
        step = h * np.eye(built.size)[j]
        up, down = built.look(theta + step, False), built.look(theta - step, False)
        slope = (up.log_likelihood - down.log_likelihood) / (2 * h)
        assert look.gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-5), j
        bend = -(up.gradient - down.gradient) / (2 * h)
        np.testing.assert_allclose(look.information[j], bend, rtol=1e-5, atol=1e-5 * rows_each)
    np.testing.assert_allclose(built.weight @ built.scores(theta), look.gradient, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("response", ["probit", "linear"])
def test_the_likelihood_is_the_sum_over_patterns(response):
    built, theta = model(response, 4)
    b, extra, gamma = built.split(theta)
    total = 0.0
    for i, weight in enumerate(built.weight):
        g = i // 3
        w = built.patterns.w[g, 0]
        odds = np.exp(np.concatenate([[0], gamma[:3]]) + (built.patterns.T @ gamma[3:]) * w)
        f = 0.0
        for k in range(4):
            eta = float(built.E[g] * built.Q[k] @ b)
            if response == "probit":
                density = np.exp(built.response.log_q[g]) @ [stats.norm.sf(eta), stats.norm.cdf(eta)]
            else:
                density = stats.norm.pdf(built.response.y[g], eta, np.sqrt(np.exp(2 * extra[0]) + 0.2))
            released = built.factors.tables[0][i, k % 2] * built.factors.tables[1][i, k // 2]
            f += odds[k] / odds.sum() * released * density
        total += weight * (np.log(f) + built.factors.log_scale[i])
    assert built.look(theta).log_likelihood == pytest.approx(total, rel=1e-12)


def test_blocks_change_nothing(monkeypatch):
    built, theta = model("probit", 11, 5)
    whole = built.look(theta)
    monkeypatch.setattr("sfumato.kernels.likelihood.mixture._CELLS", 100)
    monkeypatch.setattr("sfumato.kernels.likelihood.mixture._KEEP", 0)
    built.factors._kept = None
    parts = built.look(theta)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(parts.information, whole.information, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(parts.complete, whole.complete, rtol=1e-9, atol=1e-9)


def test_responsibilities_are_bayess():
    built, theta = model("probit", 3, 1)
    (rows, units, r) = next(iter(built.responsibilities(theta)))
    assert (rows.start, rows.stop, units.tolist()) == (0, 3, [0, 1, 2])
    b, _, gamma = built.split(theta)
    log_pi = built.patterns.log_probability(gamma, slice(None))
    log_f = built.response.slope(built.E @ (built.Q * b).T, 0.0, np.zeros(0)).log_f
    joint = np.exp(log_pi + log_f) * built.factors.rows(0, 3)
    np.testing.assert_allclose(r, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)


def test_the_complete_information_is_that_of_known_covariates():
    """Tables that leave no doubt: nothing is lost, and the information is that of the plain model."""
    built, theta = model("probit", 4)
    sure = [np.eye(2)[np.arange(len(built.weight)) % 2] for _ in range(2)]
    built.factors = Factors(sure, built.factors.codes, built.factors.log_scale)
    look = built.look(theta)
    np.testing.assert_allclose(look.information, look.complete, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("response", ["probit", "linear"])
def test_many_parameters_at_once(response):
    built, theta = model(response, 4, 50)
    thetas = theta + 0.1 * np.random.default_rng(9).normal(size=(3, len(theta)))
    wanted = [built.look(t, False).log_likelihood for t in thetas]
    np.testing.assert_allclose(built.log_likelihoods(thetas), wanted, rtol=1e-12)
