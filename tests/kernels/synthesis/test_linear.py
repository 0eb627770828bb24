"""Regression of normal scores."""

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.kernels.synthesis.linear import fit_line
from sfumato.kernels.synthesis.scores import Scores
from tests.late import late

sm = late("statsmodels.api")


def invented(n=400, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return rng, X, np.exp(X @ [0.5, -0.3, 0.0] + rng.normal(size=n))


def score_of(drawn, y):
    """The score that a number between true ones was made of: its place among them, as a normal quantile."""
    return norm.ppf((np.interp(drawn, np.sort(y), np.arange(len(y))) + 1) / (len(y) + 1))


def test_it_is_least_squares_of_the_scores():
    _, X, y = invented()
    line, peer = fit_line(X, y), sm.OLS(Scores(y).of(y), sm.add_constant(X)).fit()
    np.testing.assert_allclose(line.slopes, peer.params[1:], atol=1e-9)
    assert line.rss / line.df == pytest.approx(peer.mse_resid)


def test_draws_are_normal_around_the_fit():
    _, X, y = invented()
    line = fit_line(X, y)
    u = (np.arange(10_000) + 0.5) / 10_000
    drawn = score_of(line.draw(np.tile(X[0], (10_000, 1)), u, smooth=True), y)
    assert np.mean(drawn) == pytest.approx(X[0] @ line.slopes, abs=0.01)
    assert np.std(drawn) == pytest.approx(np.sqrt(line.rss / line.df), abs=0.01)


@pytest.mark.slow
def test_drawn_parameters_have_their_posterior():
    """4,000 draws of the mean at one point: its variance is s²(1/n + x(XᵀX)⁻¹x) times df/(df − 2)."""
    rng, X, y = invented(60)
    line = fit_line(X, y)
    middle = np.full(1, 0.5)
    means = [score_of(line.draw(X[:1], middle, rng.random(line.many()), smooth=True), y)[0] for _ in range(4000)]
    wanted = line.rss / (line.df - 2) * (1 / len(y) + X[0] @ np.linalg.solve(X.T @ X, X[0]))
    assert np.var(means) == pytest.approx(wanted, rel=0.1)  # a variance of 4,000 has 2.2%
    assert np.mean(means) == pytest.approx(X[0] @ line.slopes, abs=4 * np.sqrt(wanted / 4000) + 1e-3)


def test_ties_weaken_no_relation():
    """Numbers rounded to steps of one standard deviation: the correlation of drawn ones with x is that of the whole."""
    rng = np.random.default_rng(3)
    n = 40_000
    x = rng.normal(size=n)
    y = np.round(0.6 * x + 0.8 * rng.normal(size=n))
    X = ((x - x.mean()) / x.std())[:, None]
    drawn = fit_line(X, y).draw(X, rng.random(n))
    assert np.corrcoef(x, drawn)[0, 1] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.01)
    for value in (-2, -1, 0, 1, 2):
        assert np.mean(drawn == value) == pytest.approx(np.mean(y == value), abs=0.01)


def test_without_columns_the_margin_is_drawn():
    y = np.random.default_rng(4).exponential(size=300)
    drawn = fit_line(np.zeros((300, 0)), y).draw(np.zeros((6000, 0)), (np.arange(6000) + 0.5) / 6000)
    np.testing.assert_allclose(np.quantile(drawn, [0.1, 0.5, 0.9]), np.quantile(y, [0.1, 0.5, 0.9]), rtol=0.03)


@pytest.mark.parametrize("y", [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
def test_no_rest_is_no_error(y):
    x = np.array([[-1.0], [0.0], [1.0]]) / np.std([-1, 0, 1])
    assert set(fit_line(x, np.array(y)).draw(x, np.array([0.01, 0.5, 0.99]), np.full(3, 0.5))) <= set(y)
