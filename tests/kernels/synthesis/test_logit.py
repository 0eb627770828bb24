"""Logits against a peer, and where no maximum exists."""

import numpy as np
import pytest
from scipy.special import softmax

from sfumato.kernels.synthesis import climbing
from sfumato.kernels.synthesis.logit import augmentation, fit_logit
from tests.late import late

sm = late("statsmodels.api")


def invented(classes, n=20_000, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    slopes = rng.normal(size=(classes, 4)) * 0.7
    shares = softmax(slopes[:, 0] + X @ slopes[:, 1:].T, axis=1)
    return rng, X, (np.cumsum(shares, axis=1)[:, :-1] < rng.random(n)[:, None]).sum(axis=1)


@pytest.mark.parametrize("some", [10**6, 500])
@pytest.mark.parametrize("classes", [2, 4])
def test_many_records_give_the_peers_fit(classes, some, monkeypatch):
    """Augmented by records of weight four among 20,000: coefficients within 2% of a standard error, and 0.002.

    So they do where the curvature of 500 records alone is looked at.
    """
    monkeypatch.setattr(climbing, "SOME", some)
    _, X, y = invented(classes)
    fit, peer = fit_logit(X, y, classes), sm.MNLogit(y, sm.add_constant(X)).fit(disp=False)
    np.testing.assert_allclose(fit.slopes, np.asarray(peer.params).T, atol=0.003)
    covariance = np.linalg.inv(fit.root @ fit.root.T)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), np.asarray(peer.bse).T.ravel(), rtol=0.01)


def test_classes_told_apart_have_a_fit():
    """Two records of each class, and by the augmentation half a one of each: 2.5 of 3."""
    x = np.array([-1.0, -1.0, 1.0, 1.0])[:, None]
    fit = fit_logit(x, np.array([0, 0, 1, 1]), 2)
    np.testing.assert_allclose(fit.shares(x)[:, 1], [1 / 6, 1 / 6, 5 / 6, 5 / 6], atol=2e-3)


def test_added_records_weigh_as_much_as_there_are_coefficients():
    more, weight = augmentation(np.zeros((9, 3)), np.array([0.2, 0.8]))
    assert weight.sum() == pytest.approx(4)
    np.testing.assert_allclose(more.sum(axis=0), 0)
    np.testing.assert_allclose(weight[:, 1] / weight.sum(axis=1), 0.8)


def test_without_columns_classes_have_their_shares():
    y = np.repeat([0, 1, 2], [10, 30, 60])
    fit = fit_logit(np.zeros((100, 0)), y, 3)
    np.testing.assert_allclose(fit.shares(np.zeros((1, 0)))[0], [0.1, 0.3, 0.6], atol=1e-9)
    drawn = fit.draw(np.zeros((1000, 0)), (np.arange(1000) + 0.5) / 1000)
    assert np.bincount(drawn).tolist() == [100, 300, 600]


def test_more_columns_than_records_and_columns_that_repeat():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 30))
    X[:, 20:] = X[:, :10]
    y = np.repeat([0, 1, 2], [1, 5, 6])
    fit = fit_logit(X, y, 3)
    shares = fit.shares(X, rng.random(fit.many()))
    assert np.isfinite(fit.slopes).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_drawn_coefficients_have_the_inverse_information_as_covariance():
    rng, X, y = invented(3, n=500)
    fit = fit_logit(X, y, 3)
    one = X[:1]
    told = np.array([np.log(fit.shares(one, rng.random(fit.many()))[0]) for _ in range(4000)])
    odds = told[:, 1] - told[:, 0]
    along = np.concatenate([[1.0], one[0], np.zeros(4)])
    wanted = along @ np.linalg.solve(fit.root @ fit.root.T, along)
    assert np.var(odds) == pytest.approx(wanted, rel=0.1)  # a variance of 4,000 draws has 2.2%
